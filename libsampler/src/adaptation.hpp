// Warm-up: scales and shapes of the increments, changed at windows of fixed absolute steps and pooled
// over the chains of a group in a fixed order.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "emomc/device/proposal.hpp"
#include "emomc/sampler/run_chains.hpp"
#include "proposal_blocks.hpp"

namespace emomc {

/// Ends of the adaptation windows of a warm-up: 10 steps each at first, then 5 % of the steps done.
std::vector<std::int64_t> window_ends(std::int64_t warmup);

class Adaptation {
 public:
  /// `num_rows` sets the first guess of the scale, posteriors being about 1/sqrt(rows) wide.
  Adaptation(const ProposalBlocks& blocks, double target_acceptance, const std::vector<ChainPlan>& plans,
             int dim_unconstrained, std::int64_t warmup, std::size_t num_rows);

  /// Another warm-up of so many steps, counted from its begin, which starts from what has been learnt.
  void begin_warmup(std::int64_t warmup);

  /// num_groups x layout.size(), what the step body reads.
  const std::vector<double>& adapted() const { return adapted_; }

  /// Steps between the points that learn the shape, for a window that begins at step `begin`.
  std::int64_t stride(std::int64_t begin, std::int64_t end) const;
  /// A point of a chain on the way and its log density, in step order.
  void add_point(int chain, std::span<const double> u, double log_density);
  /// Ends the window at `end`; acceptance counts of this window, num_chains x num_blocks.
  void end_window(std::int64_t end, std::span<const std::uint64_t> accepted,
                  std::span<const std::uint64_t> proposed);

  /// Change of each block's log scale from 80 % of the warm-up to its end, the largest of the groups; NaN
  /// before. A scale that still moved has not found its place.
  std::vector<double> drift() const;

  /// Everything that later steps depend on, flat, also in the middle of a window; restore() of it continues
  /// exactly.
  std::vector<double> save() const;
  void restore(std::span<const double> saved);

 private:
  double gain(std::int64_t step) const;
  bool shape_due(std::int64_t end) const;
  void keep_scales();
  bool climbs(int group) const;
  void update_scales(std::span<const std::uint64_t> accepted, std::span<const std::uint64_t> proposed,
                     double gain);
  void update_shapes();
  void fit(int group, double degrees);
  bool is_fitted(const double* numbers) const;
  void forget_points();

  ProposalBlocks blocks_;
  double target_acceptance_;
  device::AdaptedLayout layout_;
  std::vector<int> group_of_chain_;
  int num_groups_ = 1;
  std::int64_t warmup_ = 0, fit_at_ = 0, forgotten_at_ = 0;
  std::size_t num_cross_ = 0;       ///< second moments kept per group
  std::size_t fitted_moments_ = 0;  ///< where among them those of the fit begin, its lower triangle filled
  int fitted_factor_ = 0;           ///< where among the Cholesky factors that of the fit lies
  std::vector<double> adapted_;
  std::vector<double> late_scales_;  ///< num_groups x num_blocks, at 80 % of the warm-up; NaN before
  // Moments since the last change of shape, of points minus their chain's first one.
  std::vector<double> first_, sum_;  ///< num_chains x dim_unconstrained
  std::vector<double> count_;        ///< [num_chains]
  std::vector<double> cross_;  ///< num_groups x num_cross_: diagonals, or whole blocks if dense; of the fit
  // Log densities at the first and the last point of this window; NaN before.
  std::vector<double> window_begin_, window_end_;  ///< [num_chains]

  template <class Self>  // const or not
  static auto saved_parts(Self& self) {
    return std::array{&self.adapted_, &self.late_scales_, &self.first_,        &self.sum_,
                      &self.count_,   &self.cross_,       &self.window_begin_, &self.window_end_};
  }
};

}  // namespace emomc
