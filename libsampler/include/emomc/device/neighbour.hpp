// Computes a candidate that shares most of its elements with a point whose terms are known. The result has
// the same bits as propose() and the likelihood's prepare(), but only the changed terms are computed. For
// teams whose members are the lanes of their sums (BlockTeams).
#ifndef EMOMC_DEVICE_NEIGHBOUR_HPP
#define EMOMC_DEVICE_NEIGHBOUR_HPP

#include "emomc/device/metropolis.hpp"

namespace emomc::device {

/// The terms whose sums are the densities of a point.
struct PointTerms {
  TwoSums lanes[kTeamLanes];  ///< log Jacobian and log prior, summed over each lane's elements
  double simplices;           ///< log Jacobian of the simplices
};

/// Describes a point by a known one: elements of theta outside [first, end) are those of the known point,
/// given by `u`, `theta` and `terms`.
struct Neighbour {
  const double *u, *theta;
  const PointTerms* terms;
  int first, end;
  EMOMC_INLINE bool may_differ(int i) const { return i >= first && i < end; }
};

EMOMC_INLINE bool simplices_may_differ(const ParameterTable& table, const Neighbour& known) {
  for (int s = 0; s < table.num_simplices; ++s) {
    const SimplexBlock& block = table.simplices[s];
    if (known.first < block.begin + block.size && known.end > block.begin) return true;
  }
  return false;
}

/// Computes constrain_with_prior for a point near a known one; writes theta and the point's own terms.
template <class Team>
EMOMC_HD PointDensities constrain_neighbour(const Team& team, const ParameterTable& table, const double* u,
                                            double* theta, const Neighbour& known, PointTerms& terms) {
  const PriorTerms prior_term{&table};
  const bool new_simplices = simplices_may_differ(table, known);
  // If there are no simplices, known.terms->simplices has never been written.
  const bool no_simplices = table.num_simplices == 0;
  const double simplices = no_simplices    ? 0.0
                           : new_simplices ? constrain_simplices(team, table, u, theta)
                                           : known.terms->simplices;
  if (team.rank() == 0) terms.simplices = simplices;
  TwoSums lane{0, 0};
  bool differs = false;
  EMOMC_ROLLED
  for (int i = team.rank(); i < table.dim; i += team.size()) {
    if (known.may_differ(i))
      differs = true;
    else
      theta[i] = known.theta[i];
  }
  if (differs) {
    EMOMC_ROLLED
    for (int i = team.rank(); i < table.dim; i += team.size()) {
      const TwoSums x = constrain_and_term(table, i, u, theta, known.u, known.theta, prior_term);
      lane.a += x.a;
      lane.b += x.b;
    }
  } else if (team.rank() < table.dim) {
    lane = known.terms->lanes[team.rank()];
  }
  terms.lanes[team.rank()] = lane;
  TwoSums sums = team.sum_of_lanes(lane);
  if (num_covariance_rows(table) > 0) {
    const TwoSums rows = team.sum_two(num_covariance_rows(table), [=](int i) {
      return constrain_row(table.covariance_rows[i], table.elements, u, theta, prior_term);
    });
    sums = {sums.a + rows.a, sums.b + rows.b};
  }
  sums.a += simplices;
  double log_prior = table.log_prior_constant + sums.b;
  if (num_conditionals(table) > 0) {
    team.sync();  // arguments may be elements that other members have written
    log_prior += conditional_log_prior(team, table, theta);
  }
  return {sums.a, log_prior};
}

/// Computes propose() for a candidate that differs from the point at `from` only in the block's elements.
template <class Proposal, class Team>
EMOMC_HD Candidate propose_neighbour(const Team& team, const StepView& v, int chain,
                                     const InnovationView& adapted, const Neighbour& from, const Workspace& w,
                                     double* u, double* theta, PointTerms& terms) {
  const double log_q = apply_innovation<Proposal>(team, v, chain, adapted, {from.u, from.theta}, w, u, theta);
  const PointDensities densities = constrain_neighbour(team, w.table, u, theta, from, terms);
  return {u, theta, log_q, densities.log_jacobian, densities.log_prior};
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_NEIGHBOUR_HPP
