// Maps unconstrained u to constrained theta and computes the log Jacobian, by a team.
#ifndef EMOMC_DEVICE_CONSTRAIN_HPP
#define EMOMC_DEVICE_CONSTRAIN_HPP

#include "emomc/device/angle.hpp"
#include "emomc/device/edge_of_support.hpp"
#include "emomc/device/log_prior.hpp"
#include "emomc/device/math.hpp"
#include "emomc/device/ordered_values.hpp"
#include "emomc/device/parameter_table.hpp"
#include "emomc/device/team.hpp"

namespace emomc::device {

/// Returns coordinate k of V u for the Helmert basis V. Column j = 1 .. size-1 of V has 1/sqrt(j(j+1)) in
/// places 0 .. j-1 and -j/sqrt(j(j+1)) in place j. `elements` are the block's.
EMOMC_INLINE double helmert_coordinate(const Element* elements, const double* u, int size, int k) {
  double y = 0;
  for (int j = size - 1; j > k; --j) y = EMOMC_FMA(u[j - 1], elements[j].width, y);
  return k > 0 ? EMOMC_FMA(-k * elements[k].width, u[k - 1], y) : y;
}

/// A known point that shares most of its elements with `u`; null if there is none. Exponentials of unchanged
/// elements are then not computed again; the result has the same bits.
struct KnownPoint {
  const double* u = nullptr;
  const double* theta = nullptr;
};

/// The sums from which a simplex block's part of the log Jacobian is computed.
struct SimplexSums {
  double top;    ///< the largest of the block's coordinates V u
  double total;  ///< sum of the coordinates' exponentials, each less the largest
};

/// Writes the weights of one simplex block. The coordinates V u sum to zero, so that the sum of the
/// logarithms of the weights is -size log(sum of the coordinates' exponentials). If there are at most
/// kMostLanes coordinates, not all warps of a team need to call this, but the first warp must.
template <class Team>
EMOMC_HD SimplexSums constrain_simplex(const Team& team, const ParameterTable& table,
                                       const SimplexBlock& block, const double* u, double* theta) {
  const Element* elements = table.elements + block.begin;
  double* y = theta + block.begin;
  if (block.size <= kMostLanes) {
    const auto coordinates = team.lanes(
        block.size, [=](int k) { return helmert_coordinate(elements, u + block.source, block.size, k); });
    const double top = team.max_of(coordinates, block.size);
    const auto powers = team.map(coordinates, block.size, [=](double c, int) { return exp(c - top); });
    const double total = team.sum_of(powers, block.size);
    team.store(team.map(powers, block.size, [=](double p, int) { return p / total; }), block.size, y);
    return {top, total};
  }
  const double top = team.max(
      block.size, [=](int k) { return y[k] = helmert_coordinate(elements, u + block.source, block.size, k); },
      -kInfinity);
  const double total = team.sum(block.size, [=](int k) { return y[k] = exp(y[k] - top); });
  EMOMC_ROLLED
  for (int k = team.rank(); k < block.size; k += team.size()) y[k] = y[k] / total;
  return {top, total};
}

/// Returns a block's part of the log Jacobian, for its first size - 1 elements as functions of u: sum_k log
/// theta_k + log(size) / 2.
EMOMC_INLINE double simplex_log_jacobian(const SimplexBlock& block, const SimplexSums& sums) {
  return block.half_log_size - block.size * (sums.top + log(sums.total));
}

/// Writes the weights of all simplex blocks and returns their part of the log Jacobian.
template <class Team>
EMOMC_HD double constrain_simplices(const Team& team, const ParameterTable& table, const double* u,
                                    double* theta) {
  double log_jacobian = 0;
  for (int s = 0; s < table.num_simplices; ++s) {
    const SimplexBlock block = table.simplices[s];
    log_jacobian += simplex_log_jacobian(block, constrain_simplex(team, table, block, u, theta));
  }
  if (table.num_simplices > 0) team.sync();
  return log_jacobian;
}

/// Returns bound + width / (1 + exp(-x)); adds the logarithm of the derivative to log_jacobian.
EMOMC_INLINE double interval_value(const Element& e, double x, double& log_jacobian) {
  const double t = exp(x < 0 ? x : -x);  // in (0, 1]: no overflow on either side
  log_jacobian += log(e.width) + (x < 0 ? x : -x) - 2.0 * log1p(t);
  return e.bound + e.width * ((x < 0 ? t : 1.0) / (1.0 + t));
}

/// Returns theta of one element that is in no simplex block; adds to the log Jacobian.
EMOMC_INLINE double constrain_element(const Element& e, const double* u, double known_u, double known_theta,
                                      double& log_jacobian) {
  switch (e.transform) {
    case Transform::fixed:
    case Transform::simplex:
    case Transform::covariance:
      return e.bound;
    case Transform::identity:
      return u[e.source];
    case Transform::lower_bound: {
      const double x = u[e.source];
      log_jacobian += x;
      return x == known_u ? known_theta : e.bound + exp(x);
    }
    case Transform::interval:
      return interval_value(e, u[e.source], log_jacobian);
    case Transform::ordered:
      if (e.rank > 0) log_jacobian += u[e.source];
      return ordered_value(e, u);
    case Transform::ordered_interval: {
      if (e.rank > 0) log_jacobian += u[e.source];
      return interval_value(e, ordered_value(e, u), log_jacobian);
    }
    case Transform::ordered_above: {
      double x = e.bound;
      EMOMC_ROLLED
      for (int r = 0; r <= e.rank; ++r) x += exp(u[e.source - (e.rank - r) * e.stride]);
      log_jacobian += u[e.source];
      return x;
    }
    case Transform::angle:
#if !EMOMC_PLAIN_TABLE
      log_jacobian += angle_log_jacobian(u[e.source], u[e.source + 1]);
      return angle_of(u[e.source], u[e.source + 1]);
#else
      break;
#endif
  }
  return 0.0;
}

/// A term per element that constrain_and_sum() adds up: none.
struct NoTerms {
  EMOMC_INLINE double operator()(const Element&, double) const { return 0.0; }
  EMOMC_INLINE double at(const Element&, const double*, double) const { return 0.0; }
};
/// A term per element that constrain_and_sum() adds up: the log prior, of an element with value x, or of an
/// element of theta at the point u.
struct PriorTerms {
  const ParameterTable* table;
  EMOMC_INLINE double operator()(const Element& e, double x) const { return log_density_term(e, x); }
  EMOMC_INLINE double at(const Element& e, const double* u, double x) const {
    return log_density_term_at(*table, e, u, x);
  }
};

/// Writes one row of a Cholesky factor; returns its part of log |d (s, R) / d u| and of the log prior density
/// of (s, R). `term` gives the term of the scale.
template <class Term>
EMOMC_INLINE TwoSums constrain_row(const CovarianceRow& row, const Element* elements, const double* u,
                                   double* theta, Term term) {
  TwoSums sums{0, 0};
  const double scale = constrain_element(row.scale, u, double_of(0x7ff8000000000000ul), 0.0, sums.a);
  sums.b = term(row.scale, scale);
  if (row.correlations == kFixedCorrelations) {
    for (int j = 0; j <= row.row; ++j) theta[row.begin + j] = scale * elements[row.begin + j].bound;
    return sums;
  }
  // rest is the remaining norm of the row, which has norm 1: the product of the sech(u) so far.
  double rest = 1, log_rest = 0, log_sech_sum = 0;
  EMOMC_ROLLED
  for (int j = 0; j < row.row; ++j) {
    const double y = u[row.correlations + j];
    const double t = exp(y < 0 ? y : -y), square = t * t;
    const double correlation = (1.0 - square) / (1.0 + square);
    theta[row.begin + j] = scale * (rest * (y < 0 ? -correlation : correlation));
    const double log_sech = kLn2 + (y < 0 ? y : -y) - log1p(square);
    sums.a += log_rest;  // d factor / d correlation
    log_sech_sum += log_sech;
    log_rest += log_sech;
    rest *= 2.0 * t / (1.0 + square);
  }
  theta[row.begin + row.row] = scale * rest;
  // The factors are d correlation / d u = sech^2, and, for the correlations in the rows below, powers of this
  // diagonal element.
  sums.a += 2.0 * log_sech_sum + row.below * log_rest;
  sums.b += row.lkj * log_rest;
  return sums;
}

/// Writes theta[i] unless it is an element of a simplex or a covariance; returns the element's part of the
/// log Jacobian.
EMOMC_INLINE double constrain_at(const Element& e, int i, const double* u, double* theta,
                                 const double* known_u, const double* known_theta) {
  double log_jacobian = 0;
  if (e.transform != Transform::simplex && e.transform != Transform::covariance) {
    const bool use_known = known_theta && e.transform == Transform::lower_bound;
    theta[i] = constrain_element(e, u, use_known ? known_u[e.source] : double_of(0x7ff8000000000000ul),
                                 use_known ? known_theta[i] : 0.0, log_jacobian);
  }
  return log_jacobian;
}

/// Writes theta[i] like constrain_at(); returns the log Jacobian's part and term.at(element, u, theta[i]).
/// Both are zero for an element of a covariance.
template <class Term>
EMOMC_INLINE TwoSums constrain_and_term(const ParameterTable& table, int i, const double* u, double* theta,
                                        const double* known_u, const double* known_theta, Term term) {
  const Element e = table.elements[i];
  if (e.transform == Transform::covariance) return {0, 0};
  const double log_jacobian = constrain_at(e, i, u, theta, known_u, known_theta);
  return {log_jacobian, term.at(e, u, theta[i])};
}

/// Writes theta[table.dim] and returns log |d theta / d u| and the sum over elements of `term` (NoTerms,
/// PriorTerms), in one pass. For a covariance, the (s, R) of CovarianceRow count as theta, and the second sum
/// includes the density of R.
template <class Team, class Term>
EMOMC_HD TwoSums constrain_and_sum(const Team& team, const ParameterTable& table, const double* u,
                                   double* theta, KnownPoint known, Term term) {
  const double simplices = constrain_simplices(team, table, u, theta);
  TwoSums sums = team.sum_two(
      table.dim, [=](int i) { return constrain_and_term(table, i, u, theta, known.u, known.theta, term); });
  if (num_covariance_rows(table) > 0) {
    const TwoSums rows = team.sum_two(num_covariance_rows(table), [=](int i) {
      return constrain_row(table.covariance_rows[i], table.elements, u, theta, term);
    });
    sums = {sums.a + rows.a, sums.b + rows.b};
  }
  sums.a += simplices;
  return sums;
}

/// Writes theta[table.dim] and returns log |d theta / d u|.
template <class Team>
EMOMC_HD double constrain(const Team& team, const ParameterTable& table, const double* u, double* theta,
                          KnownPoint known = {}) {
  return constrain_and_sum(team, table, u, theta, known, NoTerms{}).a;
}

/// Log |d theta / d u| and the log prior density of a point.
struct PointDensities {
  double log_jacobian, log_prior;
};

/// Writes theta[table.dim] and returns the point's log Jacobian and log prior.
template <class Team>
EMOMC_HD PointDensities constrain_with_prior(const Team& team, const ParameterTable& table, const double* u,
                                             double* theta, KnownPoint known = {}) {
  const TwoSums sums = constrain_and_sum(team, table, u, theta, known, PriorTerms{&table});
  double log_prior = table.log_prior_constant + sums.b;
  if (num_conditionals(table) > 0) {
    team.sync();  // arguments may be elements that other members have written
    log_prior += conditional_log_prior(team, table, theta);
  }
  return {sums.a, log_prior};
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_CONSTRAIN_HPP
