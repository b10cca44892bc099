// The No-U-Turn sampler (Hoffman and Gelman 2014) with multinomial draws from the trajectory, biased
// progressive draws between its halves, and the generalised criterion of a turn (Betancourt 2017, "A
// conceptual introduction to Hamiltonian Monte Carlo", appendix A). As in Stan, the criterion is also checked
// across the borders of subtrees.
//
// A new subtree of 2^depth points is built without recursion, one point at a time (compare Phan, Pradhan and
// Jankowiak 2019, "Composable effects for flexible and accelerated probabilistic programming in NumPyro").
// Level k stores the latest complete subtree of 2^k points that has no right neighbour yet. A point completes
// as many levels as its number has trailing one bits, like a carry in a binary counter.
#ifndef EMOMC_DEVICE_NUTS_HPP
#define EMOMC_DEVICE_NUTS_HPP

#include "emomc/device/exponentials.hpp"
#include "emomc/device/trajectory.hpp"

namespace emomc::device {

/// Whether two neighbouring arcs of a trajectory turn when they are joined: the product of the sum of the
/// momenta with the momentum at one of its ends is not positive, for the whole, or for one arc with the
/// nearest point of the other.
template <class Team>
EMOMC_HD bool turns(const Team& team, int n, const Arc& left, const Arc& right) {
  const Sums<6> sums = team.template sum_many<6>(n, [=](int i) {
    const double whole = left.sum[i] + right.sum[i];
    const double left_and_next = left.sum[i] + right.first[i], right_and_last = left.last[i] + right.sum[i];
    return Sums<6>{whole * left.first[i],         whole * right.last[i],
                   left_and_next * left.first[i], left_and_next * right.first[i],
                   right_and_last * left.last[i], right_and_last * right.last[i]};
  });
  for (const double sum : sums.of)
    if (!(sum > 0)) return true;
  return false;
}

/// A trajectory that is doubled until it turns.
struct Tree : TrajectoryPhase {
  static constexpr bool has_tree = true;

  template <class Team>
  EMOMC_HD static void begin(const Team& team, const Trajectory& t, TrajectoryState& state) {
    const int n = t.metric.n;
    for (int end = 0; end < 2; ++end) keep_end(team, t, end);
    copy(team, t.x.momentum, t.x.sum, n);
    state.log_weight = 0;
    begin_subtree(team, t, state);
  }

  template <class Team>
  EMOMC_HD static bool decide(const Team& team, const Trajectory& t, TrajectoryState& state,
                              const Arrival& arrival) {
    state.acceptance += acceptance_of(arrival.error);
    if (state.divergent) return false;
    choose_in_subtree(team, t, state, arrival);
    if (add_to_levels(team, t, state.leaf)) return false;
    if (++state.leaf < 1 << state.depth) return true;
    const bool turned = join_subtree(team, t, state);
    if (turned || state.depth == kMostDoublings) return false;
    begin_subtree(team, t, state);
    return true;
  }

  EMOMC_INLINE static double acceptance(const TrajectoryState& state) {
    return state.acceptance / state.num_leapfrogs;
  }

 private:
  EMOMC_INLINE static int end_of(const TrajectoryState& state) { return state.direction > 0 ? 1 : 0; }

  /// Sets the moving point to the end of the tree in a random direction of time.
  template <class Team>
  EMOMC_HD static void begin_subtree(const Team& team, const Trajectory& t, TrajectoryState& state) {
    const int n = t.metric.n;
    const bool forward = t.random.uniform(Purpose::direction, static_cast<u32>(state.depth)) < 0.5;
    state.direction = forward ? 1 : -1;
    state.leaf = 0;
    state.subtree_log_weight = -kInfinity;
    const int end = end_of(state);
    copy_together(team, n,
                  {{t.x.end_u(end, n), t.rows.u},
                   {t.x.end_momentum(end, n), t.x.momentum},
                   {t.x.end_gradient(end, n), t.x.moving_gradient}});
  }
  /// Stores the moving point as the given end of the tree.
  template <class Team>
  EMOMC_HD static void keep_end(const Team& team, const Trajectory& t, int end) {
    const int n = t.metric.n;
    copy_together(team, n,
                  {{t.rows.u, t.x.end_u(end, n)},
                   {t.x.momentum, t.x.end_momentum(end, n)},
                   {t.x.moving_gradient, t.x.end_gradient(end, n)}});
  }

  /// Replaces the subtree's proposal by the new point with a probability equal to the point's share of the
  /// weight so far, so that in the end each point is chosen with probability proportional to its weight.
  template <class Team>
  EMOMC_HD static void choose_in_subtree(const Team& team, const Trajectory& t, TrajectoryState& state,
                                         const Arrival& arrival) {
    const double log_weight = -arrival.error;
    state.subtree_log_weight = log_sum_exp(state.subtree_log_weight, log_weight);
    const double log_uniform =
        log(t.random.uniform(Purpose::tree_choice, static_cast<u32>(state.num_leapfrogs)));
    if (state.leaf > 0 && !(log_uniform < log_weight - state.subtree_log_weight)) return;
    copy_together(team, t.metric.n,
                  {{t.rows.u, t.x.proposal_u}, {t.x.moving_gradient, t.x.proposal_gradient}});
    state.proposal = arrival.densities;
    state.proposal_energy = arrival.energy;
  }

  /// Joins the moving point, number `leaf` of the new subtree, with the levels that it completes. Returns
  /// whether a subtree turns.
  template <class Team>
  EMOMC_HD static bool add_to_levels(const Team& team, const Trajectory& t, int leaf) {
    const int n = t.metric.n;
    copy(team, t.x.momentum, t.x.work, n);
    Arc right{t.x.momentum, t.x.momentum, t.x.work};
    int level = 0;
    for (; (leaf >> level) & 1; ++level) {
      const Arc left = t.x.level(level, n);
      if (turns(team, n, left, right)) return true;
      EMOMC_ROLLED
      for (int i = team.rank(); i < n; i += team.size()) t.x.work[i] += left.sum[i];
      right.first = left.first;
    }
    copy_together(team, n,
                  {{right.first, t.x.level_first(level, n)},
                   {right.last, t.x.level_last(level, n)},
                   {right.sum, t.x.level_sum(level, n)}});
    return false;
  }

  /// Joins the complete new subtree with the tree. Returns whether the two turn.
  template <class Team>
  EMOMC_HD static bool join_subtree(const Team& team, const Trajectory& t, TrajectoryState& state) {
    const int n = t.metric.n, end = end_of(state);
    const double log_uniform = log(t.random.uniform(Purpose::join_choice, static_cast<u32>(state.depth)));
    if (log_uniform < state.subtree_log_weight - state.log_weight)
      take(team, t, state, t.x.proposal_u, t.x.proposal_gradient, state.proposal, state.proposal_energy);
    state.log_weight = log_sum_exp(state.log_weight, state.subtree_log_weight);
    const Arc tree{t.x.end_momentum(1 - end, n), t.x.end_momentum(end, n), t.x.sum};
    const Arc subtree = t.x.level(state.depth, n);
    const bool turned = turns(team, n, tree, subtree);
    EMOMC_ROLLED
    for (int i = team.rank(); i < n; i += team.size()) t.x.sum[i] += subtree.sum[i];
    keep_end(team, t, end);
    ++state.depth;
    return turned;
  }
};

/// The acceptance target is above Stan's 0.8 for the same reason as that of hmc.
struct Nuts {
  static constexpr const char* name = "nuts";
  static constexpr ShapeLearning learning = ShapeLearning::as_asked;
  using Phases = Schedule<Tree>;
  static constexpr double target_acceptance = 0.9;
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_NUTS_HPP
