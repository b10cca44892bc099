// Computes the coefficients of mixture_sum.hpp and its shapes from a parameter vector, by a team.
#ifndef EMOMC_DEVICE_PREPARE_MIXTURE_HPP
#define EMOMC_DEVICE_PREPARE_MIXTURE_HPP

#include "emomc/device/axis_aligned_mixture.hpp"
#include "emomc/device/team.hpp"
#include "emomc/device/triangular_mixture.hpp"

namespace emomc::device {

inline constexpr double kRootHalfLog2E = 0.84932180028801904272150283410;  // sqrt(log2(e) / 2)
inline constexpr double kLog2RootHalfLog2E = -0.23561681352755115;         // log2 of kRootHalfLog2E

/// 2^x in float64 for any finite x, by the series of the exponential where |x log 2| is below 1e-4.
EMOMC_INLINE double exp2_double(double x) {
  const double y = x * kLn2;
  if (!(y > -1e-4 && y < 1e-4)) return exp(y);
  return EMOMC_FMA(y, EMOMC_FMA(y, EMOMC_FMA(y, EMOMC_FMA(y, 1.0 / 24, 1.0 / 6), 0.5), 1.0), 1.0);
}

/// log2 of the spacing of the shifts in float32, which is the spacing of float32 numbers as large as typical
/// squared distances (three sds above the mean of a chi-square with d degrees of freedom). A shift between
/// two representable distances would be rounded the same way in every row, an error that grows with the
/// number of rows.
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
EMOMC_INLINE Real rounded_shift(double shift, int exponent) {
  if constexpr (sizeof(Real) == sizeof(double)) return shift;
  return is_finite(shift)
             ? static_cast<Real>(EMOMC_RINT(shift * power_of_two(-exponent)) * power_of_two(exponent))
             : static_cast<Real>(shift);
}

EMOMC_INLINE double not_a_number() { return double_of(0x7ff8000000000000ul); }

/// The components from `first` to first + count - 1.
struct ComponentRange {
  int first, count;
};

/// Writes the coefficients for distances to component i / d in column i % d. Returns the slope, or NaN where
/// theta does not define a mixture.
template <class Real, class Model>
EMOMC_INLINE double write_slope(const Model& model, const AxisAlignedShape& shape, const double* theta, int i,
                                Real* coefficients) {
  const int k = i / shape.dim, j = i % shape.dim;
  const Real g = static_cast<Real>(kRootHalfLog2E / model.scale(theta, k, j));
  const Real h = static_cast<Real>(-model.mean(theta, k, j) * static_cast<double>(g));
  coefficients[shape.slope_index(k, j)] = g;
  coefficients[shape.slope_index(k, j) + 1] = h;
  const bool usable = g > 0 && is_finite(static_cast<double>(g)) && is_finite(static_cast<double>(h));
  return usable ? static_cast<double>(g) : not_a_number();
}

/// Writes the coefficients for distances to the components `some`, and writes the base-2 logarithms of the
/// normaliser's factors to log2_slope [K][d], NaN where theta does not define a mixture.
template <class Real, class Team, class Model>
EMOMC_HD void prepare_distances(const Team& team, const Model& model, const AxisAlignedShape& shape,
                                const double* theta, ComponentRange some, Real* coefficients,
                                double* log2_slope, double*) {
  const int end = (some.first + some.count) * shape.dim;
  EMOMC_ROLLED
  for (int i = some.first * shape.dim + team.rank(); i < end; i += team.size())
    log2_slope[i] = log(write_slope(model, shape, theta, i, coefficients)) * kLog2E;
}

/// Writes zeros for the coefficients of the padding components at the end of the last block.
template <class Real, class Team>
EMOMC_HD void pad_distances(const Team& team, const AxisAlignedShape& shape, Real* coefficients) {
  const int K = shape.num_components, d = shape.dim, padded = shape.num_blocks() * kComponentBlock;
  EMOMC_ROLLED
  for (int i = team.rank(); i < (padded - K) * d; i += team.size()) {
    coefficients[shape.slope_index(K + i / d, i % d)] = 0;
    coefficients[shape.slope_index(K + i / d, i % d) + 1] = 0;
  }
}

/// Writes the coefficients of a component that depend on the component's mean.
template <class Real, class Team, class Model>
EMOMC_HD void move_component(const Team& team, const Model& model, const AxisAlignedShape& shape,
                             const double* theta, int k, Real* coefficients) {
  EMOMC_ROLLED
  for (int j = team.rank(); j < shape.dim; j += team.size()) {
    Real* p = coefficients + shape.slope_index(k, j);
    p[1] = static_cast<Real>(-model.mean(theta, k, j) * static_cast<double>(p[0]));
  }
}

/// Writes column j of L^-1 below the diagonal by forward substitution, stored like L; the diagonal has been
/// written before.
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

/// prepare_distances() for a FullShape or TiedShape; `inverses`: num_factors x triangle doubles.
template <class Real, class Team, class Model, class Shape>
EMOMC_HD void prepare_distances(const Team& team, const Model& model, const Shape& shape, const double* theta,
                                ComponentRange some, Real* coefficients, double* log2_slope,
                                double* inverses) {
  const int d = shape.dim, size = triangle_size(d), end = (some.first + some.count) * d;
  const ComponentRange factors = Shape::is_shared ? ComponentRange{0, 1} : some;
  const int first_row = factors.first * d, end_row = (factors.first + factors.count) * d;
  EMOMC_ROLLED
  for (int i = first_row + team.rank(); i < end_row; i += team.size())
    inverses[i / d * size + triangle_index(i % d, i % d)] = 1.0 / model.factor(theta, i / d, i % d, i % d);
  team.sync();
  EMOMC_ROLLED
  for (int i = first_row + team.rank(); i < end_row; i += team.size())
    invert_column(model, theta, i / d, i % d, d, inverses + i / d * size);
  team.sync();
  EMOMC_ROLLED
  for (int at = some.first * d + team.rank(); at < end; at += team.size()) {
    const int k = at / d, i = at % d;
    const double* w = inverses + (Shape::is_shared ? 0 : k) * size + triangle_index(i, 0);
    double offset = 0, diagonal = 0, check = 0;
    for (int j = 0; j <= i; ++j) {
      const Real rounded = static_cast<Real>(kRootHalfLog2E * w[j]);
      if (!Shape::is_shared || k == some.first) coefficients[shape.factor_index(k, i, j)] = rounded;
      diagonal = static_cast<double>(rounded);
      check += 0 * diagonal;  // NaN beyond the range of Real
      offset = EMOMC_FMA(-diagonal, model.mean(theta, k, j), offset);
    }
    const Real h = static_cast<Real>(offset);
    coefficients[shape.offset_index(k, i)] = h;
    const bool usable = diagonal > 0 && check == 0 && is_finite(static_cast<double>(h));
    log2_slope[at] = usable ? diagonal : not_a_number();
  }
  // A loop of its own, so that few values are live across the call of log().
  EMOMC_ROLLED
  for (int at = some.first * d + team.rank(); at < end; at += team.size())
    log2_slope[at] = log(log2_slope[at]) * kLog2E;
}

template <class Real, class Team, class Shape>
EMOMC_HD void pad_distances(const Team& team, const Shape& shape, Real* coefficients) {
  const int K = shape.num_components, d = shape.dim, padded = shape.num_blocks() * kComponentBlock;
  EMOMC_ROLLED
  for (int at = team.rank(); at < (padded - K) * d; at += team.size()) {
    const int k = K + at / d, i = at % d;
    coefficients[shape.offset_index(k, i)] = 0;
    if constexpr (!Shape::is_shared)
      for (int j = 0; j <= i; ++j) coefficients[shape.factor_index(k, i, j)] = 0;
  }
}

template <class Real, class Team, class Model, class Shape>
EMOMC_HD void move_component(const Team& team, const Model& model, const Shape& shape, const double* theta,
                             int k, Real* coefficients) {
  EMOMC_ROLLED
  for (int i = team.rank(); i < shape.dim; i += team.size()) {
    double offset = 0;
    for (int j = 0; j <= i; ++j)
      offset = EMOMC_FMA(-static_cast<double>(coefficients[shape.factor_index(k, i, j)]),
                         model.mean(theta, k, j), offset);
    coefficients[shape.offset_index(k, i)] = static_cast<Real>(offset);
  }
}

/// Whether the offsets of component k that the calling member of the team has written are finite.
template <class Real, class Team, class Shape>
EMOMC_HD bool has_finite_offsets(const Team& team, const Shape& shape, int k, const Real* coefficients) {
  bool finite = true;
  EMOMC_ROLLED
  for (int j = team.rank(); j < shape.dim; j += team.size())
    finite = finite && is_finite(static_cast<double>(coefficients[shape.offset_index(k, j)]));
  return finite;
}

/// The terms of a mixture's normalisers; they are at the beginning of prepare_mixture's scratch memory.
struct HeightTerms {
  double* log2_slope;   ///< [K][d]
  double* log2_weight;  ///< [K]
  EMOMC_INLINE static HeightTerms in(double* memory, int num_components, int dim) {
    return {memory, memory + num_components * dim};
  }
};

/// The origin of heights: log2 of the density of a typical row, d columns of standard normal numbers, in the
/// unit of heights. Data are standardised, so that the terms of most rows are about 1 with this origin.
EMOMC_INLINE double reference_height(int d) { return EMOMC_RINT(d * (kLog2RootHalfLog2E - 0.5 * kLog2E)); }

/// A component's height from the terms: log2 of the weight times the normaliser, minus reference_height().
EMOMC_INLINE double height_of(const HeightTerms& terms, int k, int d) {
  double slopes = 0;
  EMOMC_UNROLL_EXACT
  for (int j = 0; j < d; ++j) slopes += terms.log2_slope[k * d + j];
  return terms.log2_weight[k] + slopes - reference_height(d);
}

/// The heights of up to kMostLanes components. For more components the result is empty, since each height is
/// then used where it is computed.
template <class Team, class Shape>
EMOMC_HD typename Team::Lanes heights_of(const Team& team, const Shape& shape, const HeightTerms& terms) {
  const int d = shape.dim;
  if (shape.num_components > kMostLanes) return {};
  return team.lanes(shape.num_components, [=](int k) { return height_of(terms, k, d); });
}

/// The shift of a component with this height.
template <class Real>
EMOMC_INLINE Real shift_of_height(double height, int d) {
  return rounded_shift<Real>(height, sizeof(Real) < sizeof(double) ? shift_exponent(d) : 0);
}

/// Writes the shifts, which other members may read after a sync. `heights` is the result of heights_of().
template <class Real, class Team, class Shape>
EMOMC_HD void prepare_shifts(const Team& team, const Shape& shape, const HeightTerms& terms,
                             const typename Team::Lanes& heights, Real* coefficients) {
  const int K = shape.num_components, d = shape.dim, padded = shape.num_blocks() * kComponentBlock;
  Real* shifts = coefficients + shape.shift_index(0);
  if (K <= kMostLanes) {
    team.store(
        team.map(heights, K, [=](double h, int) { return static_cast<double>(shift_of_height<Real>(h, d)); }),
        K, shifts);
  } else {
    EMOMC_ROLLED
    for (int k = team.rank(); k < K; k += team.size())
      shifts[k] = shift_of_height<Real>(height_of(terms, k, d), d);
  }
  EMOMC_ROLLED
  for (int k = K + team.rank(); k < padded; k += team.size()) shifts[k] = static_cast<Real>(-kInfinity);
}

/// `common` of the mixture with these terms; NaN where theta does not define a mixture.
template <class Real, class Team, class Model>
EMOMC_HD double prepare_common(const Team& team, const Model& model, const double* theta,
                               const HeightTerms& terms, const typename Team::Lanes& heights) {
  const auto shape = model.shape();
  const int K = shape.num_components, d = shape.dim;
  // The weight that a rounded shift implies; NaN where the component's parameters are invalid.
  const auto weight_of = [=](double height, int k) {
    if (is_nan(height)) return height;
    if constexpr (sizeof(Real) == sizeof(double)) return 0.0;
    const double weight = model.weight(theta, k);
    return weight > 0 ? weight * exp2_double(static_cast<double>(shift_of_height<Real>(height, d)) - height)
                      : 0.0;
  };
  double weights, rounded;
  if (K <= kMostLanes) {
    weights = team.sum_of(team.lanes(K, [=](int k) { return model.weight(theta, k); }), K);
    rounded = team.sum_of(team.map(heights, K, weight_of), K);
  } else {
    const TwoSums sums = team.sum_two(K, [=](int k) {
      return TwoSums{model.weight(theta, k), weight_of(height_of(terms, k, d), k)};
    });
    weights = sums.a;
    rounded = sums.b;
  }
  if (is_nan(rounded) || !(weights > 0 && weights < kInfinity)) return not_a_number();
  double common = reference_height(d) - d * (kLog2RootHalfLog2E + 0.5 * kLog2TwoPi);
  if constexpr (sizeof(Real) < sizeof(double)) common -= log_ratio(rounded, weights) * kLog2E;
  return common;
}

/// Writes the shifts and returns `common`; all members may read the shifts afterwards.
template <class Real, class Team, class Model>
EMOMC_HD double prepare_heights(const Team& team, const Model& model, const double* theta,
                                const HeightTerms& terms, Real* coefficients) {
  const auto heights = heights_of(team, model.shape(), terms);
  prepare_shifts(team, model.shape(), terms, heights, coefficients);
  const double common = prepare_common<Real>(team, model, theta, terms, heights);
  team.sync();
  return common;
}

/// Writes the logarithms of the weights; the members that follow the first `lanes` ones in turn do the work.
template <class Team, class Model>
EMOMC_HD void prepare_weights(const Team& team, const Model& model, const double* theta, int lanes,
                              const HeightTerms& terms) {
  const int K = model.shape().num_components;
  EMOMC_ROLLED
  for (int i = team.rank(); i < lanes + K; i += team.size())
    if (i >= lanes) terms.log2_weight[i - lanes] = log(model.weight(theta, i - lanes)) * kLog2E;
}

/// Writes the coefficients for distances, and the terms. `inverses`: as for prepare_terms.
template <class Real, class Team, class Model, class Shape>
EMOMC_HD void prepare_factors(const Team& team, const Model& model, const Shape& shape, const double* theta,
                              Real* coefficients, const HeightTerms& terms, double* inverses) {
  // The lanes that have no distances to compute do this.
  prepare_weights(team, model, theta, shape.num_components * shape.dim, terms);
  prepare_distances(team, model, shape, theta, {0, shape.num_components}, coefficients, terms.log2_slope,
                    inverses);
}
/// The same, in one loop, so that a warp calls log() once.
template <class Real, class Team, class Model>
EMOMC_HD void prepare_factors(const Team& team, const Model& model, const AxisAlignedShape& shape,
                              const double* theta, Real* coefficients, const HeightTerms& terms, double*) {
  const int K = shape.num_components, num_slopes = K * shape.dim;
  EMOMC_ROLLED
  for (int i = team.rank(); i < num_slopes + K; i += team.size()) {
    const bool is_slope = i < num_slopes;
    const double x =
        is_slope ? write_slope(model, shape, theta, i, coefficients) : model.weight(theta, i - num_slopes);
    (is_slope ? terms.log2_slope + i : terms.log2_weight + (i - num_slopes))[0] = log(x) * kLog2E;
  }
}

/// Writes the coefficients of `theta` without the shifts, and the terms; all members may read both
/// afterwards. `inverses`: num_scratch() - num_terms() doubles that the team shares.
template <class Real, class Team, class Model>
EMOMC_HD void prepare_terms(const Team& team, const Model& model, const double* theta, Real* coefficients,
                            const HeightTerms& terms, double* inverses) {
  const auto shape = model.shape();
  prepare_factors(team, model, shape, theta, coefficients, terms, inverses);
  pad_distances(team, shape, coefficients);
  team.sync();
}

/// Writes the coefficients of `theta`, which all members may read afterwards, and returns `common`; NaN where
/// theta does not define a mixture (a scale is not positive, a number is not finite, or coefficients are
/// beyond the range of Real). `coefficients`: shape.num_coefficients() numbers. Also writes the terms of
/// `theta`. `inverses`: as for prepare_terms.
template <class Real, class Team, class Model>
EMOMC_HD double prepare_mixture(const Team& team, const Model& model, const double* theta, Real* coefficients,
                                const HeightTerms& terms, double* inverses) {
  prepare_terms(team, model, theta, coefficients, terms, inverses);
  return prepare_heights(team, model, theta, terms, coefficients);
}

/// prepare_mixture() for callers that do not need the terms. `scratch`: shape.num_scratch() doubles that the
/// team shares.
template <class Real, class Team, class Model>
EMOMC_HD double prepare_mixture(const Team& team, const Model& model, const double* theta, Real* coefficients,
                                double* scratch) {
  const auto shape = model.shape();
  const int K = shape.num_components, d = shape.dim;
  return prepare_mixture(team, model, theta, coefficients, HeightTerms::in(scratch, K, d),
                         scratch + shape.num_terms());
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_PREPARE_MIXTURE_HPP
