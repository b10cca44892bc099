// Log densities of rows under a mixture, in base 2, for one number or a SIMD pack, on host and device:
//   log2 density of a row = common + log2 sum_k 2^(shift_k + distance_k),
// distance_k being minus the squared distance to component k. How distances follow from coefficients is the
// shape's (axis_aligned_mixture.hpp, triangular_mixture.hpp): a type with
//   num_components, dim, num_blocks(), shift_index(k), num_coefficients(), num_terms(), num_scratch()
//   accumulate_blocks<B, R>(shape, coefficients, block, row, distance)
//   accumulate_component<R>(shape, coefficients, k, row, distance)
//
// Re-includable: the cpu engine includes this once per SIMD target (see forget_includes.hpp).
#ifndef EMOMC_DEVICE_MIXTURE_SUM_HPP
#define EMOMC_DEVICE_MIXTURE_SUM_HPP

#include "emomc/device/macros.hpp"
#include "emomc/device/math.hpp"
#include "emomc/device/real_ops.hpp"

namespace EMOMC_DEVICE_NAMESPACE {

/// Components whose coefficients lie side by side and are evaluated together.
inline constexpr int kComponentBlock = 4;
/// Bytes; of the coefficient array of each parameter vector.
inline constexpr int kCoefficientAlignment = 16;

/// Blocks of components, the last one padded.
EMOMC_INLINE int num_component_blocks(int num_components) {
  return (num_components + kComponentBlock - 1) / kComponentBlock;
}

/// Components whose terms are added together.
inline constexpr int kGroupBlocks = 2;

/// Adds the terms of 4 B components, distance + shift, to the sums of R rows. Components beyond the last
/// have a shift of minus infinity and add nothing.
template <int B, int R, class Real, class Scalar>
EMOMC_INLINE void add_group(const Real (&distance)[B][kComponentBlock][R], const Scalar* shifts,
                            bool is_first, LogSum<Real> (&total)[R]) {
  EMOMC_UNROLL
  for (int r = 0; r < R; ++r) {
    Real t[B * kComponentBlock];
    EMOMC_UNROLL
    for (int b = 0; b < B; ++b) EMOMC_UNROLL
    for (int c = 0; c < kComponentBlock; ++c)
      t[b * kComponentBlock + c] = distance[b][c][r] + Real(shifts[b * kComponentBlock + c]);
    if (is_first)
      total[r].start(t);
    else
      total[r].add(t);
  }
}

/// Adds all components to the sums of R rows, group after group. `fill(block, distance)` fills the distances
/// of the components from 4 block on, [kGroupBlocks or 1][4][R].
template <int R, class Shape, class Real, class Scalar, class Fill>
EMOMC_INLINE void add_groups(const Shape& shape, const Scalar* coefficients, const Fill& fill,
                             LogSum<Real> (&total)[R]) {
  const Scalar* shifts = coefficients + shape.shift_index(0);
  int block = 0;
  for (; block + kGroupBlocks <= shape.num_blocks(); block += kGroupBlocks) {
    Real distance[kGroupBlocks][kComponentBlock][R];
    fill(block, distance);
    add_group(distance, shifts + block * kComponentBlock, block == 0, total);
  }
  for (; block < shape.num_blocks(); ++block) {
    Real distance[1][kComponentBlock][R];
    fill(block, distance);
    add_group(distance, shifts + block * kComponentBlock, block == 0, total);
  }
}

/// Distances of a block of components, by accumulate_blocks.
template <class Shape, class Scalar, class Row>
struct FillFromRows {
  const Shape& shape;
  const Scalar* coefficients;
  const Row& row;

  template <int B, int R, class Real>
  EMOMC_INLINE void operator()(int block, Real (&distance)[B][kComponentBlock][R]) const {
    accumulate_blocks<B, R>(shape, coefficients, block, row, distance);
  }
};

/// Adds all components of R rows; `row(j, x)` loads column j.
template <int R, class Shape, class Real, class Scalar, class Row>
EMOMC_INLINE void add_components(const Shape& shape, const Scalar* coefficients, const Row& row,
                                 LogSum<Real> (&total)[R]) {
  add_groups(shape, coefficients, FillFromRows<Shape, Scalar, Row>{shape, coefficients, row}, total);
}

/// Distances that were kept; `load(k, q)` loads component k's of the R rows.
template <class Load>
struct FillFromCache {
  int num_components;
  const Load& load;

  template <int B, int R, class Real>
  EMOMC_INLINE void operator()(int block, Real (&distance)[B][kComponentBlock][R]) const {
    using Scalar = typename RealTraits<Real>::Scalar;
    EMOMC_UNROLL
    for (int b = 0; b < B; ++b) EMOMC_UNROLL
    for (int c = 0; c < kComponentBlock; ++c) {
      const int k = (block + b) * kComponentBlock + c;
      EMOMC_UNROLL
      for (int r = 0; r < R; ++r) distance[b][c][r] = Real(Scalar(0));
      if (k < num_components) load(k, distance[b][c]);
    }
  }
};

/// Adds all components of R rows from kept distances; the same bits as add_components.
template <int R, class Shape, class Real, class Scalar, class Load>
EMOMC_INLINE void add_kept_components(const Shape& shape, const Scalar* coefficients, const Load& load,
                                      LogSum<Real> (&total)[R]) {
  add_groups(shape, coefficients, FillFromCache<Load>{shape.num_components, load}, total);
}

}  // namespace EMOMC_DEVICE_NAMESPACE

#endif  // EMOMC_DEVICE_MIXTURE_SUM_HPP
