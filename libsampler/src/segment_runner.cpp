#include "segment_runner.hpp"

#include <algorithm>
#include <stdexcept>

namespace emomc {
namespace {

constexpr int kKernelsPerGraph = 128;

using Clock = std::chrono::steady_clock;
double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

// Host memory that copies can access asynchronously.
template <class T>
class Pinned {
 public:
  Pinned(Device& device, std::size_t size)
      : device_(device),
        data_(static_cast<T*>(device.allocate_host(std::max<std::size_t>(size, 1) * sizeof(T)))) {}
  ~Pinned() { device_.release_host(data_); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  T* data() const { return data_; }

 private:
  Device& device_;
  T* data_;
};

}  // namespace

// The host's copy of one of the two record buffers.
struct SegmentRunner::Half {
  Half(Device& device, const device::StepView& view, std::int64_t slots, bool gradient)
      : plan(device, 1),
        u(device, rows(view, slots) * static_cast<std::size_t>(view.table.dim_unconstrained)),
        theta(device, rows(view, slots) * static_cast<std::size_t>(view.table.dim)),
        log_prior(device, rows(view, slots)),
        log_likelihood(device, rows(view, slots)),
        accepted(device, counters(view)),
        proposed(device, counters(view)),
        faults(device, static_cast<std::size_t>(view.num_chains)),
        until(device, 1),
        statistics(device, gradient ? rows(view, slots) : 0),
        totals(device, gradient ? static_cast<std::size_t>(view.num_chains) : 0),
        done(device.make_event()) {}

  static std::size_t rows(const device::StepView& view, std::int64_t slots) {
    return static_cast<std::size_t>(slots * view.num_chains);
  }
  static std::size_t counters(const device::StepView& view) {
    return static_cast<std::size_t>(view.num_chains) * static_cast<std::size_t>(view.num_blocks);
  }

  Pinned<device::RecordPlan> plan;
  Pinned<double> u, theta, log_prior, log_likelihood;
  Pinned<std::uint64_t> accepted, proposed, faults;
  Pinned<device::i64> until;
  Pinned<device::DrawStatistics> statistics;
  Pinned<device::TrajectoryTotals> totals;
  std::unique_ptr<Event> done;
  SegmentResult result;
  Clock::time_point launched;
  bool pending = false;
};

SegmentRunner::SegmentRunner(LikelihoodEngine& engine, const Ensemble& ensemble, const Stepper& stepper,
                             const ProposalBlocks& blocks, ComponentCaches caches, RecordLayout record,
                             std::unique_ptr<ResidentChains> resident, std::unique_ptr<RankGather> gather)
    : engine_(engine),
      device_(engine.device()),
      ensemble_(ensemble),
      stepper_(&stepper),
      blocks_(blocks),
      use_components_(caches == ComponentCaches::on),
      record_(record),
      num_blocks_(static_cast<int>(blocks.blocks.size())),
      steps_per_graph_(std::max(1, kKernelsPerGraph / num_blocks_)),
      resident_(std::move(resident)),
      gather_(std::move(gather)) {
  for (auto& half : halves_)
    half = std::make_unique<Half>(device_, ensemble_.view(), record.slots_per_half, false);
  if (resident_) return;
  one_ = device_.capture([this] { enqueue_steps(1); });
  many_ = steps_per_graph_ > 1 ? device_.capture([this] { enqueue_steps(steps_per_graph_); }) : nullptr;
}

SegmentRunner::SegmentRunner(LikelihoodEngine& engine, const Ensemble& ensemble, Trajectories& trajectories,
                             const ProposalBlocks& blocks, RecordLayout record)
    : engine_(engine),
      device_(engine.device()),
      ensemble_(ensemble),
      trajectories_(&trajectories),
      blocks_(blocks),
      use_components_(false),
      record_(record),
      num_blocks_(static_cast<int>(blocks.blocks.size())),
      steps_per_graph_(1) {
  for (auto& half : halves_)
    half = std::make_unique<Half>(device_, ensemble_.view(), record.slots_per_half, true);
}

SegmentRunner::~SegmentRunner() = default;

std::string SegmentRunner::stepping(const std::string& why_not) const {
  if (trajectories_) return trajectories_->stepping();
  if (resident_) return "many steps in one kernel, " + resident_->description();
  return "a kernel for each part of a step" + (why_not.empty() ? "" : ": " + why_not);
}

void SegmentRunner::enqueue_evaluation(int block) {
  const device::ProposalBlock& planned = blocks_.blocks[static_cast<std::size_t>(block)];
  if (planned.influence == Influence::nothing) return;
  const ActiveSet movers = ensemble_.movers(blocks_.half_of(planned));
  if (use_components_ && planned.influence != Influence::everything)
    engine_.evaluate_component(ensemble_.candidate_view(), ensemble_.components_of(block), movers);
  else
    engine_.evaluate(ensemble_.candidate_view(), movers);
  if (gather_) gather_->enqueue(ensemble_.candidate_view().log_likelihood);
}

// Enqueues the steps of a graph. Deciding on a block and proposing the next one are a single launch.
void SegmentRunner::enqueue_steps(int count) {
  const ActiveSet all{nullptr, ensemble_.num_chains()};
  const auto transition = [&](int accept_block, int propose_block) {
    const Influence influence = accept_block == device::kNoBlock
                                    ? Influence::nothing
                                    : blocks_.blocks[static_cast<std::size_t>(accept_block)].influence;
    stepper_->enqueue(ensemble_.view(), accept_block, propose_block, influence != Influence::nothing);
    if (influence == Influence::nothing || !use_components_) return;
    if (influence == Influence::everything)
      engine_.rebuild_caches(ensemble_.current_view(), all);
    else
      engine_.commit(ensemble_.view().accepted, all);
  };
  int previous = device::kNoBlock;
  for (int step = 0; step < count; ++step)
    for (int block = 0; block < num_blocks_; ++block) {
      if (blocks_.apart && previous != device::kNoBlock) {
        transition(previous, device::kNoBlock);
        transition(device::kNoBlock, block);
      } else {
        transition(previous, block);
      }
      if (block == 0) stepper_->draw_ahead(ensemble_.view(), 1);
      enqueue_evaluation(block);
      previous = block;
    }
  transition(previous, device::kNoBlock);
}

void SegmentRunner::launch_steps(std::int64_t count) {
  if (resident_) {
    const device::DrawnAhead& drawn = ensemble_.view().drawn;
    while (count > 0) {
      const std::int64_t steps = drawn.values ? std::min<std::int64_t>(count, drawn.num_slots) : count;
      stepper_->draw_ahead(ensemble_.view(), steps);
      resident_->launch(steps);
      count -= steps;
    }
    return;
  }
  if (many_)
    for (; count >= steps_per_graph_; count -= steps_per_graph_) device_.launch(*many_);
  for (; count > 0; --count) device_.launch(*one_);
}

// Enqueues the steps of a gradient sampler, and the copies of their statistics.
void SegmentRunner::launch_trajectories(Half& half, int index, std::int64_t end_step, std::size_t rows) {
  const TrajectoryArrays& arrays = trajectories_->arrays();
  *half.until.data() = end_step;
  device_.copy(arrays.until(), half.until.data(), sizeof(device::i64));
  trajectories_->launch();
  if (rows > 0)
    device_.copy(half.statistics.data(), arrays.half(index), rows * sizeof(device::DrawStatistics));
  device_.copy(half.totals.data(), arrays.view().totals,
               static_cast<std::size_t>(ensemble_.num_chains()) * sizeof(device::TrajectoryTotals));
}

void SegmentRunner::run(std::int64_t first_step, std::int64_t num_steps, std::int64_t origin,
                        std::int64_t every, CopyPoints copy, const Drain& drain) {
  const int index = next_half_;
  next_half_ = 1 - index;
  Half& half = *halves_[static_cast<std::size_t>(index)];
  if (half.pending) drain_half(index, drain);

  half.launched = Clock::now();
  const std::int64_t end_step = first_step + num_steps;
  // Counts the multiples of `every` after `origin` in (first_step, end_step].
  const std::int64_t skipped = first_step > origin ? (first_step - origin) / every : 0;
  const std::int64_t kept = end_step > origin ? (end_step - origin) / every - skipped : 0;
  if (kept > record_.slots_per_half) throw std::invalid_argument("SegmentRunner: more draws than slots");
  *half.plan.data() = {origin + skipped * every, every, index * record_.slots_per_half,
                       record_.slots_per_half};
  device_.copy(ensemble_.record_plan(), half.plan.data(), sizeof(device::RecordPlan));
  const auto& view = ensemble_.view();
  const auto rows = static_cast<std::size_t>(kept * view.num_chains);
  if (trajectories_)
    launch_trajectories(half, index, end_step, rows);
  else
    launch_steps(num_steps);

  const device::Record record = ensemble_.half(index);
  const auto fetch = [&](auto* to, const auto* from, std::size_t count) {
    if (count) device_.copy(to, from, count * sizeof(*to));
  };
  if (copy == CopyPoints::u || copy == CopyPoints::both)
    fetch(half.u.data(), record.u, rows * static_cast<std::size_t>(view.table.dim_unconstrained));
  if (copy == CopyPoints::theta || copy == CopyPoints::both)
    fetch(half.theta.data(), record.theta, rows * static_cast<std::size_t>(view.table.dim));
  fetch(half.log_prior.data(), record.log_prior, rows);
  fetch(half.log_likelihood.data(), record.log_likelihood, rows);
  const auto counters = Half::counters(view);
  fetch(half.accepted.data(), view.num_accepted, counters);
  fetch(half.proposed.data(), view.num_proposed, counters);
  fetch(half.faults.data(), view.num_faults, static_cast<std::size_t>(view.num_chains));
  device_.record(*half.done);

  half.result = {first_step,
                 end_step,
                 origin + skipped * every,
                 every,
                 kept,
                 copy,
                 half.u.data(),
                 half.theta.data(),
                 half.log_prior.data(),
                 half.log_likelihood.data(),
                 half.accepted.data(),
                 half.proposed.data(),
                 half.faults.data(),
                 trajectories_ ? half.statistics.data() : nullptr,
                 trajectories_ ? half.totals.data() : nullptr,
                 seconds_between(half.launched, Clock::now())};
  half.pending = true;
  // A GPU runs this segment during the next call; the host has already finished it.
  drain_half(1 - index, drain);
  if (device_.kind() != DeviceKind::cuda) drain_half(index, drain);
}

void SegmentRunner::drain_half(int index, const Drain& drain) {
  Half& half = *halves_[static_cast<std::size_t>(index)];
  if (!half.pending) return;
  device_.wait(*half.done);
  half.pending = false;
  const auto now = Clock::now();
  // On the host the work is complete when launch returns; a GPU is busy until the event.
  if (device_.kind() == DeviceKind::cuda)
    half.result.seconds = seconds_between(std::max(half.launched, last_drain_), now);
  last_drain_ = now;
  drain(half.result);
}

void SegmentRunner::finish(const Drain& drain) {
  drain_half(next_half_, drain);
  drain_half(1 - next_half_, drain);
}

}  // namespace emomc
