// Learns the length of trajectories that the chains of a group share, by the ChEES criterion (Hoffman, Radul
// and Sountsov 2021): stochastic gradient ascent by Adam on the logarithm of the length, once per step.
// Differences from the paper: docs/decisions/gradient-samplers.md.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "emomc/device/proposal.hpp"

namespace emomc {

class LengthAdaptation {
 public:
  LengthAdaptation(const device::AdaptedLayout& layout, std::size_t num_groups);

  /// Writes the length and the centre to `numbers`, the group's adapted numbers, which the chains read.
  void write(std::size_t group, double* numbers) const;
  /// Sets the length to some leapfrogs of this step size until it is learnt; later keeps it within bounds.
  void follow(std::size_t group, double log_step);
  /// Restarts the mean at which the length will be fixed.
  void begin_mean();
  /// Adds a chain's point after the step; move_centre() then moves the centre towards the points.
  void add_point(std::size_t group, std::span<const double> u);
  void move_centre(std::size_t group);
  /// Updates the length after a step: `slope` is the sum of the chains' length slopes, `acceptance` that of
  /// their acceptances.
  void update(std::size_t group, double slope, double acceptance, double log_step);
  /// Adapts the length to a metric that has changed from sds `before` to `after`, [n] each. The length is in
  /// units of the sds: with the first metric it is set to the best value for a normal density with these sds;
  /// later it is preserved for the direction that has become widest.
  void change_metric(std::size_t group, std::span<const double> before, std::span<const double> after);
  /// Fixes the length at the mean of its logarithms.
  void finish(std::size_t group, double log_step);
  double log_length(std::size_t group) const { return log_length_[group]; }

  /// Returns everything on which later steps depend.
  template <class Self>  // const or not
  static auto saved_parts(Self& self) {
    return std::array{&self.log_length_, &self.square_, &self.updates_, &self.mean_,  &self.averaged_,
                      &self.centre_,     &self.known_,  &self.sum_,     &self.count_, &self.has_metric_};
  }

 private:
  void keep_in_bounds(std::size_t group, double log_step);

  device::AdaptedLayout layout_;
  std::size_t dim_;
  std::vector<double> has_metric_;  ///< [num_groups] 1 after a metric has been learnt
  // [num_groups] each. Adam's mean square of slopes and its number of updates; the mean of log lengths and
  // its number of updates.
  std::vector<double> log_length_, square_, updates_, mean_, averaged_;
  std::vector<double> centre_;       ///< num_groups x dim: estimated centre of the chains' points
  std::vector<double> known_;        ///< [num_groups] 1 after a centre has been computed
  std::vector<double> sum_, count_;  ///< num_groups x dim, [num_groups]: sum and number of the points after
                                     ///< the step
};

/// Returns the harmonic mean of the acceptance probabilities of a group's chains. Probabilities below 0.001
/// count as 0.001, so that a single chain whose trajectories all fail does not make the step size of the
/// others tiny.
double harmonic_mean(std::span<const double> acceptance, std::span<const std::size_t> group_of_chain,
                     std::size_t group);

}  // namespace emomc
