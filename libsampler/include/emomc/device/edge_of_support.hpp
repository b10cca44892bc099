// Logarithms of values that a double cannot represent: weights far below 1e-308, which occur with sparse
// Dirichlet priors, and fractions next to 0 or 1. theta is then 0 or 1, which is right for the likelihood;
// the prior's density is computed from u, which determines how small the value is.
#ifndef EMOMC_DEVICE_EDGE_OF_SUPPORT_HPP
#define EMOMC_DEVICE_EDGE_OF_SUPPORT_HPP

#include "emomc/device/log_prior.hpp"
#include "emomc/device/math.hpp"
#include "emomc/device/ordered_values.hpp"
#include "emomc/device/parameter_table.hpp"

namespace emomc::device {

/// Values below this, the least normal number, lose digits.
inline constexpr double kLeastValue = 0x1p-1022;
/// For values above this, half of the digits of one minus the value are lost.
inline constexpr double kNextToOne = 1.0 - 0x1p-26;

/// Returns the log weight of place `rank` of a simplex block, y_rank - log sum_k exp(y_k). The coordinates y
/// = V u (constrain.hpp) are computed in turn, the last one first.
EMOMC_OUTLINE double log_weight_of_coordinates(const Element* elements, const double* u, int size, int rank) {
  double behind = 0, own = 0, top = -kInfinity, total = 0;
  EMOMC_ROLLED
  for (int k = size - 1; k >= 0; --k) {
    const double width = elements[k].width, x = k > 0 ? u[k - 1] : 0.0;
    const double y = EMOMC_FMA(-k * width, x, behind);
    behind = EMOMC_FMA(x, width, behind);
    if (k == rank) own = y;
    if (y > top) {
      total = total * exp(top - y) + 1.0;
      top = y;
    } else {
      total += exp(y - top);
    }
  }
  return (own - top) - log(total);
}

/// Returns the log of a weight that a double cannot represent, in the simplex block whose coordinates begin
/// at `source`.
EMOMC_OUTLINE double log_of_tiny_weight(const Element* elements, const SimplexBlock* simplices,
                                        int num_simplices, int source, int rank, const double* u) {
  EMOMC_ROLLED
  for (int s = 0; s < num_simplices; ++s)
    if (simplices[s].source == source)
      return log_weight_of_coordinates(elements + simplices[s].begin, u + source, simplices[s].size, rank);
  return -kInfinity;
}

/// Returns the log of a weight; `weight` is its value in theta and `e` its element.
EMOMC_INLINE double log_weight(const ParameterTable& table, const Element& e, const double* u,
                               double weight) {
#if !EMOMC_EXACT_SIZES
  if (weight < kLeastValue)
    return log_of_tiny_weight(table.elements, table.simplices, table.num_simplices, e.source, e.rank, u);
#endif
  return log(weight);
}

/// Returns a log x + b log(1 - x) for x = 1 / (1 + exp(-y)).
EMOMC_OUTLINE double log_beta_term_at_edge(double a, double b, double y) {
  const double log_x = (y < 0 ? y : 0.0) - log1p(exp(y < 0 ? y : -y));
  return a * log_x + b * (log_x - y);
}

/// Returns log_density_term of an element with value x. If the density has the logarithm of x or of 1 - x and
/// x is within a double's precision of the edge of the support, the term is computed from u. The seldom
/// needed parts are called, not inlined into kernels, which have no registers to spare.
EMOMC_INLINE double log_density_term_at(const ParameterTable& table, const Element& e, const double* u,
                                        double x) {
#if !EMOMC_EXACT_SIZES
  const bool is_least = x < kLeastValue;
  if (is_least || x > kNextToOne) {
    if (e.density == Density::beta && e.transform == Transform::interval)
      return log_beta_term_at_edge(e.a, e.b, u[e.source]);
    if (e.density == Density::beta && e.transform == Transform::ordered_interval)
      return log_beta_term_at_edge(e.a, e.b, ordered_value(e, u));
    if (is_least && e.density == Density::power && e.transform == Transform::simplex)
      return e.a *
             log_of_tiny_weight(table.elements, table.simplices, table.num_simplices, e.source, e.rank, u);
    if (is_least && e.density == Density::gamma && e.transform == Transform::lower_bound && e.bound == 0)
      return e.a * u[e.source] - e.b * x;
  }
#endif
  return log_density_term(e, x);
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_EDGE_OF_SUPPORT_HPP
