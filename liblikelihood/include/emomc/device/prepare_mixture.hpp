// Coefficients of axis_aligned_mixture.hpp from a parameter vector, by a team.
#ifndef EMOMC_DEVICE_PREPARE_MIXTURE_HPP
#define EMOMC_DEVICE_PREPARE_MIXTURE_HPP

#include "emomc/device/axis_aligned_mixture.hpp"
#include "emomc/device/team.hpp"

namespace emomc::device {

inline constexpr double kRootHalfLog2E = 0.84932180028801904272150283410;  // sqrt(log2(e) / 2)
inline constexpr double kLog2RootHalfLog2E = -0.23561681352755115;         // its log2

/// 2^x in float64 for any finite x, by its series where |x| is below 1e-4.
EMOMC_INLINE double exp2_double(double x) {
  const double y = x * kLn2;
  if (!(y > -1e-4 && y < 1e-4)) return exp(y);
  return EMOMC_FMA(y, EMOMC_FMA(y, EMOMC_FMA(y, EMOMC_FMA(y, 1.0 / 24, 1.0 / 6), 0.5), 1.0), 1.0);
}

/// Spacing of the shifts in float32: that of typical squared distances (three sds above the mean of a
/// chi-square with d degrees of freedom). A shift between two representable distances would be rounded the
/// same way in every row, an error that grows with their number.
EMOMC_INLINE double shift_spacing(int d) {
  const double distance = 0.5 * kLog2E * (d + 3.0 * EMOMC_SQRT(2.0 * d));
  const int exponent = static_cast<int>(bits_of(distance) >> 52) - 1023;
  return power_of_two(exponent - 23);
}

template <class Real>
EMOMC_INLINE Real rounded_shift(double shift, int d) {
  if constexpr (sizeof(Real) == sizeof(double)) return shift;
  const double spacing = shift_spacing(d);
  return is_finite(shift) ? static_cast<Real>(EMOMC_RINT(shift / spacing) * spacing)
                          : static_cast<Real>(shift);
}

/// Writes the coefficients of `theta` and returns `common`; NaN where theta is no mixture (a scale that
/// is not positive, something not finite, coefficients beyond the range of Real).
/// `scratch`: shape.num_scratch() doubles that the team shares. `coefficients`: shape.num_coefficients().
template <class Real, class Team, class Model>
EMOMC_HD double prepare_mixture(const Team& team, const Model& model, const double* theta, Real* coefficients,
                                double* scratch) {
  const MixtureShape shape = model.shape();
  const int K = shape.num_components, d = shape.dim;
  double* log2_slope = scratch;           // [K][d]
  double* log2_height = scratch + K * d;  // [K], log2(weight), later with the component's slopes added

  EMOMC_ROLLED
  for (int i = team.rank(); i < K * d + K; i += team.size()) {
    if (i >= K * d) {
      log2_height[i - K * d] = log(model.weight(theta, i - K * d)) * kLog2E;
      continue;
    }
    const int k = i / d, j = i % d;
    const Real g = static_cast<Real>(kRootHalfLog2E / model.scale(theta, k, j));
    const Real h = static_cast<Real>(-model.mean(theta, k, j) * static_cast<double>(g));
    coefficients[shape.slope_index(k, j)] = g;
    coefficients[shape.slope_index(k, j) + 1] = h;
    const bool usable = g > 0 && is_finite(static_cast<double>(g)) && is_finite(static_cast<double>(h));
    log2_slope[i] = usable ? log(static_cast<double>(g)) * kLog2E : double_of(0x7ff8000000000000ul);
  }
  const int padded = shape.num_blocks() * kComponentBlock;
  EMOMC_ROLLED
  for (int i = team.rank(); i < (padded - K) * d; i += team.size()) {
    coefficients[shape.slope_index(K + i / d, i % d)] = 0;
    coefficients[shape.slope_index(K + i / d, i % d) + 1] = 0;
  }
  team.sync();
  const MaxAndTwoSums heights = team.max_and_sum_two(K, [=](int k) {
    double slopes = 0;
    for (int j = 0; j < d; ++j) slopes += log2_slope[k * d + j];
    const double height = log2_height[k] + slopes;
    log2_height[k] = height;
    return MaxAndTwoSums{height, is_nan(height) ? 1.0 : 0.0, model.weight(theta, k)};
  });
  const double top = heights.max;
  EMOMC_ROLLED
  for (int k = K + team.rank(); k < padded; k += team.size())
    coefficients[shape.shift_index(k)] = static_cast<Real>(-kInfinity);
  // The weights that the rounded shifts stand for, beside the true ones: 2^(shift - slopes + top).
  const double rounded = team.sum(K, [=](int k) {
    const double exact = log2_height[k] - top;
    const Real shift = rounded_shift<Real>(exact, d);
    coefficients[shape.shift_index(k)] = shift;
    if constexpr (sizeof(Real) == sizeof(double)) return 0.0;
    const double weight = model.weight(theta, k);
    return weight > 0 ? weight * exp2_double(static_cast<double>(shift) - exact) : 0.0;
  });
  if (heights.a > 0 || top == -kInfinity) return double_of(0x7ff8000000000000ul);
  double common = top - d * (kLog2RootHalfLog2E + 0.5 * kLog2TwoPi);
  if constexpr (sizeof(Real) < sizeof(double)) common -= log_ratio(rounded, heights.b) * kLog2E;
  return common;
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_PREPARE_MIXTURE_HPP
