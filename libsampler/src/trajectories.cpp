#include "trajectories.hpp"

#include "emomc/device/trajectories.hpp"

namespace emomc {
namespace {

// Rounds up to a multiple of 128 bytes, so that each chain starts at such a multiple.
int padded(int width) { return (width + 15) / 16 * 16; }

template <class Moves>
class HostTrajectories final : public Trajectories {
 public:
  HostTrajectories(LikelihoodEngine& engine, const Ensemble& ensemble, RecordLayout record)
      : engine_(engine),
        device_(engine.device()),
        ensemble_(ensemble),
        arrays_(device_, ensemble, Moves::has_tree, record),
        under_way_(device_, static_cast<std::size_t>(ensemble.num_chains())),
        segment_(device_.capture([this] { run_segment(); })) {}

  const TrajectoryArrays& arrays() const override { return arrays_; }
  TrajectoryArrays& arrays() override { return arrays_; }

  void evaluate_current() override {
    device_.synchronize();
    engine_.evaluate_with_gradient(ensemble_.current_view(), arrays_.gradients(), all());
    for_all([](const auto& view, int chain) { begin_chain(device::HostTeam{}, view, chain); });
  }

  void launch() override { device_.launch(*segment_); }

  std::vector<double> try_step() override {
    device_.synchronize();
    for_all([](const auto& view, int chain) { begin_trial(device::HostTeam{}, view, chain); });
    engine_.evaluate_with_gradient(ensemble_.candidate_view(), arrays_.gradients(), all());
    for_all([](const auto& view, int chain) { finish_trial(device::HostTeam{}, view, chain); });
    std::vector<double> acceptance;
    for (const auto& state : arrays_.states()) acceptance.push_back(state.acceptance);
    return acceptance;
  }

  std::string stepping() const override { return ""; }

 private:
  ActiveSet all() const { return {nullptr, ensemble_.num_chains()}; }
  template <class F>
  void for_all(F f) {
    for (int chain = 0; chain < ensemble_.num_chains(); ++chain) f(arrays_.view(), chain);
  }

  // Runs a phase `propose` of all chains, then evaluations and decisions until all have completed the
  // segment's steps.
  void run_segment() {
    const device::TrajectoryView& view = arrays_.view();
    for_all([](const auto& v, int chain) { device::begin_segment<Moves>(device::HostTeam{}, v, chain); });
    for (ActiveSet active = under_way(); active.count > 0; active = under_way()) {
      engine_.evaluate_with_gradient(ensemble_.candidate_view(), arrays_.gradients(), active);
      for (int i = 0; i < active.count; ++i)
        device::advance<Moves>(device::HostTeam{}, view, active.chains[i]);
    }
  }
  ActiveSet under_way() {
    int count = 0;
    for (int chain = 0; chain < ensemble_.num_chains(); ++chain)
      if (arrays_.view().active[chain]) under_way_.data()[count++] = chain;
    return {under_way_.data(), count};
  }

  LikelihoodEngine& engine_;
  Device& device_;
  const Ensemble& ensemble_;
  TrajectoryArrays arrays_;
  DeviceArray<int> under_way_;
  std::unique_ptr<Graph> segment_;
};

}  // namespace

TrajectoryArrays::TrajectoryArrays(Device& device, const Ensemble& ensemble, bool has_tree,
                                   RecordLayout record)
    : record_layout_(record) {
  view_.step = ensemble.view();
  const auto chains = static_cast<std::size_t>(view_.step.num_chains);
  const auto rows = [&](int width) { return chains * static_cast<std::size_t>(width); };
  view_.ld_vectors = padded(device::trajectory_size(view_.step.table.dim_unconstrained, has_tree));
  view_.ld_scratch = padded(device::gradient_scratch(view_.step.table));
  vectors_ = {device, rows(view_.ld_vectors)};
  likelihood_gradient_ = {device, rows(view_.step.ld)};
  scratch_ = {device, rows(view_.ld_scratch)};
  states_ = {device, chains};
  totals_ = {device, chains};
  statistics_ = {device, 2 * static_cast<std::size_t>(record.slots_per_half) * chains};
  until_ = {device, 1};
  active_ = {device, chains};
  view_.vectors = vectors_.data();
  view_.likelihood_gradient = likelihood_gradient_.data();
  view_.scratch = scratch_.data();
  view_.states = states_.data();
  view_.totals = totals_.data();
  view_.statistics = statistics_.data();
  view_.until = until_.data();
  view_.active = active_.data();
}

const device::DrawStatistics* TrajectoryArrays::half(int index) const {
  return statistics_.data() + index * record_layout_.slots_per_half * view_.step.num_chains;
}

std::vector<bool> TrajectoryArrays::have_finite_gradients() const {
  std::vector<double> vectors = vectors_.download();
  std::vector<bool> finite;
  const int n = view_.step.table.dim_unconstrained;
  for (int chain = 0; chain < view_.step.num_chains; ++chain) {
    double* own = vectors.data() + static_cast<std::ptrdiff_t>(chain) * view_.ld_vectors;
    finite.push_back(device::all_finite(device::HostTeam{}, device::vectors_in(own, n).gradient, n));
  }
  return finite;
}

std::unique_ptr<Trajectories> make_trajectories(const std::string& kind, LikelihoodEngine& engine,
                                                const Ensemble& ensemble, RecordLayout record,
                                                RepeatedBy by) {
  if (!why_no_gradients(engine).empty()) return nullptr;
  engine.allocate_gradients();
  if (engine.device().kind() == DeviceKind::cuda)
    return make_cuda_trajectories(kind, engine, ensemble, record, by);
#define EMOMC_MAKE(Kind)          \
  if (kind == device::Kind::name) \
    return std::make_unique<HostTrajectories<device::TrajectoryOf<device::Kind>>>(engine, ensemble, record);
  EMOMC_TRAJECTORIES(EMOMC_MAKE)
#undef EMOMC_MAKE
  return nullptr;
}

std::string why_no_gradients(const LikelihoodEngine& engine) {
  if (!engine.capabilities().gradient)
    return "needs gradients, which the " + engine.name() + " engine does not have of this likelihood";
  return "";
}

}  // namespace emomc
