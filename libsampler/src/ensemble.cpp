#include "ensemble.hpp"

#include <algorithm>
#include <numeric>

namespace emomc {
namespace {

// Rounds up to a multiple of 128 bytes, so that each chain starts at such a multiple.
int padded(int width) { return (std::max(width, 1) + 15) / 16 * 16; }

template <class T>
DeviceArray<T> uploaded(Device& queue, const std::vector<T>& values) {
  DeviceArray<T> array(queue, values.size());
  array.upload(values);
  return array;
}

device::PointSet points(const DeviceArray<double>& u, const DeviceArray<double>& theta,
                        const DeviceArray<double>& scalars, std::size_t chains) {
  return {u.data(), theta.data(), scalars.data(), scalars.data() + chains, scalars.data() + 2 * chains};
}

}  // namespace

RecordLayout plan_record(const Target& target, std::size_t num_chains) {
  constexpr std::size_t kRecordBytes = std::size_t{32} << 20;
  const std::size_t draw_bytes =
      num_chains * static_cast<std::size_t>(target.dim() + target.dim_unconstrained() + 2) * sizeof(double);
  return {std::clamp<std::int64_t>(static_cast<std::int64_t>(kRecordBytes / draw_bytes), 1, 4096)};
}

std::size_t num_groups(const std::vector<ChainPlan>& plans) {
  int last = -1;
  for (const ChainPlan& plan : plans) last = std::max(last, plan.group);
  return static_cast<std::size_t>(last + 1);
}

Ensemble::Ensemble(Device& device, std::span<const Target> targets, const ProposalBlocks& blocks,
                   const std::vector<ChainPlan>& plans, std::size_t num_groups, std::uint64_t seed,
                   RecordLayout record, RankRange evaluated)
    : device_(device), record_layout_(record), evaluated_(evaluated) {
  const Target& target = targets[0];
  const auto chains = plans.size();
  const auto num_blocks = blocks.blocks.size();
  view_.num_chains = static_cast<int>(chains);
  view_.point_size = blocks.point_size(target.dim_unconstrained());
  view_.ld_u = padded(view_.point_size);
  view_.ld = padded(target.dim());
  view_.seed = seed;
  view_.shape = static_cast<device::IncrementShape>(blocks.shape);
  view_.num_blocks = static_cast<int>(num_blocks);
  view_.adapted_layout = blocks.adapted_layout(target.dim_unconstrained());
  view_.num_innovation = device::innovation_size(target.dim_unconstrained(), blocks.has_second_innovation());
  view_.ld_innovation = padded(view_.num_innovation);

  upload_tables(targets);
  blocks_ = uploaded(device, blocks.blocks);
  view_.blocks = blocks_.data();

  const auto ld_u = static_cast<std::size_t>(view_.ld_u), ld = static_cast<std::size_t>(view_.ld);
  current_u_ = {device, chains * ld_u};
  candidate_u_ = {device, chains * ld_u};
  innovation_ = {device, chains * static_cast<std::size_t>(view_.ld_innovation)};
  current_theta_ = {device, chains * ld};
  candidate_theta_ = {device, chains * ld};
  current_scalars_ = {device, 3 * chains};
  candidate_scalars_ = {device, 3 * chains};
  view_.current = points(current_u_, current_theta_, current_scalars_, chains);
  view_.candidate = points(candidate_u_, candidate_theta_, candidate_scalars_, chains);
  view_.innovation = innovation_.data();
  plan_drawn_ahead(blocks);

  log_q_ = {device, chains};
  accepted_ = {device, chains};
  step_ = {device, chains};
  num_accepted_ = {device, chains * num_blocks};
  num_proposed_ = {device, chains * num_blocks};
  num_faults_ = {device, chains};
  // The initial plan keeps no draws.
  record_plan_ = uploaded(device, std::vector<device::RecordPlan>{{0, 1, 0, 0}});
  std::vector<device::u32> ids;
  std::vector<double> betas;
  std::vector<int> components;
  for (const auto& plan : plans) {
    ids.push_back(static_cast<device::u32>(plan.id));
    betas.push_back(plan.beta);
    groups_.push_back(plan.group);
  }
  for (const auto& block : blocks.blocks)
    components.insert(components.end(), chains,
                      block.influence == Influence::component ? block.component : kAllComponents);
  chain_id_ = uploaded(device, ids);
  beta_ = uploaded(device, betas);
  group_ = uploaded(device, groups_);
  components_ = uploaded(device, components);
  plan_halves(groups_, num_groups);
  if (blocks.traits.has_second_try()) {
    first_accepted_ = {device, chains};
    first_density_ = {device, chains};
  }
  view_.first_accepted = first_accepted_.data();
  view_.first_density = first_density_.data();
  adapted_ = {device, num_groups * static_cast<std::size_t>(view_.adapted_layout.size())};
  view_.log_q = log_q_.data();
  view_.accepted = accepted_.data();
  view_.step = step_.data();
  view_.chain_id = chain_id_.data();
  view_.beta = beta_.data();
  view_.group = group_.data();
  view_.adapted = adapted_.data();
  view_.num_accepted = num_accepted_.data();
  view_.num_proposed = num_proposed_.data();
  view_.num_faults = num_faults_.data();
  view_.record_plan = record_plan_.data();

  const auto slots = 2 * static_cast<std::size_t>(record.slots_per_half) * chains;
  record_u_ = {device, slots * static_cast<std::size_t>(target.dim_unconstrained())};
  record_theta_ = {device, slots * static_cast<std::size_t>(target.dim())};
  record_log_prior_ = {device, slots};
  record_log_likelihood_ = {device, slots};
  view_.record = half(0);
}

void Ensemble::upload_tables(std::span<const Target> targets) {
  TargetTables all = targets[0].tables();
  std::vector<double> constants{all.log_prior_constant};
  for (const Target& target : targets.subspan(1)) {
    const TargetTables& more = target.tables();
    all.elements.insert(all.elements.end(), more.elements.begin(), more.elements.end());
    all.covariance_rows.insert(all.covariance_rows.end(), more.covariance_rows.begin(),
                               more.covariance_rows.end());
    all.conditionals.insert(all.conditionals.end(), more.conditionals.begin(), more.conditionals.end());
    constants.push_back(more.log_prior_constant);
  }
  elements_ = uploaded(device_, all.elements);
  simplices_ = uploaded(device_, all.simplices);
  covariance_rows_ = uploaded(device_, all.covariance_rows);
  conditionals_ = uploaded(device_, all.conditionals);
  constants_ = uploaded(device_, constants);
  view_.table = targets[0].table();
  view_.table.elements = elements_.data();
  view_.table.simplices = simplices_.data();
  view_.table.covariance_rows = covariance_rows_.data();
  view_.table.conditionals = conditionals_.data();
  view_.constants = constants_.data();
  view_.num_tables = static_cast<int>(targets.size());
}

// Innovations are drawn ahead on a GPU only; the caches of a CPU hold the Cholesky factor anyway. If the
// buffer for one step would be too large, each move draws its own numbers.
void Ensemble::plan_drawn_ahead(const ProposalBlocks& blocks) {
  constexpr std::size_t kWanted = std::size_t{64} << 20, kMost = std::size_t{1} << 30;
  constexpr int kMostSlots = 16;
  const int num_moves = blocks.num_moves_by_fit();
  if (num_moves == 0 || device_.kind() != DeviceKind::cuda) return;
  const std::size_t step_size = static_cast<std::size_t>(view_.num_chains) *
                                static_cast<std::size_t>(num_moves) *
                                static_cast<std::size_t>(view_.ld_innovation);
  if (step_size * sizeof(double) > kMost) return;
  int slots = 1;
  while (2 * slots <= kMostSlots &&
         2 * static_cast<std::size_t>(slots) * step_size * sizeof(double) <= kWanted)
    slots *= 2;
  drawn_ = {device_, static_cast<std::size_t>(slots) * step_size};
  view_.drawn = {drawn_.data(), slots, num_moves, view_.ld_innovation, blocks.first_move_by_fit()};
}

// The chains of a group alternate between the halves 0 and 1 of the ensemble.
void Ensemble::plan_halves(const std::vector<int>& groups, std::size_t num_groups) {
  std::vector<int> half(groups.size()), members, first{0}, seen(num_groups, 0);
  for (std::size_t c = 0; c < groups.size(); ++c) half[c] = seen[static_cast<std::size_t>(groups[c])]++ % 2;
  for (std::size_t g = 0; g < num_groups; ++g)
    for (int h : {0, 1}) {
      for (std::size_t c = 0; c < groups.size(); ++c)
        if (groups[c] == static_cast<int>(g) && half[c] == h) members.push_back(static_cast<int>(c));
      first.push_back(static_cast<int>(members.size()));
    }
  for (int h : {0, 1}) {
    std::vector<int> chains;
    for (std::size_t c = 0; c < groups.size(); ++c)
      if (half[c] == h && c >= evaluated_.first && c < evaluated_.end) chains.push_back(static_cast<int>(c));
    half_chains_[static_cast<std::size_t>(h)] = uploaded(device_, chains);
  }
  if (evaluated_.size() < groups.size()) {
    std::vector<int> chains(evaluated_.size());
    std::iota(chains.begin(), chains.end(), static_cast<int>(evaluated_.first));
    evaluated_chains_ = uploaded(device_, chains);
  }
  half_ = uploaded(device_, half);
  members_ = uploaded(device_, members);
  first_member_ = uploaded(device_, first);
  view_.half = half_.data();
  view_.members = members_.data();
  view_.first_member = first_member_.data();
}

ActiveSet Ensemble::movers(int half) const {
  if (half == kAllChains) return {evaluated_chains_.data(), static_cast<int>(evaluated_.size())};
  const auto& chains = half_chains_[static_cast<std::size_t>(half)];
  return {chains.data(), static_cast<int>(chains.size())};
}

device::Record Ensemble::half(int index) const {
  const auto rows = static_cast<std::size_t>(index * record_layout_.slots_per_half * view_.num_chains);
  return {record_u_.data() + rows * static_cast<std::size_t>(view_.table.dim_unconstrained),
          record_theta_.data() + rows * static_cast<std::size_t>(view_.table.dim),
          record_log_prior_.data() + rows, record_log_likelihood_.data() + rows};
}

void Ensemble::upload_points(const std::vector<double>& u, std::span<const Target> targets) {
  const auto chains = static_cast<std::size_t>(view_.num_chains);
  const auto dim_u = static_cast<std::size_t>(targets[0].dim_unconstrained());
  const auto dim = static_cast<std::size_t>(targets[0].dim());
  const auto ld_u = static_cast<std::size_t>(view_.ld_u), ld = static_cast<std::size_t>(view_.ld);
  std::vector<double> padded_u(chains * ld_u), theta(chains * ld), scalars(3 * chains);
  for (std::size_t c = 0; c < chains; ++c) {
    std::copy_n(u.begin() + static_cast<std::ptrdiff_t>(c * dim_u), dim_u,
                padded_u.begin() + static_cast<std::ptrdiff_t>(c * ld_u));
    const std::span<double> point(theta.data() + c * ld, dim);
    const auto densities =
        target_of(targets, groups_[c]).constrain_with_prior({padded_u.data() + c * ld_u, dim_u}, point);
    scalars[c] = densities.log_prior;
    scalars[chains + c] = densities.log_jacobian;
  }
  current_u_.upload(padded_u);
  current_theta_.upload(theta);
  current_scalars_.upload(scalars);
}

void Ensemble::upload_step(std::int64_t step) {
  step_.upload(std::vector<device::i64>(static_cast<std::size_t>(view_.num_chains), step));
}

void Ensemble::upload_log_likelihood(const std::vector<double>& values) {
  device_.copy(view_.current.log_likelihood, values.data(), values.size() * sizeof(double));
  device_.synchronize();
}

void Ensemble::upload_counters(const std::vector<std::uint64_t>& accepted,
                               const std::vector<std::uint64_t>& proposed,
                               const std::vector<std::uint64_t>& faults) {
  num_accepted_.upload(accepted);
  num_proposed_.upload(proposed);
  num_faults_.upload(faults);
}

std::vector<double> Ensemble::download_scalars(const double* values) const {
  std::vector<double> host(static_cast<std::size_t>(view_.num_chains));
  device_.copy(host.data(), values, host.size() * sizeof(double));
  device_.synchronize();
  return host;
}

std::vector<double> Ensemble::unpad(const std::vector<double>& padded_values, int ld, int width) const {
  std::vector<double> values;
  for (int c = 0; c < view_.num_chains; ++c) {
    const auto begin = padded_values.begin() + static_cast<std::ptrdiff_t>(c) * ld;
    values.insert(values.end(), begin, begin + width);
  }
  return values;
}

}  // namespace emomc
