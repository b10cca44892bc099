// The order of summation over rows, tiles and segments: a balanced binary tree of neighbours, padded with
// zeros to a power of two. It is part of the definition of a log density (docs/statistics.md).
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

#include "emomc/device/math.hpp"

namespace emomc {

/// Sum of `values` in the order of the tree; overwrites them.
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

/// Log likelihood of `num_rows` rows whose base-2 log densities without `common` sum to `log2_sum`. The
/// result is 0 without rows, even where the parameters are invalid and `common` is NaN.
inline double log_likelihood_of(double log2_sum, std::size_t num_rows, double common) {
  if (num_rows == 0) return 0;
  return std::fma(static_cast<double>(num_rows), common, log2_sum) * device::kLn2;
}

}  // namespace emomc
