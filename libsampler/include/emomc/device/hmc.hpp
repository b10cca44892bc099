// Hamiltonian Monte Carlo (Duane et al. 1987; Neal 2011) and the Metropolis-adjusted Langevin algorithm
// (Besag 1994; Roberts and Tweedie 1996), which is the special case of a single leapfrog.
#ifndef EMOMC_DEVICE_HMC_HPP
#define EMOMC_DEVICE_HMC_HPP

#include "emomc/device/trajectory.hpp"

namespace emomc::device {

/// A trajectory of as many leapfrogs as Length::begin(t, state) sets, whose end point is accepted or
/// rejected.
template <class Length>
struct FixedTrajectory : TrajectoryPhase {
  static constexpr bool has_divergences = Length::has_divergences;
  static constexpr TrajectoryLength length = Length::kind;

  template <class Team>
  EMOMC_HD static void begin(const Team&, const Trajectory& t, TrajectoryState& state) {
    Length::begin(t, state);
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

/// Divides an integration time into leapfrogs of equal times, none longer than the adapted step size. The
/// time must not depend on the chain's point.
EMOMC_INLINE void divide(double time, const Trajectory& t, TrajectoryState& state) {
  const double most = kMostLeapfrogs, leapfrogs = time / t.step_size;
  state.length = leapfrogs < most ? 1 + static_cast<int>(leapfrogs) : kMostLeapfrogs;
  const double h = time / state.length;
  state.leapfrog = leapfrog_factors(t, h < t.step_size ? h : t.step_size);
}

/// The integration time is uniform on an interval, in units in which the metric is the identity.
struct JitteredLength {
  static constexpr TrajectoryLength kind = TrajectoryLength::bounded;
  static constexpr bool has_divergences = true;

  /// The interval if the metric has been learnt. For a normal target with the metric's covariance, the ends
  /// of a trajectory have the correlation E cos(time) = -0.15, and their squares E cos^2(time) = 0.14. (With
  /// times uniform on (0, pi) these are 0 and 0.5.) The interval is wide enough that no period of a direction
  /// is always a multiple of the time.
  static constexpr double kShortest = 0.35 * 3.141592653589793, kLongest = 0.75 * 3.141592653589793;

  EMOMC_INLINE static void begin(const Trajectory& t, TrajectoryState& state) {
    const double share = t.random.uniform(Purpose::length, 0);
    const double time = t.has_metric ? kShortest + share * (kLongest - kShortest) : share * t.length[0];
    divide(time, t, state);
  }
};

/// The acceptance target is above the optimum of usual leapfrogs, 0.651: where fitted leapfrogs are almost
/// always accepted, a low mean comes from the regions in which they are not, and chains would be stuck there.
struct Hmc {
  static constexpr const char* name = "hmc";
  static constexpr ShapeLearning learning = ShapeLearning::as_asked;
  using Phases = Schedule<FixedTrajectory<JitteredLength>>;
  static constexpr double target_acceptance = 0.9;
};

struct OneLeapfrog {
  static constexpr TrajectoryLength kind = TrajectoryLength::own;
  static constexpr bool has_divergences = false;
  EMOMC_INLINE static void begin(const Trajectory&, TrajectoryState& state) { state.length = 1; }
};

/// The acceptance target is the optimal rate in many dimensions (Roberts and Rosenthal 1998).
struct Mala {
  static constexpr const char* name = "mala";
  static constexpr ShapeLearning learning = ShapeLearning::as_asked;
  using Phases = Schedule<FixedTrajectory<OneLeapfrog>>;
  static constexpr double target_acceptance = 0.574;
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_HMC_HPP
