// Gradient samplers: a draw moves along a trajectory of Hamiltonian dynamics, one leapfrog at a time. Each
// leapfrog consists of a phase `propose`, which writes the point to be evaluated, an evaluation of density
// and gradient at that point, and a phase `decide`. Chains do not wait for each other: a chain whose
// trajectory is short continues with its next draw, up to the last step of the segment.
//
// A phase of a schedule (hmc.hpp, nuts.hpp) defines what is done with a point:
//
//   begin(team, t, state)            called at the beginning of a draw; the moving point is the current one
//   decide(team, t, state, arrival)  returns whether the trajectory continues from the moving point
//   acceptance(state)                the statistic by which the step size is adapted
//
// The proposal's type has a target_acceptance, too. Every member of a team has the same TrajectoryState in
// registers and makes the same decisions.
#ifndef EMOMC_DEVICE_TRAJECTORY_HPP
#define EMOMC_DEVICE_TRAJECTORY_HPP

#include "emomc/device/acceptance.hpp"
#include "emomc/device/constrain.hpp"
#include "emomc/device/gradient.hpp"
#include "emomc/device/trajectory_view.hpp"

namespace emomc::device {

/// The properties of an ordinary phase with gradients, from which such phases inherit.
struct TrajectoryPhase : Phase {
  static constexpr Need need = Need::gradient;
  static constexpr bool has_divergences = true;  ///< whether a large error on the way counts as a divergence;
                                                 ///< for a single leapfrog it is only a rejection
  static constexpr TrajectoryLength length = TrajectoryLength::own;
};

/// Returns the log density in u; finite only if all its parts are.
EMOMC_INLINE double log_density_of(const LogDensities& densities, double beta) {
  const double sum = densities.likelihood + densities.prior + densities.jacobian;
  return is_finite(sum) ? beta * densities.likelihood + densities.prior + densities.jacobian : sum;
}

/// Densities and energy of the moving point, after its density and gradient have been evaluated.
struct Arrival {
  LogDensities densities;
  double energy;  ///< infinite if the point has no finite density
  double error;   ///< energy less the initial energy
};

/// Returns the factors of leapfrogs of time h.
EMOMC_INLINE LeapfrogFactors leapfrog_factors(const Trajectory& t, double h) {
  return t.has_metric ? fitted_factors(h) : plain_factors(h);
}

/// Phase `propose`: the first half of a leapfrog from the moving point, in the direction of time of `state`.
template <class Team>
EMOMC_HD void propose(const Team& team, const TrajectoryView& v, const Trajectory& t,
                      const TrajectoryState& state) {
  team.sync();
  kick(team, t.metric, t.x.moving_gradient, state.direction * state.leapfrog.half_kick, t.x.momentum);
  drift(team, t.metric, t.x.momentum, state.direction * state.leapfrog.drift, t.rows.u, t.x.work);
  team.sync();
  const PointDensities densities = constrain_with_prior(team, t.rows.table, t.rows.u, t.rows.theta);
  if (team.rank() == 0) {
    v.step.candidate.log_prior[t.chain] = densities.log_prior;
    v.step.candidate.log_jacobian[t.chain] = densities.log_jacobian;
  }
}

template <class Team>
EMOMC_HD bool all_finite(const Team& team, const double* x, int n) {
  return team.sum(n, [=](int i) { return is_finite(x[i]) ? 0.0 : 1.0; }) == 0;
}

/// Computes the second half of a leapfrog, and the energy. A density of NaN or plus infinity is a fault if
/// the parameters are finite, as is a gradient that is not finite at a finite density.
template <class Team>
EMOMC_HD Arrival arrive(const Team& team, const TrajectoryView& v, const Trajectory& t,
                        TrajectoryState& state) {
  const int n = t.metric.n;
  Arrival arrival{densities_of(v.step.candidate, t.chain), kInfinity, kInfinity};
  ++state.num_leapfrogs;
  const double log_density = log_density_of(arrival.densities, t.beta);
  if (is_finite(log_density)) {
    gradient_of_density(team, t.rows.table, t.rows.u, t.rows.theta,
                        v.likelihood_gradient + static_cast<i64>(t.chain) * v.step.ld, t.beta,
                        v.scratch + static_cast<i64>(t.chain) * v.ld_scratch, t.x.moving_gradient);
    team.sync();
    kick(team, t.metric, t.x.moving_gradient, state.direction * state.leapfrog.half_kick, t.x.momentum);
    const double energy = kinetic_energy(team, n, t.x.momentum) - log_density;
    if (is_finite(energy))
      arrival.energy = energy;
    else if (!all_finite(team, t.x.moving_gradient, n))
      state.fault = 1;
  } else if (log_density != -kInfinity && all_finite(team, t.rows.theta, v.step.table.dim)) {
    state.fault = 1;
  }
  arrival.error = arrival.energy - state.initial_energy;
  if (!(arrival.error <= kDivergentError)) state.divergent = 1;
  return arrival;
}

/// Returns min(1, exp(-error)).
EMOMC_INLINE double acceptance_of(double error) { return error <= 0 ? 1.0 : exp(-error); }

/// Makes the given point the current one: u and gradient. Its theta is written at the end of the draw.
template <class Team>
EMOMC_HD void take(const Team& team, const Trajectory& t, TrajectoryState& state, const double* u,
                   const double* gradient, const LogDensities& densities, double energy) {
  copy_together(team, t.metric.n, {{u, t.rows.current_u}, {gradient, t.x.gradient}});
  state.sample = densities;
  state.sample_energy = energy;
  state.moved = 1;
}

/// Computes the gradient at the current point, after the likelihood's gradient has been evaluated there.
template <class Team>
EMOMC_HD void begin_chain(const Team& team, const TrajectoryView& v, int chain) {
  const Trajectory t = trajectory_of(v, chain, v.step.step[chain]);
  gradient_of_density(team, t.rows.table, t.rows.current_u, t.rows.current_theta,
                      v.likelihood_gradient + static_cast<i64>(chain) * v.step.ld, t.beta,
                      v.scratch + static_cast<i64>(chain) * v.ld_scratch, t.x.gradient);
}

/// Returns the state at the beginning of a trajectory from the current point with a new momentum.
template <class Team>
EMOMC_HD TrajectoryState begin_trajectory(const Team& team, const Trajectory& t, Purpose purpose,
                                          const LogDensities& current) {
  const int n = t.metric.n;
  team.sync();
  draw_momentum(team, t.random, purpose, n, t.x.momentum);
  copy_together(team, n, {{t.rows.current_u, t.rows.u}, {t.x.gradient, t.x.moving_gradient}});
  team.sync();
  TrajectoryState state{};
  state.initial_energy = kinetic_energy(team, n, t.x.momentum) - log_density_of(current, t.beta);
  state.sample = current;
  state.sample_energy = state.initial_energy;
  state.direction = 1;
  state.leapfrog = leapfrog_factors(t, t.step_size);
  return state;
}

/// Counts and records the draw that has ended.
template <class Moves, class Team>
EMOMC_HD void finish_draw(const Team& team, const TrajectoryView& v, const Trajectory& t,
                          const TrajectoryState& state) {
  const StepView& s = v.step;
  const i64 done = t.step + 1;
  if (state.moved) {
    team.sync();
    constrain(team, t.rows.table, t.rows.current_u, t.rows.current_theta);
    team.sync();
  }
  const RecordPlan plan = *s.record_plan;
  record_draw(team, s, t.chain, done, plan, t.rows, state.sample);
  if (team.rank() != 0) return;
  set_densities(s.current, t.chain, state.sample);
  s.step[t.chain] = done;
  s.accepted[t.chain] = state.moved ? 1 : 0;
  count_decision({true, state.moved != 0, state.fault != 0}, s.num_proposed[t.chain], s.num_accepted[t.chain],
                 s.num_faults[t.chain]);
  const double acceptance = Moves::acceptance(state);
  const int divergent = Moves::has_divergences ? state.divergent : 0;
  TrajectoryTotals& totals = v.totals[t.chain];
  totals.window_acceptance += acceptance;
  totals.window_length_slope += state.length_slope;
  totals.draws += 1;
  totals.acceptance += acceptance;
  totals.leapfrogs += state.num_leapfrogs;
  totals.divergences += divergent;
  totals.deepest += state.depth == kMostDoublings ? 1 : 0;
  const i64 slot = slot_of(plan, done);
  if (slot != kNoSlot)
    v.statistics[slot * s.num_chains + t.chain] = {
        t.step_size, acceptance, state.sample_energy, state.depth, state.num_leapfrogs, divergent, 0};
}

/// Begins the draw of step t.step + 1 from the current point; `propose` must follow.
template <class Moves, class Team>
EMOMC_HD TrajectoryState begin_draw(const Team& team, const Trajectory& t, const LogDensities& current) {
  TrajectoryState state = begin_trajectory(team, t, Purpose::momentum, current);
  Moves::begin(team, t, state);
  return state;
}

/// Begins the steps of a segment.
template <class Moves, class Team>
EMOMC_HD void begin_segment(const Team& team, const TrajectoryView& v, int chain) {
  const i64 step = v.step.step[chain];
  const bool goes_on = step < *v.until;
  if (team.rank() == 0) v.active[chain] = goes_on ? 1 : 0;
  if (!goes_on) return;
  const Trajectory t = trajectory_of(v, chain, step);
  const TrajectoryState state = begin_draw<Moves>(team, t, densities_of(v.step.current, chain));
  if (team.rank() == 0) v.states[chain] = state;
  propose(team, v, t, state);
}

/// Phase `decide` for the point that has been evaluated, then `propose` for the next point of this draw or of
/// the next draw. The chain rests after the segment's last step.
template <class Moves, class Team>
EMOMC_HD void advance(const Team& team, const TrajectoryView& v, int chain) {
  Trajectory t = trajectory_of(v, chain, v.step.step[chain]);
  TrajectoryState state = v.states[chain];
  team.sync();
  const Arrival arrival = arrive(team, v, t, state);
  if (!Moves::decide(team, t, state, arrival)) {
    finish_draw<Moves>(team, v, t, state);
    if (t.step + 1 >= *v.until) {
      if (team.rank() == 0) v.active[chain] = 0;
      return;
    }
    t = trajectory_of(v, chain, t.step + 1);
    state = begin_draw<Moves>(team, t, state.sample);
  }
  // Both cases share this call of propose(), which is most of the instructions of a kernel; few numbers are
  // in registers here.
  if (team.rank() == 0) v.states[chain] = state;
  propose(team, v, t, state);
}

/// Begins a single leapfrog from the current point, to find a step size; the chain does not move.
template <class Team>
EMOMC_HD void begin_trial(const Team& team, const TrajectoryView& v, int chain) {
  const Trajectory t = trajectory_of(v, chain, v.step.step[chain]);
  const TrajectoryState state =
      begin_trajectory(team, t, Purpose::trial, densities_of(v.step.current, chain));
  if (team.rank() == 0) v.states[chain] = state;
  propose(team, v, t, state);
}
/// Stores the acceptance probability of the trial's point in TrajectoryState::acceptance.
template <class Team>
EMOMC_HD void finish_trial(const Team& team, const TrajectoryView& v, int chain) {
  const Trajectory t = trajectory_of(v, chain, v.step.step[chain]);
  TrajectoryState state = v.states[chain];
  state.acceptance = acceptance_of(arrive(team, v, t, state).error);
  team.sync();
  if (team.rank() == 0) v.states[chain] = state;
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_TRAJECTORY_HPP
