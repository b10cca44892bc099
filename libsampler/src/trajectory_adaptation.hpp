// Warm-up of gradient samplers, after Stan: dual averaging of the step size (Hoffman and Gelman 2014, section
// 3.2), and a metric that is learnt from the points of windows of doubling length (Stan Reference Manual,
// "Adaptation"). If the kind has a learnt length of trajectories, it is learnt here too. Acceptance
// statistics and points are pooled over the chains of a group.
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
  std::int64_t begin = 0;          ///< number of steps before the first window
  std::vector<std::int64_t> ends;  ///< ends of the windows; empty if the warm-up is too short
};
/// Returns Stan's windows: buffers of 75 and 50 steps, windows of 25, 50, 100, ..., the last one extended to
/// the final buffer. If the warm-up is shorter than 150 steps, the buffers have 15 % and 10 % of it, the
/// latter at least 10 steps; if it is shorter than 20 steps, there is no metric.
MetricWindows metric_windows(std::int64_t warmup);

class TrajectoryAdaptation final : public WarmUp {
 public:
  /// `num_rows` determines the step size that is tried first.
  TrajectoryAdaptation(const ProposalBlocks& blocks, double target_acceptance,
                       const std::vector<ChainPlan>& plans, int dim_unconstrained, std::int64_t warmup,
                       std::size_t num_rows);

  /// The step size changes after single steps at first. Later it changes after a twentieth of the number of
  /// steps since it was last restarted, so that chains wait for each other less often. If chains share the
  /// length of their trajectories, no chain has to wait, and every window is one step.
  std::vector<std::int64_t> window_ends(std::int64_t warmup) const override;
  void begin_warmup(std::int64_t warmup) override;
  const std::vector<double>& adapted() const override { return adapted_; }
  std::int64_t stride(std::int64_t begin, std::int64_t end) const override;
  void add_point(int chain, std::span<const double> u, double log_density) override;
  void end_window(std::int64_t end, const WindowCounts& counts) override;
  bool is_trying() const override;
  void tried(std::span<const double> acceptance) override;
  /// Change of the log step size over the second half of the final buffer.
  std::vector<double> drift() const override;
  std::vector<double> save() const override;
  void restore(std::span<const double> saved) override;

 private:
  enum class Search { none, first, longer, shorter };

  double& log_step(std::size_t group);
  double* numbers_of(std::size_t group);
  bool has_metric(std::size_t group) const;
  double greatest_log_step(std::size_t group) const;
  double final_log_step(std::size_t group);
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
  bool has_trees_;
  double target_acceptance_;
  std::vector<std::size_t> group_of_chain_;
  std::vector<std::size_t> place_of_chain_;  ///< index of each chain in its group
  std::size_t num_groups_ = 1;
  std::int64_t warmup_;
  MetricWindows windows_;
  std::vector<double> adapted_;
  std::vector<Search> search_;  ///< [num_groups]; Search::none except while step sizes are searched for,
                                ///< between the steps of the chains
  // Dual averaging, [num_groups] each: the log step size towards which it shrinks, the mean of target less
  // acceptance, the mean log step size, and the number of updates.
  std::vector<double> mu_, error_, mean_, updates_;
  std::vector<double>
      late_;  ///< [num_groups] mean log step size in the middle of the final buffer; NaN before
  // Moments of points relative to their chain's first point, since the metric was last learnt.
  std::vector<double> first_, sum_;  ///< num_chains x dim_unconstrained
  std::vector<double> count_;        ///< [num_chains]
  std::vector<double> cross_;        ///< num_groups x squares, or products for a dense metric
  std::optional<LengthAdaptation> length_;
  std::vector<double> is_bounded_;  ///< [1] whether the length is bounded because no metric has been learnt;
                                    ///< empty if the kind has no such bound

  template <class Self>  // const or not
  static auto saved_parts(Self& self) {
    std::vector parts{&self.adapted_, &self.mu_,  &self.error_, &self.mean_,  &self.updates_,   &self.late_,
                      &self.first_,   &self.sum_, &self.count_, &self.cross_, &self.is_bounded_};
    if (self.length_)
      for (auto* part : LengthAdaptation::saved_parts(*self.length_)) parts.push_back(part);
    return parts;
  }
};

}  // namespace emomc
