// Mixture of Student's t distributions in d dimensions: weights [K], means [K][d], scales [K][d],
// degrees_of_freedom [K]. A component has the density (Kotz and Nadarajah 2004, "Multivariate t Distributions
// and Their Applications", with a diagonal scale matrix)
//   Gamma((nu + d) / 2) / (Gamma(nu / 2) (nu pi)^(d / 2) prod_j s_j)
//     (1 + sum_j ((x_j - m_j) / s_j)^2 / nu)^(-(nu + d) / 2).
//
// With g = 1 / (s sqrt(nu)), h = -m g and e = log2(e) (nu + d) / 2 the weighted log density is, to base 2,
//   t = shift - e log(1 + sum_j (x_j g_j + h_j)^2).
// In mixed precision g, h and e are rounded to float32 first and the shift is computed from the rounded
// numbers, as in axis_aligned_mixture.hpp: any g > 0 and any exponent e above log2(e) d / 2 define a t
// distribution.
#include "emomc/device/axis_aligned_mixture.hpp"  // before the guard: this may be included again

#if defined(EMOMC_DEVICE_STUDENT_T_ARITHMETIC) == defined(EMOMC_ROW_ARITHMETIC_AGAIN)
#ifdef EMOMC_DEVICE_STUDENT_T_ARITHMETIC
#undef EMOMC_DEVICE_STUDENT_T_ARITHMETIC
#else
#define EMOMC_DEVICE_STUDENT_T_ARITHMETIC
#endif

namespace EMOMC_DEVICE_NAMESPACE {

/// A shape whose coefficients are those of AxisAlignedShape, followed by e [num_blocks x 4].
struct StudentTShape {
  int num_components;
  int dim;

  EMOMC_INLINE AxisAlignedShape squares() const { return {num_components, dim}; }
  EMOMC_INLINE int num_blocks() const { return squares().num_blocks(); }
  EMOMC_INLINE int num_pairs() const { return squares().num_pairs(); }
  EMOMC_INLINE int slope_index(int k, int j) const { return squares().slope_index(k, j); }
  EMOMC_INLINE int offset_index(int k, int j) const { return squares().offset_index(k, j); }
  EMOMC_INLINE int shift_index(int k) const { return squares().shift_index(k); }
  EMOMC_INLINE int exponent_index(int k) const { return squares().num_coefficients() + k; }
  EMOMC_INLINE int num_coefficients() const { return exponent_index(num_blocks() * kComponentBlock); }
  EMOMC_INLINE int num_terms() const { return squares().num_terms(); }
  EMOMC_INLINE int num_scratch() const { return squares().num_scratch(); }
};

template <>
inline constexpr bool kTakesLogarithms<StudentTShape> = true;

/// accumulate() of mixture_sum.hpp, with the conditions of subtract_squares() for an AxisAlignedShape.
template <int B, int C, int R, class Real, class Scalar, class Row>
EMOMC_INLINE void accumulate(const StudentTShape& shape, const Scalar* coefficients, int first,
                             const Row& row, Real (&t)[B][C][R]) {
  EMOMC_UNROLL
  for (int b = 0; b < B; ++b) EMOMC_UNROLL
  for (int c = 0; c < C; ++c) EMOMC_UNROLL
  for (int r = 0; r < R; ++r) t[b][c][r] = Real(Scalar(0));
  subtract_squares(shape.squares(), coefficients, first, row, t);
  EMOMC_UNROLL
  for (int b = 0; b < B; ++b) {
    const Scalar* shifts = coefficients + shape.shift_index(first + b * kComponentBlock);
    const Scalar* exponents = coefficients + shape.exponent_index(first + b * kComponentBlock);
    EMOMC_UNROLL
    for (int c = 0; c < C; ++c) EMOMC_UNROLL
    for (int r = 0; r < R; ++r) {
      const Real squares = Real(Scalar(0)) - t[b][c][r];
      t[b][c][r] = real_fnma(Real(exponents[c]), real_log1p(squares), Real(shifts[c]));
    }
  }
}

}  // namespace EMOMC_DEVICE_NAMESPACE

#endif  // EMOMC_DEVICE_STUDENT_T_ARITHMETIC

#ifndef EMOMC_DEVICE_STUDENT_T_MIXTURE_HPP
#define EMOMC_DEVICE_STUDENT_T_MIXTURE_HPP

#include "emomc/device/gaussian_mixture.hpp"
#include "emomc/device/log_gamma_ratio.hpp"
#include "emomc/device/prepare_mixture.hpp"

namespace emomc::device {

struct StudentTMixture : GaussianMixture {
  static constexpr const char* name = "student_t_mixture";
  static constexpr const char* description = "heavy tails";
  static constexpr bool has_gaussian_components = false;
  static constexpr bool has_em = false;
  static constexpr BlockDescription blocks[] = {
      GaussianMixture::blocks[0],
      GaussianMixture::blocks[1],
      GaussianMixture::blocks[2],
      {"degrees_of_freedom",
       Support::positive,
       DataUnit::none,
       Influence::component,
       1,
       {Axis::component, Axis::component},
       "{gamma: {shape: 2, rate: 0.1}}"},  // Juarez and Steel (2010)
  };

  EMOMC_INLINE StudentTShape shape() const { return {num_components, dim}; }
  EMOMC_INLINE int num_parameters() const { return num_components * (2 + 2 * dim); }
  EMOMC_INLINE int freedom_index(int k) const { return num_components * (1 + 2 * dim) + k; }
  EMOMC_INLINE double degrees_of_freedom(const double* theta, int k) const {
    return theta[num_components * (1 + 2 * dim) + k];
  }
};

/// log2 of the part of a component's normaliser that depends on `exponent`, (nu + d) / 2, and d alone, minus
/// that of a Gaussian with the same slopes, which prepare_common() adds to every component.
EMOMC_INLINE double student_t_normaliser(double exponent, int d) {
  const double half = 0.5 * d;
  return (log_gamma_ratio(exponent - half, half) - half * kLogPi) * kLog2E +
         d * (kLog2RootHalfLog2E + 0.5 * kLog2TwoPi);
}

/// prepare_distances() of prepare_mixture.hpp; the normaliser is added to the first column's logarithm.
template <class Real, class Team, class Model>
EMOMC_HD void prepare_distances(const Team& team, const Model& model, const StudentTShape& shape,
                                const double* theta, ComponentRange some, Real* coefficients,
                                double* log2_slope, double*) {
  const int d = shape.dim, end = (some.first + some.count) * d;
  EMOMC_ROLLED
  for (int i = some.first * d + team.rank(); i < end; i += team.size()) {
    const int k = i / d, j = i % d;
    const double freedom = model.degrees_of_freedom(theta, k);
    const Real exponent = static_cast<Real>(0.5 * kLog2E * (freedom + d));
    const Real g = static_cast<Real>(1.0 / (model.scale(theta, k, j) * EMOMC_SQRT(freedom)));
    const Real h = static_cast<Real>(-model.mean(theta, k, j) * static_cast<double>(g));
    coefficients[shape.slope_index(k, j)] = g;
    coefficients[shape.offset_index(k, j)] = h;
    if (j == 0) coefficients[shape.exponent_index(k)] = exponent;
    const double e = static_cast<double>(exponent) / kLog2E;
    const bool usable = g > 0 && is_finite(static_cast<double>(g)) && is_finite(static_cast<double>(h)) &&
                        e > 0.5 * d && is_finite(e) && freedom > 0;
    log2_slope[i] = !usable
                        ? not_a_number()
                        : log(static_cast<double>(g)) * kLog2E + (j == 0 ? student_t_normaliser(e, d) : 0.0);
  }
}

template <class Real, class Team>
EMOMC_HD void pad_distances(const Team& team, const StudentTShape& shape, Real* coefficients) {
  pad_distances(team, shape.squares(), coefficients);
  const int K = shape.num_components, padded = shape.num_blocks() * kComponentBlock;
  EMOMC_ROLLED
  for (int k = K + team.rank(); k < padded; k += team.size()) coefficients[shape.exponent_index(k)] = 0;
}

template <class Real, class Team, class Model>
EMOMC_HD void move_component(const Team& team, const Model& model, const StudentTShape& shape,
                             const double* theta, int k, Real* coefficients) {
  move_component(team, model, shape.squares(), theta, k, coefficients);
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_STUDENT_T_MIXTURE_HPP
