// Adaptation during warm-up: scales and shapes of the increments change at the ends of windows, which are at
// fixed absolute steps. Statistics are pooled over the chains of a group in a fixed order.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "emomc/device/proposal.hpp"
#include "emomc/sampler/run_chains.hpp"
#include "proposal_blocks.hpp"
#include "warm_up.hpp"

namespace emomc {

/// Ends of the adaptation windows of a warm-up, in steps since its start. A window has 10 steps at first,
/// later 5 % of the steps before it; windows also end at the steps at which the shape is learnt.
std::vector<std::int64_t> window_ends(std::int64_t warmup);

class Adaptation final : public WarmUp {
 public:
  /// `num_rows` determines the initial scale: posteriors have a width of about 1/sqrt(num_rows).
  Adaptation(const ProposalBlocks& blocks, double target_acceptance, const std::vector<ChainPlan>& plans,
             int dim_unconstrained, std::int64_t warmup, std::size_t num_rows);

  std::vector<std::int64_t> window_ends(std::int64_t warmup) const override {
    return emomc::window_ends(warmup);
  }
  void begin_warmup(std::int64_t warmup) override;
  const std::vector<double>& adapted() const override { return adapted_; }
  std::int64_t stride(std::int64_t begin, std::int64_t end) const override;
  void add_point(int chain, std::span<const double> u, double log_density) override;
  void end_window(std::int64_t end, const WindowCounts& counts) override {
    end_window(end, counts.accepted, counts.proposed);
  }
  /// Ends the window at step `end`. The acceptance counts [num_chains x num_blocks] are those of this window.
  void end_window(std::int64_t end, std::span<const std::uint64_t> accepted,
                  std::span<const std::uint64_t> proposed);

  /// Change of the log scales from 80 % of the warm-up to now, per block.
  std::vector<double> drift() const override;
  std::vector<double> save() const override;
  void restore(std::span<const double> saved) override;

 private:
  double gain(std::int64_t step) const;
  bool shape_due(std::int64_t end) const;
  bool learns_shape(const device::ProposalBlock& block) const;
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
  std::size_t num_cross_ = 0;  ///< number of second moments of each group
  /// Index among a group's second moments of the first one of the fitted covariance; the lower triangle is
  /// filled.
  std::size_t fitted_moments_ = 0;
  int fitted_factor_ = 0;  ///< offset of the fitted covariance's factor among the Cholesky factors
  std::vector<double> adapted_;
  std::vector<double> late_scales_;  ///< num_groups x num_blocks log scales at 80 % of the warm-up; NaN
                                     ///< before
  // Moments of points relative to their chain's first point, since they were last reset.
  std::vector<double> first_, sum_;  ///< num_chains x dim_unconstrained
  std::vector<double> count_;        ///< [num_chains]
  /// num_groups x num_cross_: squares, or products for dense shapes, then those of the fitted covariance
  std::vector<double> cross_;
  // Log densities at the first and at the last point of this window; NaN before.
  std::vector<double> window_begin_, window_end_;  ///< [num_chains]

  template <class Self>  // const or not
  static auto saved_parts(Self& self) {
    return std::array{&self.adapted_, &self.late_scales_, &self.first_,        &self.sum_,
                      &self.count_,   &self.cross_,       &self.window_begin_, &self.window_end_};
  }
};

}  // namespace emomc
