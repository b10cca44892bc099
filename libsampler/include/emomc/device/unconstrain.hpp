// Maps constrained theta to unconstrained u: the inverse of constrain.hpp, for points inside the support.
#ifndef EMOMC_DEVICE_UNCONSTRAIN_HPP
#define EMOMC_DEVICE_UNCONSTRAIN_HPP

#include "emomc/device/math.hpp"
#include "emomc/device/parameter_table.hpp"

namespace emomc::device {

constexpr bool has_own_coordinate(Transform t) {
  return t != Transform::fixed && t != Transform::simplex && t != Transform::covariance &&
         t != Transform::angle;
}

/// Returns u of element i of theta, whose transform must have a coordinate of its own. The result is minus
/// infinity or NaN if theta is on or outside its bounds.
EMOMC_INLINE double unconstrain_element(const Element& e, const double* theta, int i) {
  const double x = theta[i];
  switch (e.transform) {
    case Transform::lower_bound:
      return log(x - e.bound);
    case Transform::interval:
      return log((x - e.bound) / (e.bound + e.width - x));
    case Transform::ordered:
      return e.rank == 0 ? x : log(x - theta[i - e.stride]);
    case Transform::ordered_interval: {
      const double y = log((x - e.bound) / (e.bound + e.width - x));
      if (e.rank == 0) return y;
      const double before = theta[i - e.stride];
      return log(y - log((before - e.bound) / (e.bound + e.width - before)));
    }
    case Transform::ordered_above:
      return log(x - (e.rank == 0 ? e.bound : theta[i - e.stride]));
    default:
      return x;
  }
}

/// Computes u = V' log w for a simplex, where V is the Helmert basis; called by one member. `log_weight(j)`
/// returns the log weight of place j up to a constant; it must be finite.
template <class F>
EMOMC_INLINE void unconstrain_simplex(const SimplexBlock& block, F log_weight, double* u) {
  double head = 0;
  EMOMC_ROLLED
  for (int j = 1; j < block.size; ++j) {
    head += log_weight(j - 1);
    u[block.source + j - 1] = (head - j * log_weight(j)) / EMOMC_SQRT(j * (j + 1.0));
  }
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_UNCONSTRAIN_HPP
