// The order in which sums over rows, tiles and segments are taken: a balanced tree of neighbours, padded
// with zeros to a power of two. Part of what a log density is (docs/statistics.md).
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

#include "emomc/device/math.hpp"

namespace emomc {

/// Sum of `values` by the tree; overwrites them.
inline double tree_sum(std::span<double> values) {
  std::size_t n = values.size();
  if (n == 0) return 0;
  while (n > 1) {
    const std::size_t pairs = n / 2;
    for (std::size_t i = 0; i < pairs; ++i) values[i] = values[2 * i] + values[2 * i + 1];
    if (n % 2) values[pairs] = values[n - 1] + 0.0;
    n = pairs + n % 2;
  }
  return values[0];
}

/// Of `num_rows` rows whose base-2 log densities without `common` sum to `log2_sum`. Without rows it is 0,
/// also where the point is no mixture and `common` NaN.
inline double log_likelihood_of(double log2_sum, std::size_t num_rows, double common) {
  if (num_rows == 0) return 0;
  return std::fma(static_cast<double>(num_rows), common, log2_sum) * device::kLn2;
}

}  // namespace emomc
