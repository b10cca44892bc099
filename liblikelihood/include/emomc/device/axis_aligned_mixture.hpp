// Distances to Gaussians with diagonal covariance. The models (gaussian_mixture.hpp, ...) define the
// parameters.
//
// For component k and column j: z = fma(x, g, h) with g = sqrt(log2(e)/2) / sd and h = -mean g, and
//   distance_k = -sum_j z^2, where squares are subtracted from the shift column after column.
// In mixed precision g, h and shift are rounded to float32 first; `common` (mixture_sum.hpp) is then computed
// in float64 from the rounded values, so that the evaluated function is exactly a mixture with the same total
// weight, at parameters 1e-7 away. Otherwise rounding errors would be coherent over rows and grow with the
// number of rows.
//
// Re-includable: the cpu engine includes this once per SIMD target (see forget_includes.hpp).
#if defined(EMOMC_DEVICE_AXIS_ALIGNED_MIXTURE_HPP) == defined(EMOMC_ROW_ARITHMETIC_AGAIN)
#ifdef EMOMC_DEVICE_AXIS_ALIGNED_MIXTURE_HPP
#undef EMOMC_DEVICE_AXIS_ALIGNED_MIXTURE_HPP
#else
#define EMOMC_DEVICE_AXIS_ALIGNED_MIXTURE_HPP
#endif

#include "emomc/device/mixture_sum.hpp"

namespace EMOMC_DEVICE_NAMESPACE {

/// Sizes and places in the coefficient array of one parameter vector:
/// [block of 4 components][column][component in block][g, h], then shift [num_blocks x 4].
struct AxisAlignedShape {
  int num_components;
  int dim;

  EMOMC_INLINE int num_blocks() const { return num_component_blocks(num_components); }
  EMOMC_INLINE int num_pairs() const { return num_blocks() * kBlockPairs; }
  EMOMC_INLINE int slope_index(int k, int j) const {
    return (((k / kComponentBlock) * dim + j) * kComponentBlock + k % kComponentBlock) * 2;
  }
  EMOMC_INLINE int offset_index(int k, int j) const { return slope_index(k, j) + 1; }
  EMOMC_INLINE int shift_index(int k) const { return num_blocks() * dim * kComponentBlock * 2 + k; }
  EMOMC_INLINE int num_coefficients() const { return shift_index(num_blocks() * kComponentBlock); }
  /// Number of doubles of HeightTerms, and of the scratch memory of prepare_mixture, which includes the
  /// terms.
  EMOMC_INLINE int num_terms() const { return num_components * (dim + 1); }
  EMOMC_INLINE int num_scratch() const { return num_components * (dim + 1); }
};

template <class Shape>
inline constexpr bool kIsAxisAligned = false;
template <>
inline constexpr bool kIsAxisAligned<AxisAlignedShape> = true;

/// Whether the terms of a shape are logarithms, which take registers in float64.
template <class Shape>
inline constexpr bool kTakesLogarithms = false;

/// The neighbouring coefficients of C components for one column. On a GPU 16 bytes are loaded at a time. The
/// alignment is part of a type, since the compiler loses an assumption about an address in loops.
template <int C, class Scalar>
struct ColumnCoefficients {
#ifdef __CUDA_ARCH__
  struct alignas(C == 1 ? 2 * sizeof(Scalar) : kCoefficientAlignment) Numbers {
    Scalar at[2 * C];
  };
  EMOMC_INLINE static Numbers at(const Scalar* p) { return *reinterpret_cast<const Numbers*>(p); }
#else
  struct Numbers {
    const Scalar* at;
  };
  EMOMC_INLINE static Numbers at(const Scalar* p) {
    constexpr int kAlignment = C == 1 ? sizeof(Scalar) : kCoefficientAlignment;
    return {static_cast<const Scalar*>(EMOMC_ASSUME_ALIGNED(p, kAlignment))};
  }
#endif
};

/// Subtracts the sum over columns of z^2 from t[b][c][r], for R rows and C components from first + 4 b on,
/// for each b: whole blocks (C = 4), or one pair or component (B = 1; `first` is even for a pair). `row(j,
/// x)` loads column j of the R rows into x[R]. The bits of a term depend on neither B nor C.
template <int B, int C, int R, class Real, class Scalar, class Row>
EMOMC_INLINE void subtract_squares(const AxisAlignedShape& shape, const Scalar* coefficients, int first,
                                   const Row& row, Real (&t)[B][C][R]) {
  const Scalar* next[B];
  EMOMC_UNROLL
  for (int b = 0; b < B; ++b) {
    next[b] = coefficients + shape.slope_index(first + b * kComponentBlock, 0);
  }
  EMOMC_UNROLL_EXACT
  for (int j = 0; j < shape.dim; ++j) {
    Real x[R];
    row(j, x);
#ifdef __CUDA_ARCH__
    // The offsets of a block are computed before the squares, and rows are visited forwards and backwards in
    // turn: an instruction that shares two operands with the previous one does not wait for the two banks of
    // registers, each of which delivers one operand per cycle.
    EMOMC_UNROLL
    for (int b = 0; b < B; ++b) {
      const auto p = ColumnCoefficients<C, Scalar>::at(next[b]);
      next[b] += 2 * kComponentBlock;
      Real z[C][R];
      EMOMC_UNROLL
      for (int c = 0; c < C; ++c) EMOMC_UNROLL
      for (int i = 0; i < R; ++i) {
        const int r = c % 2 == 0 ? i : R - 1 - i;
        z[c][r] = real_fma(x[r], Real(p.at[2 * c]), Real(p.at[2 * c + 1]));
      }
      EMOMC_UNROLL
      for (int c = 0; c < C; ++c) EMOMC_UNROLL
      for (int r = 0; r < R; ++r) t[b][c][r] = real_fnma(z[c][r], z[c][r], t[b][c][r]);
    }
#else
    EMOMC_UNROLL
    for (int b = 0; b < B; ++b) {
      const auto p = ColumnCoefficients<C, Scalar>::at(next[b]);
      next[b] += 2 * kComponentBlock;
      EMOMC_UNROLL
      for (int c = 0; c < C; ++c) {
        const Real g(p.at[2 * c]), h(p.at[2 * c + 1]);
        EMOMC_UNROLL
        for (int r = 0; r < R; ++r) {
          const Real z = real_fma(x[r], g, h);
          t[b][c][r] = real_fnma(z, z, t[b][c][r]);
        }
      }
    }
#endif
  }
}

/// Sets t[b][c][r] to the shift minus the sum over columns of z^2.
template <int B, int C, int R, class Real, class Scalar, class Row>
EMOMC_INLINE void accumulate(const AxisAlignedShape& shape, const Scalar* coefficients, int first,
                             const Row& row, Real (&t)[B][C][R]) {
  start_terms(shape, coefficients, first, t);
  subtract_squares(shape, coefficients, first, row, t);
}

}  // namespace EMOMC_DEVICE_NAMESPACE

#endif  // EMOMC_DEVICE_AXIS_ALIGNED_MIXTURE_HPP
