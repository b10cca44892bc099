// Coefficients of mixture_sum.hpp and its shapes from a parameter vector, by a team.
#ifndef EMOMC_DEVICE_PREPARE_MIXTURE_HPP
#define EMOMC_DEVICE_PREPARE_MIXTURE_HPP

#include "emomc/device/axis_aligned_mixture.hpp"
#include "emomc/device/team.hpp"
#include "emomc/device/triangular_mixture.hpp"

namespace emomc::device {

inline constexpr double kRootHalfLog2E = 0.84932180028801904272150283410;  // sqrt(log2(e) / 2)
inline constexpr double kLog2RootHalfLog2E = -0.23561681352755115;         // its log2

/// 2^x in float64 for any finite x, by its series where |x| is below 1e-4.
EMOMC_INLINE double exp2_double(double x) {
  const double y = x * kLn2;
  if (!(y > -1e-4 && y < 1e-4)) return exp(y);
  return EMOMC_FMA(y, EMOMC_FMA(y, EMOMC_FMA(y, EMOMC_FMA(y, 1.0 / 24, 1.0 / 6), 0.5), 1.0), 1.0);
}

/// log2 of the spacing of the shifts in float32: that of typical squared distances (three sds above the mean
/// of a chi-square with d degrees of freedom). A shift between two representable distances would be rounded
/// the same way in every row, an error that grows with their number.
EMOMC_INLINE int shift_exponent(int d) {
  // The largest e with d + 3 sqrt(2 d) >= 2^e / (log2(e) / 2).
  int e = 0;
  double reach = 2.0 / kLog2E;
  EMOMC_UNROLL
  for (int i = 1; i < 24; ++i) {
    const double more = 2.0 * reach - d;
    if (more <= 0 || 18.0 * d >= more * more) {
      e = i;
      reach *= 2.0;
    }
  }
  return e - 23;
}

template <class Real>
EMOMC_INLINE Real rounded_shift(double shift, int d) {
  if constexpr (sizeof(Real) == sizeof(double)) return shift;
  const int exponent = shift_exponent(d);
  return is_finite(shift)
             ? static_cast<Real>(EMOMC_RINT(shift * power_of_two(-exponent)) * power_of_two(exponent))
             : static_cast<Real>(shift);
}

EMOMC_INLINE double not_a_number() { return double_of(0x7ff8000000000000ul); }

/// Writes the coefficients that distances take, those of the padding as zeros, and to log2_slope [K][d] the
/// logarithms of the normaliser's factors, NaN where theta is no mixture.
template <class Real, class Team, class Model>
EMOMC_HD void prepare_distances(const Team& team, const Model& model, const AxisAlignedShape& shape,
                                const double* theta, Real* coefficients, double* log2_slope, double*) {
  const int K = shape.num_components, d = shape.dim;
  EMOMC_ROLLED
  for (int i = team.rank(); i < K * d; i += team.size()) {
    const int k = i / d, j = i % d;
    const Real g = static_cast<Real>(kRootHalfLog2E / model.scale(theta, k, j));
    const Real h = static_cast<Real>(-model.mean(theta, k, j) * static_cast<double>(g));
    coefficients[shape.slope_index(k, j)] = g;
    coefficients[shape.slope_index(k, j) + 1] = h;
    const bool usable = g > 0 && is_finite(static_cast<double>(g)) && is_finite(static_cast<double>(h));
    log2_slope[i] = usable ? log(static_cast<double>(g)) * kLog2E : not_a_number();
  }
  const int padded = shape.num_blocks() * kComponentBlock;
  EMOMC_ROLLED
  for (int i = team.rank(); i < (padded - K) * d; i += team.size()) {
    coefficients[shape.slope_index(K + i / d, i % d)] = 0;
    coefficients[shape.slope_index(K + i / d, i % d) + 1] = 0;
  }
}

/// Column j of L^-1 below its diagonal (forward substitution), stored like L; the diagonal is there.
template <class Model>
EMOMC_INLINE void invert_column(const Model& model, const double* theta, int k, int j, int d,
                                double* inverse) {
  for (int i = j + 1; i < d; ++i) {
    double sum = 0;
    for (int m = j; m < i; ++m)
      sum = EMOMC_FMA(model.factor(theta, k, i, m), inverse[triangle_index(m, j)], sum);
    inverse[triangle_index(i, j)] = -sum * inverse[triangle_index(i, i)];
  }
}

/// The same for a FullShape or TiedShape; `inverses`: num_factors x triangle doubles.
template <class Real, class Team, class Model, class Shape>
EMOMC_HD void prepare_distances(const Team& team, const Model& model, const Shape& shape, const double* theta,
                                Real* coefficients, double* log2_slope, double* inverses) {
  const int K = shape.num_components, d = shape.dim, size = triangle_size(d);
  EMOMC_ROLLED
  for (int i = team.rank(); i < shape.num_factors() * d; i += team.size())
    inverses[i / d * size + triangle_index(i % d, i % d)] = 1.0 / model.factor(theta, i / d, i % d, i % d);
  team.sync();
  EMOMC_ROLLED
  for (int i = team.rank(); i < shape.num_factors() * d; i += team.size())
    invert_column(model, theta, i / d, i % d, d, inverses + i / d * size);
  team.sync();
  EMOMC_ROLLED
  for (int at = team.rank(); at < K * d; at += team.size()) {
    const int k = at / d, i = at % d;
    const double* w = inverses + (Shape::is_shared ? 0 : k) * size + triangle_index(i, 0);
    double offset = 0, diagonal = 0, check = 0;
    for (int j = 0; j <= i; ++j) {
      const Real rounded = static_cast<Real>(kRootHalfLog2E * w[j]);
      if (!Shape::is_shared || k == 0) coefficients[shape.factor_index(k, i, j)] = rounded;
      diagonal = static_cast<double>(rounded);
      check += 0 * diagonal;  // NaN beyond the range of Real
      offset = EMOMC_FMA(-diagonal, model.mean(theta, k, j), offset);
    }
    const Real h = static_cast<Real>(offset);
    coefficients[shape.offset_index(k, i)] = h;
    const bool usable = diagonal > 0 && check == 0 && is_finite(static_cast<double>(h));
    log2_slope[at] = usable ? diagonal : not_a_number();
  }
  // Apart, so that little is alive across the call.
  EMOMC_ROLLED
  for (int at = team.rank(); at < K * d; at += team.size()) log2_slope[at] = log(log2_slope[at]) * kLog2E;
  const int padded = shape.num_blocks() * kComponentBlock;
  EMOMC_ROLLED
  for (int at = team.rank(); at < (padded - K) * d; at += team.size()) {
    const int k = K + at / d, i = at % d;
    coefficients[shape.offset_index(k, i)] = 0;
    if constexpr (!Shape::is_shared)
      for (int j = 0; j <= i; ++j) coefficients[shape.factor_index(k, i, j)] = 0;
  }
}

/// Writes the coefficients of `theta`, which all members may read then, and returns `common`; NaN where theta
/// is no mixture (a scale that is not positive, something not finite, coefficients beyond the range of Real).
/// `scratch`: shape.num_scratch() doubles that the team shares. `coefficients`: shape.num_coefficients().
template <class Real, class Team, class Model>
EMOMC_HD double prepare_mixture(const Team& team, const Model& model, const double* theta, Real* coefficients,
                                double* scratch) {
  const auto shape = model.shape();
  const int K = shape.num_components, d = shape.dim;
  double* log2_slope = scratch;           // [K][d]
  double* log2_height = scratch + K * d;  // [K], log2(weight), later with the component's slopes added
  const int padded = shape.num_blocks() * kComponentBlock;

  // In the lanes that the distances leave free.
  EMOMC_ROLLED
  for (int i = team.rank(); i < K * d + K; i += team.size())
    if (i >= K * d) log2_height[i - K * d] = log(model.weight(theta, i - K * d)) * kLog2E;
  prepare_distances(team, model, shape, theta, coefficients, log2_slope, scratch + K * (d + 1));
  team.sync();
  const auto height_of = [=](int k) {
    double slopes = 0;
    EMOMC_UNROLL_EXACT
    for (int j = 0; j < d; ++j) slopes += log2_slope[k * d + j];
    return log2_height[k] + slopes;
  };
  // The weight that a rounded shift stands for: 2^(shift - slopes + top).
  const auto weight_of = [=](int k, double exact, Real shift) {
    if constexpr (sizeof(Real) == sizeof(double)) return 0.0;
    const double weight = model.weight(theta, k);
    return weight > 0 ? weight * exp2_double(static_cast<double>(shift) - exact) : 0.0;
  };
  double top, weights, rounded;
  bool undefined;
  if (K <= kMostLanes) {
    const auto heights = team.lanes(K, height_of);
    top = team.max_of(heights, K);
    undefined = team.sum_of(team.map(heights, K, [](double h, int) { return is_nan(h) ? 1.0 : 0.0; }), K) > 0;
    weights = team.sum_of(team.lanes(K, [=](int k) { return model.weight(theta, k); }), K);
    const double highest = top;
    const auto shifts = team.map(
        heights, K, [=](double h, int) { return static_cast<double>(rounded_shift<Real>(h - highest, d)); });
    team.store(shifts, K, coefficients + shape.shift_index(0));
    const auto exact = team.map(heights, K, [=](double h, int) { return h - highest; });
    rounded = team.sum_of(
        team.map(exact, K, [&](double e, int k) { return weight_of(k, e, rounded_shift<Real>(e, d)); }), K);
  } else {
    const MaxAndTwoSums heights = team.max_and_sum_two(K, [=](int k) {
      const double height = height_of(k);
      log2_height[k] = height;
      return MaxAndTwoSums{height, is_nan(height) ? 1.0 : 0.0, model.weight(theta, k)};
    });
    top = heights.max;
    undefined = heights.a > 0;
    weights = heights.b;
    const double highest = top;
    rounded = team.sum(K, [=](int k) {
      const Real shift = rounded_shift<Real>(log2_height[k] - highest, d);
      coefficients[shape.shift_index(k)] = shift;
      return weight_of(k, log2_height[k] - highest, shift);
    });
  }
  EMOMC_ROLLED
  for (int k = K + team.rank(); k < padded; k += team.size())
    coefficients[shape.shift_index(k)] = static_cast<Real>(-kInfinity);
  team.sync();
  if (undefined || top == -kInfinity) return not_a_number();
  double common = top - d * (kLog2RootHalfLog2E + 0.5 * kLog2TwoPi);
  if constexpr (sizeof(Real) < sizeof(double)) common -= log_ratio(rounded, weights) * kLog2E;
  return common;
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_PREPARE_MIXTURE_HPP
