// Hamiltonian Monte Carlo with a trajectory length that many chains share and learn together (Hoffman, Radul
// and Sountsov 2021, "An adaptive MCMC scheme for setting trajectory lengths in Hamiltonian Monte Carlo").
// During warm-up the length is adapted to maximise the expected change of the squared distance from the
// posterior's centre (ChEES, equation 6 there); the host's part is in length_adaptation.hpp.
#ifndef EMOMC_DEVICE_CHEES_HPP
#define EMOMC_DEVICE_CHEES_HPP

#include "emomc/device/hmc.hpp"

namespace emomc::device {

/// Returns element `index` of the van der Corput sequence in base 2, which is Halton's in one dimension: 1/2,
/// 1/4, 3/4, 1/8, ... from index 1 on.
EMOMC_INLINE double van_der_corput(u64 index) {
  double value = 0, digit = 0.5;
  EMOMC_ROLLED
  for (; index != 0; index >>= 1, digit *= 0.5)
    if (index & 1) value += digit;
  return value;
}

/// Returns the length of a step's trajectories as a share of the learnt length. The share is a function of
/// the step alone, not of the state and not of the chain, so that all chains of a group take equally many
/// leapfrogs.
EMOMC_INLINE double share_of_length(i64 step) { return van_der_corput(static_cast<u64>(step) + 1); }

struct LearntLength {
  static constexpr TrajectoryLength kind = TrajectoryLength::learnt;
  static constexpr bool has_divergences = true;
  EMOMC_INLINE static void begin(const Trajectory& t, TrajectoryState& state) {
    divide(share_of_length(t.step) * exp(t.length[0]), t, state);
  }
};

/// A trajectory of the learnt length.
struct LearntTrajectory : FixedTrajectory<LearntLength> {
  template <class Team>
  EMOMC_HD static bool decide(const Team& team, const Trajectory& t, TrajectoryState& state,
                              const Arrival& arrival) {
    if (is_finite(arrival.energy) && state.num_leapfrogs == state.length)
      state.length_slope = acceptance_of(arrival.error) * slope_of_criterion(team, t);
    return FixedTrajectory::decide(team, t, state, arrival);
  }

 private:
  /// Returns the derivative of (|y'|^2 - |y|^2)^2 / 4 with respect to the learnt length, where y is the
  /// chain's current point and y' the moving one, relative to the centre, in units of the metric's sds. y'
  /// depends on the length through the velocity.
  template <class Team>
  EMOMC_HD static double slope_of_criterion(const Team& team, const Trajectory& t) {
    const Metric& metric = t.metric;
    const double *centre = t.length + 1, *from = t.rows.current_u, *to = t.rows.u;
    const bool dense = metric.shape == IncrementShape::dense;
    team.sync();
    if (dense) lower_multiply(team, metric.factor, metric.n, t.x.momentum, t.x.work);
    team.sync();
    const double* q = t.x.momentum;
    const double* moved = t.x.work;
    const TwoSums sums = team.sum_two(metric.n, [=](int i) {
      const double sd = metric.sd[i], y = (from[i] - centre[i]) / sd, y_new = (to[i] - centre[i]) / sd;
      const double velocity = dense ? moved[i] / sd : q[i];
      return TwoSums{y_new * y_new - y * y, y_new * velocity};
    });
    return share_of_length(t.step) * sums.a * sums.b;
  }
};

/// The acceptance target is a little below that of hmc, because it concerns the harmonic mean.
struct Chees {
  static constexpr const char* name = "chees";
  static constexpr ShapeLearning learning = ShapeLearning::as_asked;
  using Phases = Schedule<LearntTrajectory>;
  static constexpr double target_acceptance = 0.8;
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_CHEES_HPP
