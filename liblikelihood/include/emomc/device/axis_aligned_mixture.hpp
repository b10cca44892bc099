// Row densities of a mixture of Gaussians with diagonal covariance, in base 2, for one number or a SIMD
// pack, on host and device. What the parameters mean is the model's (gaussian_mixture.hpp, ...).
//
// For component k and column j: z = fma(x, g, h) with g = sqrt(log2(e)/2) / sd and h = -mean g, and
//   log2 density of a row = common + log2 sum_k 2^(shift_k - sum_j z^2).
// In mixed precision g, h and shift are rounded to float32 first; `common` is then computed in float64
// from the rounded values, so that what is evaluated is exactly a mixture with the same total weight,
// at parameters 1e-7 away. Otherwise the rounding would be coherent over rows and grow with their number.
//
// Re-includable: the cpu engine includes this once per SIMD target (see forget_includes.hpp).
#ifndef EMOMC_DEVICE_AXIS_ALIGNED_MIXTURE_HPP
#define EMOMC_DEVICE_AXIS_ALIGNED_MIXTURE_HPP

#include "emomc/device/macros.hpp"
#include "emomc/device/math.hpp"
#include "emomc/device/real_ops.hpp"

namespace EMOMC_DEVICE_NAMESPACE {

/// Components whose coefficients lie side by side and are evaluated together.
inline constexpr int kComponentBlock = 4;
/// Bytes; of the coefficient array of each parameter vector.
inline constexpr int kCoefficientAlignment = 16;

/// Sizes and places in the coefficient array of one parameter vector:
/// [block of 4 components][column][component in block][g, h], then shift [num_blocks x 4].
struct MixtureShape {
  int num_components;
  int dim;

  EMOMC_INLINE int num_blocks() const { return (num_components + kComponentBlock - 1) / kComponentBlock; }
  EMOMC_INLINE int slope_index(int k, int j) const {
    return (((k / kComponentBlock) * dim + j) * kComponentBlock + k % kComponentBlock) * 2;
  }
  EMOMC_INLINE int shift_index(int k) const { return num_blocks() * dim * kComponentBlock * 2 + k; }
  EMOMC_INLINE int num_coefficients() const { return shift_index(num_blocks() * kComponentBlock); }
  /// Doubles of scratch that prepare_mixture needs.
  EMOMC_INLINE int num_scratch() const { return num_components * (dim + 1); }
};

/// Squared distances of R rows to the 4 B components from block `block` on:
/// distance[b][c][r] = -sum over columns of z^2. `row(j, x)` loads column j of the R rows into x[R].
template <int B, int R, class Real, class Scalar, class Row>
EMOMC_INLINE void accumulate_blocks(const MixtureShape& shape, const Scalar* coefficients, int block,
                                    const Row& row, Real (&distance)[B][kComponentBlock][R]) {
  EMOMC_UNROLL
  for (int b = 0; b < B; ++b) EMOMC_UNROLL
  for (int c = 0; c < kComponentBlock; ++c) EMOMC_UNROLL
  for (int r = 0; r < R; ++r) distance[b][c][r] = Real(Scalar(0));
  const Scalar* next[B];
  EMOMC_UNROLL
  for (int b = 0; b < B; ++b) next[b] = coefficients + (block + b) * shape.dim * kComponentBlock * 2;
  for (int j = 0; j < shape.dim; ++j) {
    Real x[R];
    row(j, x);
    EMOMC_UNROLL
    for (int b = 0; b < B; ++b) {
      // 16 bytes at a time: the array and its blocks of 8 numbers begin there.
      const Scalar* p = static_cast<const Scalar*>(EMOMC_ASSUME_ALIGNED(next[b], kCoefficientAlignment));
      next[b] += 2 * kComponentBlock;
      EMOMC_UNROLL
      for (int c = 0; c < kComponentBlock; ++c) {
        const Real g(p[2 * c]), h(p[2 * c + 1]);
        EMOMC_UNROLL
        for (int r = 0; r < R; ++r) {
          const Real z = real_fma(x[r], g, h);
          distance[b][c][r] = real_fnma(z, z, distance[b][c][r]);
        }
      }
    }
  }
}

/// The same for one component: distance[r]; the same bits as accumulate_blocks gives for it.
template <int R, class Real, class Scalar, class Row>
EMOMC_INLINE void accumulate_component(const MixtureShape& shape, const Scalar* coefficients, int k,
                                       const Row& row, Real (&distance)[R]) {
  EMOMC_UNROLL
  for (int r = 0; r < R; ++r) distance[r] = Real(Scalar(0));
  for (int j = 0; j < shape.dim; ++j) {
    Real x[R];
    row(j, x);
    const Real g(coefficients[shape.slope_index(k, j)]), h(coefficients[shape.slope_index(k, j) + 1]);
    EMOMC_UNROLL
    for (int r = 0; r < R; ++r) {
      const Real z = real_fma(x[r], g, h);
      distance[r] = real_fnma(z, z, distance[r]);
    }
  }
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
template <int R, class Real, class Scalar, class Fill>
EMOMC_INLINE void add_groups(const MixtureShape& shape, const Scalar* coefficients, const Fill& fill,
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
template <class Scalar, class Row>
struct FillFromRows {
  const MixtureShape& shape;
  const Scalar* coefficients;
  const Row& row;

  template <int B, int R, class Real>
  EMOMC_INLINE void operator()(int block, Real (&distance)[B][kComponentBlock][R]) const {
    accumulate_blocks<B, R>(shape, coefficients, block, row, distance);
  }
};

/// Adds all components of R rows; `row(j, x)` loads column j.
template <int R, class Real, class Scalar, class Row>
EMOMC_INLINE void add_components(const MixtureShape& shape, const Scalar* coefficients, const Row& row,
                                 LogSum<Real> (&total)[R]) {
  add_groups(shape, coefficients, FillFromRows<Scalar, Row>{shape, coefficients, row}, total);
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
template <int R, class Real, class Scalar, class Load>
EMOMC_INLINE void add_kept_components(const MixtureShape& shape, const Scalar* coefficients, const Load& load,
                                      LogSum<Real> (&total)[R]) {
  add_groups(shape, coefficients, FillFromCache<Load>{shape.num_components, load}, total);
}

}  // namespace EMOMC_DEVICE_NAMESPACE

#endif  // EMOMC_DEVICE_AXIS_ALIGNED_MIXTURE_HPP
