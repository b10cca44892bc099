// The interface of the adaptation during warm-up, as ChainRunner uses it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "emomc/sampler/run_chains.hpp"
#include "proposal_blocks.hpp"

namespace emomc {

/// Counts and statistics of the chains in a window of warm-up.
struct WindowCounts {
  std::span<const std::uint64_t> accepted, proposed;  ///< num_chains x num_blocks
  /// [num_chains] sums of the acceptance statistic over the draws of the window; for gradient samplers only.
  std::span<const double> acceptance;
  /// [num_chains] sums of TrajectoryTotals::window_length_slope, if the length is learnt.
  std::span<const double> length_slope = {};
};

/// Adapted numbers, which change at the ends of windows of fixed absolute steps. Statistics are pooled over
/// the chains of a group in a fixed order.
class WarmUp {
 public:
  virtual ~WarmUp() = default;

  /// Ends of the windows of a warm-up, in steps since its start.
  virtual std::vector<std::int64_t> window_ends(std::int64_t warmup) const = 0;
  /// Starts another warm-up of `warmup` steps, which continues from the adapted numbers. Steps in the calls
  /// below count from its start.
  virtual void begin_warmup(std::int64_t warmup) = 0;

  /// num_groups x AdaptedLayout::size() numbers that the sampler's steps read.
  virtual const std::vector<double>& adapted() const = 0;

  /// Number of steps between the points from which the adaptation learns, in the window from step `begin` to
  /// `end`.
  virtual std::int64_t stride(std::int64_t begin, std::int64_t end) const = 0;
  /// Adds a point of a chain with its log density; a chain's points must be added in the order of steps.
  virtual void add_point(int chain, std::span<const double> u, double log_density) = 0;
  virtual void end_window(std::int64_t end, const WindowCounts& counts) = 0;

  /// Whether a step size is being searched for by single leapfrogs with the present adapted numbers.
  virtual bool is_trying() const { return false; }
  /// Receives the acceptance probabilities [num_chains] of each chain's leapfrog, and changes the adapted
  /// numbers.
  virtual void tried(std::span<const double> /*acceptance*/) {}

  /// [num_blocks] change of the log scale late in the warm-up, the largest over the groups; NaN before. A
  /// large change indicates that the scale has not settled.
  virtual std::vector<double> drift() const = 0;

  /// Returns everything on which later steps depend, flat, also in the middle of a window; restore()
  /// continues exactly from there. restore() throws InputError if the size does not match.
  virtual std::vector<double> save() const = 0;
  virtual void restore(std::span<const double> saved) = 0;
};

/// Makes the adaptation of the proposal's kind; see the constructors of Adaptation and TrajectoryAdaptation.
std::unique_ptr<WarmUp> make_warm_up(const ProposalBlocks& blocks, const ProposalSpec& proposal,
                                     const std::vector<ChainPlan>& plans, int dim_unconstrained,
                                     std::int64_t warmup, std::size_t num_rows);

}  // namespace emomc
