// Runs steps in segments, as captured graphs that need no work of the host between steps. Kept draws are
// copied through pinned double buffers, which are drained while a GPU runs the next segment.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>

#include "emomc/core/rank_gather.hpp"
#include "ensemble.hpp"
#include "resident_chains.hpp"
#include "stepper.hpp"
#include "trajectories.hpp"

namespace emomc {

enum class CopyPoints { none, u, theta, both };

/// The results of a finished segment, in host memory, valid until the segment after the next one is launched.
struct SegmentResult {
  /// Absolute steps; first_step + 1 .. end_step were run.
  std::int64_t first_step = 0, end_step = 0;
  std::int64_t origin = 0, every = 1;  ///< steps origin + every, origin + 2 every, ... were kept
  std::int64_t num_kept = 0;
  CopyPoints copied = CopyPoints::none;     ///< which of u and theta are valid
  const double* u = nullptr;                ///< num_kept x num_chains x dim_unconstrained
  const double* theta = nullptr;            ///< num_kept x num_chains x dim
  const double* log_prior = nullptr;        ///< num_kept x num_chains
  const double* log_likelihood = nullptr;   ///< num_kept x num_chains
  const std::uint64_t* accepted = nullptr;  ///< num_chains x num_blocks, cumulative
  const std::uint64_t* proposed = nullptr;
  const std::uint64_t* faults = nullptr;  ///< [num_chains], cumulative
  // The next two are null unless the proposal is a gradient sampler.
  const device::DrawStatistics* statistics = nullptr;  ///< num_kept x num_chains
  const device::TrajectoryTotals* totals = nullptr;    ///< [num_chains], cumulative
  double seconds = 0;  ///< busy time of the device, measured by the host's clock
};

class SegmentRunner {
 public:
  /// Runs steps in the kernel of `resident` if it is not null, otherwise in graphs of the stepper's and the
  /// engine's kernels. `gather` is the gather of log likelihoods if this rank evaluates only some of the
  /// chains, otherwise nullptr.
  SegmentRunner(LikelihoodEngine& engine, const Ensemble& ensemble, const Stepper& stepper,
                const ProposalBlocks& blocks, ComponentCaches caches, RecordLayout record,
                std::unique_ptr<ResidentChains> resident, std::unique_ptr<RankGather> gather = nullptr);
  /// Runs the steps of a gradient sampler.
  SegmentRunner(LikelihoodEngine& engine, const Ensemble& ensemble, Trajectories& trajectories,
                const ProposalBlocks& blocks, RecordLayout record);
  ~SegmentRunner();

  using Drain = std::function<void(const SegmentResult&)>;

  /// Enqueues steps first_step + 1 .. first_step + num_steps and keeps those at origin + every, origin + 2
  /// every, ... Then drains the previous segment and, on the host, also this one. At most
  /// record.slots_per_half draws may be kept.
  void run(std::int64_t first_step, std::int64_t num_steps, std::int64_t origin, std::int64_t every,
           CopyPoints copy, const Drain& drain);
  /// Waits for all segments and drains them.
  void finish(const Drain& drain);

  /// Describes how steps are run, for messages; `why_not` is the reason for using separate kernels.
  std::string stepping(const std::string& why_not) const;
  /// Number of parameter vectors that one step of one chain evaluates.
  int evaluations_per_step() const { return blocks_.evaluations_of_chain(); }

 private:
  struct Half;
  void enqueue_steps(int count);
  void enqueue_evaluation(int block);
  void launch_steps(std::int64_t count);
  void launch_trajectories(Half& half, int index, std::int64_t end_step, std::size_t rows);
  void drain_half(int index, const Drain& drain);

  LikelihoodEngine& engine_;
  Device& device_;
  const Ensemble& ensemble_;
  const Stepper* stepper_ = nullptr;
  Trajectories* trajectories_ = nullptr;
  ProposalBlocks blocks_;
  bool use_components_;
  RecordLayout record_;
  int num_blocks_;
  int steps_per_graph_;
  std::unique_ptr<ResidentChains> resident_;
  std::unique_ptr<RankGather> gather_;
  std::unique_ptr<Graph> many_, one_;
  std::array<std::unique_ptr<Half>, 2> halves_;
  int next_half_ = 0;
  std::chrono::steady_clock::time_point last_drain_{};
};

}  // namespace emomc
