// What a warm-up learns, as the run of the chains sees it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "emomc/sampler/run_chains.hpp"
#include "proposal_blocks.hpp"

namespace emomc {

/// What the chains did in a window of warm-up.
struct WindowCounts {
  std::span<const std::uint64_t> accepted, proposed;  ///< num_chains x num_blocks
  /// [num_chains] sums of the acceptance statistic over the draws of the window, of gradient samplers only.
  std::span<const double> acceptance;
  /// [num_chains] sums of TrajectoryTotals::window_length_slope, where the length is learnt.
  std::span<const double> length_slope = {};
};

/// Adapted numbers, which change at the ends of windows of fixed absolute steps. Statistics are pooled over
/// the chains of a group in a fixed order.
class WarmUp {
 public:
  virtual ~WarmUp() = default;

  /// Ends of the windows of a warm-up, in steps since its start.
  virtual std::vector<std::int64_t> window_ends(std::int64_t warmup) const = 0;
  /// Starts another warm-up of so many steps, which continues from what was adapted. Steps below count from
  /// its start.
  virtual void begin_warmup(std::int64_t warmup) = 0;

  /// num_groups x AdaptedLayout::size(): what the sampler's steps read.
  virtual const std::vector<double>& adapted() const = 0;

  /// Number of steps between the points that are learnt from, in the window from step `begin` to `end`.
  virtual std::int64_t stride(std::int64_t begin, std::int64_t end) const = 0;
  /// Adds a point of a chain with its log density; a chain's points come in the order of steps.
  virtual void add_point(int chain, std::span<const double> u, double log_density) = 0;
  virtual void end_window(std::int64_t end, const WindowCounts& counts) = 0;

  /// Whether a step size is being looked for by single leapfrogs with the adapted numbers as they are now.
  virtual bool is_trying() const { return false; }
  /// [num_chains] acceptance probability of each chain's leapfrog.
  virtual void tried(std::span<const double> /*acceptance*/) {}

  /// [num_blocks] change of the log scale late in the warm-up, the largest over the groups; NaN before. A
  /// large change shows that the scale has not settled.
  virtual std::vector<double> drift() const = 0;

  /// Everything that later steps depend on, flat, also in the middle of a window; restore() continues exactly
  /// from there. It throws InputError where the size does not match.
  virtual std::vector<double> save() const = 0;
  virtual void restore(std::span<const double> saved) = 0;
};

/// That of the proposal's kind; see the constructors of Adaptation and TrajectoryAdaptation.
std::unique_ptr<WarmUp> make_warm_up(const ProposalBlocks& blocks, const ProposalSpec& proposal,
                                     const std::vector<ChainPlan>& plans, int dim_unconstrained,
                                     std::int64_t warmup, std::size_t num_rows);

}  // namespace emomc
