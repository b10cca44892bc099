// Warm-up of gradient samplers, after Stan: dual averaging of the step size (Hoffman and Gelman 2014,
// section 3.2), and a metric that is learnt from the points of windows of doubling length (Stan Reference
// Manual, "Adaptation"). Acceptance statistics and points are pooled over the chains of a group. Of kinds
// that have one also the length of trajectories.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "emomc/sampler/run_chains.hpp"
#include "length_adaptation.hpp"
#include "proposal_blocks.hpp"
#include "warm_up.hpp"

namespace emomc {

/// The parts of a warm-up: an initial buffer, windows at whose ends the metric is learnt, and a final buffer.
struct MetricWindows {
  std::int64_t begin = 0;          ///< of the first window
  std::vector<std::int64_t> ends;  ///< none where the warm-up is too short
};
/// Stan's: buffers of 75 and 50 steps, windows of 25, 50, 100, ..., the last one as long as is left; 15 % and
/// 10 % of the warm-up, at least 10 steps, where that is shorter than 150, and no metric where it is shorter
/// than 20.
MetricWindows metric_windows(std::int64_t warmup);

class TrajectoryAdaptation final : public WarmUp {
 public:
  /// `num_rows` determines the step size that is tried first.
  TrajectoryAdaptation(const ProposalBlocks& blocks, double target_acceptance,
                       const std::vector<ChainPlan>& plans, int dim_unconstrained, std::int64_t warmup,
                       std::size_t num_rows);

  /// The step size changes after single steps at first, later after as many as are a twentieth of those
  /// since it was begun anew, so that chains wait for each other less and less often. Where chains share the
  /// length of their trajectories, none waits, and every window is a step.
  std::vector<std::int64_t> window_ends(std::int64_t warmup) const override;
  void begin_warmup(std::int64_t warmup) override;
  const std::vector<double>& adapted() const override { return adapted_; }
  std::int64_t stride(std::int64_t begin, std::int64_t end) const override;
  void add_point(int chain, std::span<const double> u, double log_density) override;
  void end_window(std::int64_t end, const WindowCounts& counts) override;
  bool is_trying() const override;
  void tried(std::span<const double> acceptance) override;
  /// Over the second half of the final buffer.
  std::vector<double> drift() const override;
  std::vector<double> save() const override;
  void restore(std::span<const double> saved) override;

 private:
  enum class Search { none, first, longer, shorter };

  double& log_step(std::size_t group);
  std::int64_t steps_of_window(std::int64_t end) const;
  void begin_search();
  void bound_length(std::size_t group);
  void begin_averaging(std::size_t group);
  void average(std::size_t group, double acceptance);
  void learn_metric(std::size_t group);
  void write_metric(std::size_t group, const Eigen::MatrixXd& moments);
  void learn_length(std::size_t group, std::int64_t end, const WindowCounts& counts);
  double mean_acceptance(std::size_t group, const WindowCounts& counts, std::int64_t steps) const;
  void forget_points();

  device::AdaptedLayout layout_;
  ProposalShape shape_;
  double target_acceptance_;
  std::vector<std::size_t> group_of_chain_;
  std::vector<std::size_t> place_of_chain_;  ///< in its group
  std::size_t num_groups_ = 1;
  std::int64_t warmup_;
  MetricWindows windows_;
  std::vector<double> adapted_;
  std::vector<Search> search_;  ///< [num_groups]; none between the steps of the chains
  // Dual averaging, [num_groups] each: the log step size that it shrinks towards, the mean of target less
  // acceptance, the mean log step size, and the number of updates.
  std::vector<double> mu_, error_, mean_, updates_;
  std::vector<double>
      late_;  ///< [num_groups] mean log step size in the middle of the final buffer; NaN before
  // Moments since the metric was learnt, of points relative to their chain's first one.
  std::vector<double> first_, sum_;  ///< num_chains x dim_unconstrained
  std::vector<double> count_;        ///< [num_chains]
  std::vector<double> cross_;        ///< num_groups x squares, or products where dense
  std::optional<LengthAdaptation> length_;
  std::vector<double> has_metric_;  ///< [1] where the length is bounded until there is a metric, or none

  template <class Self>  // const or not
  static auto saved_parts(Self& self) {
    std::vector parts{&self.adapted_, &self.mu_,  &self.error_, &self.mean_,  &self.updates_,   &self.late_,
                      &self.first_,   &self.sum_, &self.count_, &self.cross_, &self.has_metric_};
    if (self.length_)
      for (auto* part : LengthAdaptation::saved_parts(*self.length_)) parts.push_back(part);
    return parts;
  }
};

}  // namespace emomc
