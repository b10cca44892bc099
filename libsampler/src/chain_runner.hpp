// Implements run_chains: warm-up in adaptation windows, then draws, both in segments of steps.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "chain_share.hpp"
#include "emomc/sampler/run_chains.hpp"
#include "ensemble.hpp"
#include "exchanges.hpp"
#include "segment_runner.hpp"
#include "stepper.hpp"
#include "trajectories.hpp"
#include "trajectory_counts.hpp"
#include "warm_up.hpp"

namespace emomc {

/// Chooses the number of steps of a segment, aiming at 30 ms; draws do not depend on it.
class Pace {
 public:
  explicit Pace(std::int64_t fixed) : fixed_(fixed) {}
  std::int64_t steps() const { return fixed_ > 0 ? fixed_ : steps_; }
  void segment_took(std::int64_t steps, double seconds);

 private:
  std::int64_t fixed_;
  std::int64_t steps_ = 4;
};

class ChainRunner {
 public:
  ChainRunner(LikelihoodEngine& engine, std::span<const Target> targets, const ProposalSpec& proposal,
              const std::vector<ChainPlan>& plans, const RunOptions& options, DrawHandler& handler);
  void start(std::span<const double> starts);
  void resume(const SamplerState& state);
  RunResult run();

 private:
  ComponentCaches usable_caches() const;
  void evaluate_current();
  std::uint64_t evaluations() const { return counts_ ? counts_->evaluations() : evaluations_; }
  // Finds the step sizes of a gradient sampler; does nothing for other kinds.
  void find_step_sizes();
  std::int64_t warmup_end() const { return warmup_begin_ + warmup_; }
  std::int64_t num_steps() const { return warmup_end() + options_.draws * options_.thin; }
  SamplerState state() const;
  // Runs at most one segment, up to step `end` at most; `drain` receives finished segments.
  void run_segment(std::int64_t end, std::int64_t origin, std::int64_t every, CopyPoints copy,
                   const SegmentRunner::Drain& drain);
  // Returns a function that gathers the segments of all ranks and calls `drain` with the result.
  SegmentRunner::Drain gathered(const SegmentRunner::Drain& drain);
  void finish(const SegmentRunner::Drain& drain) { segments_->finish(gathered(drain)); }
  // With tempering: exchanges points between rungs after the steps so far, learns the ladder, and draws the
  // points of the rung that samples the prior.
  void exchange();
  /// Sets the points of all rungs in `u` to those of their cold rungs.
  void begin_anew(std::vector<double>& u) const;
  void upload_betas();
  // Makes u the current points, and evaluates them.
  void set_points(const std::vector<double>& u);
  // Writes the prior's draw for this step and chain to u. Returns false if there is none; u then has any
  // values.
  bool draw_from_prior(std::size_t chain, std::span<double> u) const;
  Continue report(const SegmentResult& segment);
  void hand_over(const SegmentResult& segment, bool warmup, std::int64_t every);
  // Passes `count` kept draws, from `row` on, to the handler.
  void send(const SegmentResult& segment, bool warmup, std::int64_t row, std::int64_t count,
            std::int64_t first_step);
  // Returns false if the handler stopped the run.
  bool run_warmup();
  // Runs the rest of the window between two absolute steps. Returns false if the handler stopped the run.
  bool run_window(std::int64_t begin, std::int64_t end);
  void begin_window();
  void count_anew();
  void learn_from(const SegmentResult& segment, std::int64_t begin, std::int64_t every, std::int64_t stride);
  void end_window(std::int64_t end);
  enum class Sampled { stopped, finished, too_early };
  Sampled run_sampling();
  void begin_longer_warmup();

  // The next functions gather the values of all chains from those of the chains that this rank runs, or
  // upload this rank's part. There are one value or `per_chain` values for each chain.
  std::vector<double> all_scalars(const double* device_values) const {
    return share_.all(ensemble_->download_scalars(device_values), 1);
  }
  std::vector<double> all_points() const {
    return share_.all(ensemble_->download_u(), static_cast<std::size_t>(target_.dim_unconstrained()));
  }
  void upload_points(const std::vector<double>& u);
  void upload_counters(const std::vector<std::uint64_t>& accepted, const std::vector<std::uint64_t>& proposed,
                       const std::vector<std::uint64_t>& faults);
  /// Acceptance counts and numbers of faults of all chains.
  struct Counters {
    std::vector<std::uint64_t> accepted, proposed, faults;
  };
  Counters counters() const;
  std::size_t num_blocks() const { return static_cast<std::size_t>(ensemble_->view().num_blocks); }
  // Returns rank 0's value on all ranks, such as the answer of its handler.
  template <class T>
  T agreed(T value) const {
    return from_first(share_.ranks(), value);
  }
  std::unique_ptr<RankGather> log_likelihood_gather() const;

  LikelihoodEngine& engine_;
  std::span<const Target> targets_;
  const Target& target_;                 ///< target of the first group; the others have the same structure
  const std::vector<ChainPlan>& plans_;  ///< plans of the chains of all ranks
  RunOptions options_;
  DrawHandler& handler_;
  ProposalBlocks blocks_;
  ChainShare share_;
  std::vector<ChainPlan> own_plans_;
  ComponentCaches caches_;
  RecordLayout record_;
  std::unique_ptr<WarmUp> adaptation_;
  /// The current or last warm-up: the number of steps before it, and its length.
  std::int64_t warmup_begin_ = 0, warmup_;
  std::vector<std::int64_t> windows_;  ///< ends of the current warm-up's windows, in steps since its start
  Pace pace_;
  std::chrono::steady_clock::time_point started_;
  std::string why_not_resident_;
  std::unique_ptr<Ensemble> ensemble_;
  std::unique_ptr<Stepper> stepper_;            ///< null for gradient samplers
  std::unique_ptr<Trajectories> trajectories_;  ///< null for other kinds
  std::optional<TrajectoryCounts> counts_;      ///< counts of trajectories_
  std::unique_ptr<SegmentRunner> segments_;
  std::shared_ptr<DeviceRanks> connection_;     ///< null if this rank evaluates all chains that it runs
  std::unique_ptr<RankGather> current_gather_;  ///< null without connection_
  std::unique_ptr<Exchanges> exchanges_;        ///< null without tempering
  std::vector<double> cold_;                    ///< draws of the cold rung that are passed to the handler
  std::vector<DrawStatistics> cold_statistics_;
  std::int64_t step_ = 0;
  std::uint64_t evaluations_ = 0;  ///< number of evaluations; only for proposals without gradients
  /// Acceptance counts at the start of the window.
  std::vector<std::uint64_t> window_accepted_, window_proposed_;
};

}  // namespace emomc
