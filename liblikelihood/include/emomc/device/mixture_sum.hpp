// Computes log densities of rows under a mixture, in base 2, for one number or a SIMD pack, on host and
// device:
//   log2 density of a row = common + log2 sum_k 2^(t_k),  t_k = shift_k + distance_k,
// distance_k being minus the squared distance to component k. A shape defines how distances follow from
// coefficients (axis_aligned_mixture.hpp, triangular_mixture.hpp). A shape is a type with
//   num_components, dim, num_blocks(), num_pairs(), shift_index(k), num_coefficients(), num_terms(),
//   num_scratch()
// and with a function accumulate<B, C, R>(shape, coefficients, first, row, t).
//
// Powers of two are added without scaling: components in pairs, pairs in blocks of four components, then
// blocks. The shifts are chosen so that a typical row has a sum of about 1 (reference_height). Where the sum
// is not between 2^-kPlainRange and 2^kPlainRange, a second pass computes the row's logarithm relative to the
// largest term. A pair's sum therefore depends on its two components and the row alone, and may be kept while
// other components change.
//
// Re-includable: the cpu engine includes this once per SIMD target (see forget_includes.hpp).
#if defined(EMOMC_DEVICE_MIXTURE_SUM_HPP) == defined(EMOMC_ROW_ARITHMETIC_AGAIN)
#ifdef EMOMC_DEVICE_MIXTURE_SUM_HPP
#undef EMOMC_DEVICE_MIXTURE_SUM_HPP
#else
#define EMOMC_DEVICE_MIXTURE_SUM_HPP
#endif

#include "emomc/device/macros.hpp"
#include "emomc/device/math.hpp"
#include "emomc/device/real_ops.hpp"

namespace EMOMC_DEVICE_NAMESPACE {

/// Components whose coefficients lie side by side and are evaluated together.
inline constexpr int kComponentBlock = 4;
/// Alignment in bytes of the coefficient array of each parameter vector.
inline constexpr int kCoefficientAlignment = 16;

/// Number of blocks of components; the last block is padded.
EMOMC_INLINE int num_component_blocks(int num_components) {
  return (num_components + kComponentBlock - 1) / kComponentBlock;
}

/// Terms are added within pairs of components first, then over a block's two pairs, then over blocks.
inline constexpr int kPair = 2;
inline constexpr int kBlockPairs = kComponentBlock / kPair;

/// Number of blocks whose terms are in registers at once. With one block, the exponentials of the block
/// before are computed beside the next block's terms.
inline constexpr int kGroupBlocks = 2;

/// Sums between 2^-kPlainRange and 2^kPlainRange are used as they are: they are far from sums with single
/// terms beyond the range of Real.
template <class Scalar>
inline constexpr Scalar kPlainRange = sizeof(Scalar) == sizeof(float) ? 90 : 900;

/// Sets t[b][c][r] to the shift of the component, with which accumulate begins.
template <int B, int C, int R, class Shape, class Real, class Scalar>
EMOMC_INLINE void start_terms(const Shape& shape, const Scalar* coefficients, int first, Real (&t)[B][C][R]) {
  EMOMC_UNROLL
  for (int b = 0; b < B; ++b) {
    const Scalar* shifts = coefficients + shape.shift_index(first + b * kComponentBlock);
    EMOMC_UNROLL
    for (int c = 0; c < C; ++c) EMOMC_UNROLL
    for (int r = 0; r < R; ++r) t[b][c][r] = Real(shifts[c]);
  }
}

/// Adds the terms of 4 B components from block `block` on to the sums of R rows. Components beyond the last
/// have a shift of minus infinity and add nothing.
template <int B, int R, class Real>
EMOMC_INLINE void add_blocks(const Real (&t)[B][kComponentBlock][R], int block, Real (&sum)[R]) {
  static_assert(kComponentBlock == 4);
  EMOMC_UNROLL
  for (int b = 0; b < B; ++b) EMOMC_UNROLL
  for (int r = 0; r < R; ++r) {
    const Real first = real_exp2_bounded(t[b][0][r]) + real_exp2_bounded(t[b][1][r]);
    const Real last = real_exp2_bounded(t[b][2][r]) + real_exp2_bounded(t[b][3][r]);
    sum[r] = block + b == 0 ? first + last : sum[r] + (first + last);
  }
}

/// Writes the sums of one pair's terms for R rows, with the bits that add_blocks computes.
template <int R, class Shape, class Real, class Scalar, class Row>
EMOMC_INLINE void add_pair(const Shape& shape, const Scalar* coefficients, int pair, const Row& row,
                           Real (&p)[R]) {
  Real t[1][kPair][R];
  accumulate(shape, coefficients, pair * kPair, row, t);
  EMOMC_UNROLL
  for (int r = 0; r < R; ++r) p[r] = real_exp2_bounded(t[0][0][r]) + real_exp2_bounded(t[0][1][r]);
}

/// Writes the sums over all components for R rows; `row(j, x)` loads column j of the rows. The bits do not
/// depend on kGroup.
template <int kGroup = kGroupBlocks, int R, class Shape, class Real, class Scalar, class Row>
EMOMC_INLINE void add_components(const Shape& shape, const Scalar* coefficients, const Row& row,
                                 Real (&sum)[R]) {
  const int num_whole = (shape.num_components + kComponentBlock - kPair - 1) / kComponentBlock;
  int block = 0;
  if constexpr (kGroup > 1) {
    for (; block + kGroup <= num_whole; block += kGroup) {
      Real t[kGroup][kComponentBlock][R];
      accumulate(shape, coefficients, block * kComponentBlock, row, t);
      add_blocks(t, block, sum);
    }
  }
  EMOMC_UNROLL_EXACT_TWICE
  for (; block < num_whole; ++block) {
    Real t[1][kComponentBlock][R];
    accumulate(shape, coefficients, block * kComponentBlock, row, t);
    add_blocks(t, block, sum);
  }
  if (block == shape.num_blocks()) return;
  // The second pair of the last block would be padding that adds nothing.
  Real p[R];
  add_pair(shape, coefficients, block * kBlockPairs, row, p);
  EMOMC_UNROLL
  for (int r = 0; r < R; ++r) sum[r] = block == 0 ? p[r] : sum[r] + p[r];
}

/// Writes the sums of a block for R rows from those of its two pairs, which `load(pair, p)` reads.
template <int R, class Real, class Load>
EMOMC_INLINE void add_kept_block(int block, const Load& load, Real (&sum)[R]) {
  Real last[R];
  load(block * kBlockPairs, sum);
  load(block * kBlockPairs + 1, last);
  EMOMC_UNROLL
  for (int r = 0; r < R; ++r) sum[r] = sum[r] + last[r];
}

/// Writes the sums over all components from those of pairs; the same bits as add_components.
template <int R, class Shape, class Real, class Load>
EMOMC_INLINE void add_kept_pairs(const Shape& shape, const Load& load, Real (&sum)[R]) {
  add_kept_block(0, load, sum);
  EMOMC_UNROLL_EXACT
  for (int block = 1; block < shape.num_blocks(); ++block) {
    Real next[R];
    add_kept_block(block, load, next);
    EMOMC_UNROLL
    for (int r = 0; r < R; ++r) sum[r] = sum[r] + next[r];
  }
}

/// Adds the terms of all components, which may have any size, to the running logarithms of R rows.
template <int R, class Shape, class Real, class Scalar, class Row>
EMOMC_INLINE void add_any(const Shape& shape, const Scalar* coefficients, const Row& row,
                          LogSum<Real> (&total)[R]) {
  EMOMC_ROLLED
  for (int k = 0; k < shape.num_components; ++k) {
    Real t[1][1][R];
    accumulate(shape, coefficients, k, row, t);
    EMOMC_UNROLL
    for (int r = 0; r < R; ++r) total[r].add(t[0][0][r]);
  }
}

}  // namespace EMOMC_DEVICE_NAMESPACE

#endif  // EMOMC_DEVICE_MIXTURE_SUM_HPP
