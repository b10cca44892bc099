// Logarithms of values that a double does not hold: weights far below 1e-308, as sparse Dirichlet priors have
// them, and fractions next to 0 or 1. theta has 0 or 1 there, which is right for the likelihood; the prior's
// density is not lost, since u says how small the value is.
#ifndef EMOMC_DEVICE_EDGE_OF_SUPPORT_HPP
#define EMOMC_DEVICE_EDGE_OF_SUPPORT_HPP

#include "emomc/device/log_prior.hpp"
#include "emomc/device/math.hpp"
#include "emomc/device/parameter_table.hpp"

namespace emomc::device {

/// Below the least normal number the digits of a value get lost.
inline constexpr double kLeastValue = 0x1p-1022;
/// Above this half of the digits of one minus the value are lost.
inline constexpr double kNextToOne = 1.0 - 0x1p-26;

/// Log weight of place `rank` of a simplex block from its coordinates y = V u (constrain.hpp), which it
/// computes in turn, the last one first: y_rank - log sum_k exp(y_k).
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

/// Log of the weight that theta has as `weight`, `e` being its element.
EMOMC_INLINE double log_weight(const ParameterTable& table, const Element& e, const double* u,
                               double weight) {
  if (weight >= kLeastValue) return log(weight);
  EMOMC_ROLLED
  for (int s = 0; s < table.num_simplices; ++s) {
    const SimplexBlock& block = table.simplices[s];
    if (block.source == e.source)
      return log_weight_of_coordinates(table.elements + block.begin, u + block.source, block.size, e.rank);
  }
  return -kInfinity;
}

/// log_density_term of an element with value x whose density has the logarithm of x or of 1 - x: from u
/// where x is at the edge of the support, by the digits of a double.
EMOMC_INLINE double log_density_term_at(const ParameterTable& table, const Element& e, const double* u,
                                        double x) {
  if (e.density == Density::power && e.transform == Transform::simplex && x < kLeastValue)
    return e.a * log_weight(table, e, u, x);
  if (e.density == Density::beta && e.transform == Transform::interval &&
      (x < kLeastValue || x > kNextToOne)) {
    const double y = u[e.source], log_x = (y < 0 ? y : 0.0) - log1p(exp(y < 0 ? y : -y));
    return e.a * log_x + e.b * (log_x - y);
  }
  if (e.density == Density::gamma && e.transform == Transform::lower_bound && e.bound == 0 && x < kLeastValue)
    return e.a * u[e.source] - e.b * x;
  return log_density_term(e, x);
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_EDGE_OF_SUPPORT_HPP
