// Distances to Gaussians with full covariance, for mixtures with a covariance for each component or one for
// all.
//
// With Sigma = L L', W = sqrt(log2(e)/2) L^-1 (lower triangular) and h = -W mean:
//   distance_k = -sum_i (h_i + sum_{j <= i} W_ij x_j)^2.
// In mixed precision W, then h from the rounded W, and the shifts are rounded to float32 first, as in
// axis_aligned_mixture.hpp: any W with a positive diagonal defines a Gaussian, with normaliser prod_i W_ii.
//
// Re-includable: the cpu engine includes this once per SIMD target (see forget_includes.hpp).
#if defined(EMOMC_DEVICE_TRIANGULAR_MIXTURE_HPP) == defined(EMOMC_ROW_ARITHMETIC_AGAIN)
#ifdef EMOMC_DEVICE_TRIANGULAR_MIXTURE_HPP
#undef EMOMC_DEVICE_TRIANGULAR_MIXTURE_HPP
#else
#define EMOMC_DEVICE_TRIANGULAR_MIXTURE_HPP
#endif

#include "emomc/device/mixture_sum.hpp"

namespace EMOMC_DEVICE_NAMESPACE {

/// Number of elements of a lower triangle with its diagonal.
EMOMC_INLINE int triangle_size(int dim) { return dim * (dim + 1) / 2; }
/// Place of element (i, j), j <= i, of a lower triangle stored row after row.
EMOMC_INLINE int triangle_index(int i, int j) { return i * (i + 1) / 2 + j; }

/// A covariance for each component. Coefficients: [block of 4 components][i: h_i, W_i0 .. W_ii][component in
/// block], then shift [num_blocks x 4].
struct FullShape {
  int num_components;
  int dim;
  static constexpr bool is_shared = false;

  EMOMC_INLINE int num_blocks() const { return num_component_blocks(num_components); }
  EMOMC_INLINE int num_pairs() const { return num_blocks() * kBlockPairs; }
  EMOMC_INLINE int num_factors() const { return num_components; }
  EMOMC_INLINE int rows_per_block() const { return triangle_size(dim) + dim; }
  EMOMC_INLINE int offset_index(int k, int i) const {
    return ((k / kComponentBlock) * rows_per_block() + triangle_index(i, 0) + i) * kComponentBlock +
           k % kComponentBlock;
  }
  EMOMC_INLINE int factor_index(int k, int i, int j) const {
    return offset_index(k, i) + (1 + j) * kComponentBlock;
  }
  EMOMC_INLINE int shift_index(int k) const { return num_blocks() * rows_per_block() * kComponentBlock + k; }
  EMOMC_INLINE int num_coefficients() const { return shift_index(num_blocks() * kComponentBlock); }
  /// Number of doubles of HeightTerms, and of the scratch memory of prepare_mixture, which includes the
  /// terms.
  EMOMC_INLINE int num_terms() const { return num_components * (dim + 1); }
  EMOMC_INLINE int num_scratch() const { return num_components * (triangle_size(dim) + dim + 1); }
};

/// A covariance that all components share. Coefficients: W [triangle], padded to 4, then [block of 4
/// components][i][component in block] h_i, then shift [num_blocks x 4].
struct TiedShape {
  int num_components;
  int dim;
  static constexpr bool is_shared = true;

  EMOMC_INLINE int num_blocks() const { return num_component_blocks(num_components); }
  EMOMC_INLINE int num_pairs() const { return num_blocks() * kBlockPairs; }
  EMOMC_INLINE int num_factors() const { return 1; }
  EMOMC_INLINE int first_offset() const { return (triangle_size(dim) + 3) / 4 * 4; }
  EMOMC_INLINE int offset_index(int k, int i) const {
    return first_offset() + ((k / kComponentBlock) * dim + i) * kComponentBlock + k % kComponentBlock;
  }
  EMOMC_INLINE int factor_index(int, int i, int j) const { return triangle_index(i, j); }
  EMOMC_INLINE int shift_index(int k) const {
    return first_offset() + num_blocks() * dim * kComponentBlock + k;
  }
  EMOMC_INLINE int num_coefficients() const { return shift_index(num_blocks() * kComponentBlock); }
  /// Number of doubles of HeightTerms, and of the scratch memory of prepare_mixture, which includes the
  /// terms.
  EMOMC_INLINE int num_terms() const { return num_components * (dim + 1); }
  EMOMC_INLINE int num_scratch() const { return triangle_size(dim) + num_components * (dim + 1); }
};

/// accumulate() of mixture_sum.hpp, with the conditions of subtract_squares() for an AxisAlignedShape.
template <int B, int C, int R, class Real, class Scalar, class Row>
EMOMC_INLINE void accumulate(const FullShape& shape, const Scalar* coefficients, int first, const Row& row,
                             Real (&t)[B][C][R]) {
  constexpr int kAlignment =
      C * sizeof(Scalar) < kCoefficientAlignment ? C * sizeof(Scalar) : kCoefficientAlignment;
  start_terms(shape, coefficients, first, t);
  EMOMC_UNROLL
  for (int b = 0; b < B; ++b) {
    const Scalar* next = coefficients + shape.offset_index(first + b * kComponentBlock, 0);
    EMOMC_UNROLL_EXACT_PAIRS
    for (int i = 0; i < shape.dim; ++i) {
      Real z[C][R];
      const Scalar* h = static_cast<const Scalar*>(EMOMC_ASSUME_ALIGNED(next, kAlignment));
      next += kComponentBlock;
      EMOMC_UNROLL
      for (int c = 0; c < C; ++c) EMOMC_UNROLL
      for (int r = 0; r < R; ++r) z[c][r] = Real(h[c]);
      EMOMC_UNROLL_EXACT_PAIRS
      for (int j = 0; j <= i; ++j) {
        Real x[R];
        row(j, x);
        const Scalar* w = static_cast<const Scalar*>(EMOMC_ASSUME_ALIGNED(next, kAlignment));
        next += kComponentBlock;
        EMOMC_UNROLL
        for (int c = 0; c < C; ++c) {
          const Real factor(w[c]);
          EMOMC_UNROLL
          for (int r = 0; r < R; ++r) z[c][r] = real_fma(x[r], factor, z[c][r]);
        }
      }
      EMOMC_UNROLL
      for (int c = 0; c < C; ++c) EMOMC_UNROLL
      for (int r = 0; r < R; ++r) t[b][c][r] = real_fnma(z[c][r], z[c][r], t[b][c][r]);
    }
  }
}

/// Writes element i of W x for R rows.
template <int R, class Real, class Scalar, class Row>
EMOMC_INLINE void rotate_rows(const Scalar* factors, int i, const Row& row, Real (&y)[R]) {
  EMOMC_UNROLL
  for (int r = 0; r < R; ++r) y[r] = Real(Scalar(0));
  EMOMC_UNROLL_EXACT_PAIRS
  for (int j = 0; j <= i; ++j) {
    Real x[R];
    row(j, x);
    const Real factor(factors[triangle_index(i, j)]);
    EMOMC_UNROLL
    for (int r = 0; r < R; ++r) y[r] = real_fma(x[r], factor, y[r]);
  }
}

template <int B, int C, int R, class Real, class Scalar, class Row>
EMOMC_INLINE void accumulate(const TiedShape& shape, const Scalar* coefficients, int first, const Row& row,
                             Real (&t)[B][C][R]) {
  constexpr int kAlignment =
      C * sizeof(Scalar) < kCoefficientAlignment ? C * sizeof(Scalar) : kCoefficientAlignment;
  start_terms(shape, coefficients, first, t);
  EMOMC_UNROLL_EXACT_PAIRS
  for (int i = 0; i < shape.dim; ++i) {
    Real y[R];
    rotate_rows(coefficients, i, row, y);
    EMOMC_UNROLL
    for (int b = 0; b < B; ++b) {
      const Scalar* h = static_cast<const Scalar*>(EMOMC_ASSUME_ALIGNED(
          coefficients + shape.offset_index(first + b * kComponentBlock, i), kAlignment));
      EMOMC_UNROLL
      for (int c = 0; c < C; ++c) {
        const Real offset(h[c]);
        EMOMC_UNROLL
        for (int r = 0; r < R; ++r) {
          const Real z = y[r] + offset;
          t[b][c][r] = real_fnma(z, z, t[b][c][r]);
        }
      }
    }
  }
}

}  // namespace EMOMC_DEVICE_NAMESPACE

#endif  // EMOMC_DEVICE_TRIANGULAR_MIXTURE_HPP
