// Hamiltonian Monte Carlo (Duane et al. 1987; Neal 2011) and the Metropolis-adjusted Langevin algorithm
// (Besag 1994; Roberts and Tweedie 1996), which is the special case of a single leapfrog.
#ifndef EMOMC_DEVICE_HMC_HPP
#define EMOMC_DEVICE_HMC_HPP

#include "emomc/device/trajectory.hpp"

namespace emomc::device {

/// A trajectory of Length::leapfrogs(t) leapfrogs, whose end point is accepted or rejected.
template <class Length>
struct FixedTrajectory {
  static constexpr bool has_tree = false, has_divergences = true;
  static constexpr TrajectoryLength length = Length::kind;

  template <class Team>
  EMOMC_HD static void begin(const Team&, const Trajectory& t, TrajectoryState& state) {
    state.length = Length::leapfrogs(t);
  }

  /// A point without a finite energy ends the trajectory and leads to rejection, wherever it is: the reversed
  /// trajectory would reach this point too. A large energy on the way does not, because it depends on the end
  /// from which the trajectory starts.
  template <class Team>
  EMOMC_HD static bool decide(const Team& team, const Trajectory& t, TrajectoryState& state,
                              const Arrival& arrival) {
    if (!is_finite(arrival.energy)) return false;
    if (state.num_leapfrogs < state.length) return true;
    state.acceptance = acceptance_of(arrival.error);
    if (log(t.random.uniform(Purpose::acceptance, 0)) < -arrival.error)
      take(team, t, state, t.rows.u, t.x.moving_gradient, arrival.densities, arrival.energy);
    return false;
  }

  EMOMC_INLINE static double acceptance(const TrajectoryState& state) { return state.acceptance; }
};

/// The integration time is uniform on (0, longest), in units in which the metric is the identity. The longest
/// time is pi once there is a metric: for a normal target with the metric's covariance the points at both
/// ends then have the correlation E cos(time) = 0. The number of leapfrogs is a function of a random number
/// and of adapted numbers alone, not of the state.
struct JitteredLength {
  static constexpr TrajectoryLength kind = TrajectoryLength::bounded;
  EMOMC_INLINE static int leapfrogs(const Trajectory& t) {
    const double length = t.random.uniform(Purpose::length, 0) * (t.length[0] / t.step_size);
    return length < kMostLeapfrogs ? 1 + static_cast<int>(length) : kMostLeapfrogs;
  }
};

struct Hmc : FixedTrajectory<JitteredLength> {
  static constexpr const char* name = "hmc";
  static constexpr double target_acceptance = 0.8;
};

struct OneLeapfrog {
  static constexpr TrajectoryLength kind = TrajectoryLength::own;
  EMOMC_INLINE static int leapfrogs(const Trajectory&) { return 1; }
};

/// The acceptance target is the optimal rate in many dimensions (Roberts and Rosenthal 1998).
struct Mala : FixedTrajectory<OneLeapfrog> {
  static constexpr const char* name = "mala";
  static constexpr bool has_divergences = false;
  static constexpr double target_acceptance = 0.574;
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_HMC_HPP
