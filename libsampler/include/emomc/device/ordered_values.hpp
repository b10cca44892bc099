// Computes values in increasing order from unconstrained coordinates.
#ifndef EMOMC_DEVICE_ORDERED_VALUES_HPP
#define EMOMC_DEVICE_ORDERED_VALUES_HPP

#include "emomc/device/math.hpp"
#include "emomc/device/parameter_table.hpp"

namespace emomc::device {

/// Returns u_0 + exp(u_1) + ... + exp(u_rank) for an element with Transform::ordered or ordered_interval.
EMOMC_INLINE double ordered_value(const Element& e, const double* u) {
  double x = u[e.source - e.rank * e.stride];
  EMOMC_ROLLED
  for (int r = 1; r <= e.rank; ++r) x += exp(u[e.source - (e.rank - r) * e.stride]);
  return x;
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_ORDERED_VALUES_HPP
