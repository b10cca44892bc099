// Computes a candidate in two parts: theta, which is all that its likelihood needs, and the log densities of
// its prior and transform, which only the acceptance needs. The bits are those of constrain_with_prior() and
// constrain_neighbour(), for tables without covariances and sampled arguments (EMOMC_PLAIN_TABLE).
#ifndef EMOMC_DEVICE_CANDIDATE_PARTS_HPP
#define EMOMC_DEVICE_CANDIDATE_PARTS_HPP

#include "emomc/device/neighbour.hpp"

namespace emomc::device {

/// Whether all simplices are small enough to be constrained by one warp.
EMOMC_INLINE bool has_small_simplices(const ParameterTable& table) {
  for (int s = 0; s < table.num_simplices; ++s)
    if (table.simplices[s].size > kMostLanes) return false;
  return true;
}

/// The first part: writes theta, and writes to sums[num_simplices] the sums of simplices that the second part
/// needs, for simplices that may differ. If the whole point may differ, `known.terms` may be null. A sync
/// must follow.
template <class Team>
EMOMC_HD void constrain_values(const Team& team, const ParameterTable& table, const double* u, double* theta,
                               const Neighbour& known, SimplexSums* sums) {
  const bool new_simplices = simplices_may_differ(table, known);
  // A simplex takes about as long as all other elements: one warp computes it, the other warps the elements.
  const int aside = new_simplices && team.size() > kMostLanes && has_small_simplices(table) ? kMostLanes : 0;
  if (new_simplices && (aside == 0 || team.rank() < aside)) {
    for (int s = 0; s < table.num_simplices; ++s) {
      const SimplexSums of_block = constrain_simplex(team, table, table.simplices[s], u, theta);
      if (team.rank() == 0) sums[s] = of_block;
    }
  }
  if (team.rank() < aside) return;
  EMOMC_ROLLED
  for (int i = team.rank() - aside; i < table.dim; i += team.size() - aside) {
    if (!known.may_differ(i)) {
      if (theta != known.theta) theta[i] = known.theta[i];
      continue;
    }
    const Element e = table.elements[i];
    constrain_at(e, i, u, theta, known.u, known.theta);
  }
}

/// The second part, after the first and a sync; writes the point's own terms unless `terms` is null.
template <class Team>
EMOMC_HD PointDensities densities_of_values(const Team& team, const ParameterTable& table, const double* u,
                                            const double* theta, const Neighbour& known,
                                            const SimplexSums* sums, PointTerms* terms) {
  double simplices = 0;
  if (simplices_may_differ(table, known)) {
    for (int s = 0; s < table.num_simplices; ++s)
      simplices += simplex_log_jacobian(table.simplices[s], sums[s]);
  } else if (table.num_simplices > 0) {
    simplices = known.terms->simplices;
  }
  TwoSums lane{0, 0};
  bool differs = false;
  EMOMC_ROLLED
  for (int i = team.rank(); i < table.dim; i += team.size()) differs = differs || known.may_differ(i);
  if (differs) {
    EMOMC_ROLLED
    for (int i = team.rank(); i < table.dim; i += team.size()) {
      const Element e = table.elements[i];
      double log_jacobian = 0;
      // The element is computed from its value, so that the exponential is not computed again.
      if (e.transform != Transform::simplex)
        constrain_element(e, u, e.transform == Transform::lower_bound ? u[e.source] : 0.0, theta[i],
                          log_jacobian);
      lane.a += log_jacobian;
      lane.b += log_density_term_at(table, e, u, theta[i]);
    }
  } else if (team.rank() < table.dim) {
    lane = known.terms->lanes[team.rank()];
  }
  if (terms) {
    if (team.rank() == 0) terms->simplices = simplices;
    terms->lanes[team.rank()] = lane;
  }
  const TwoSums total = team.sum_of_lanes(lane);
  return {total.a + simplices, table.log_prior_constant + total.b};
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_CANDIDATE_PARTS_HPP
