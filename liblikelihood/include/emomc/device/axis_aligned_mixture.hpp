// Distances to Gaussians with diagonal covariance. What the parameters mean is the model's
// (gaussian_mixture.hpp, ...).
//
// For component k and column j: z = fma(x, g, h) with g = sqrt(log2(e)/2) / sd and h = -mean g, and
//   distance_k = -sum_j z^2.
// In mixed precision g, h and shift are rounded to float32 first; `common` (mixture_sum.hpp) is then computed
// in float64 from the rounded values, so that what is evaluated is exactly a mixture with the same total
// weight, at parameters 1e-7 away. Otherwise the rounding would be coherent over rows and grow with their
// number.
//
// Re-includable: the cpu engine includes this once per SIMD target (see forget_includes.hpp).
#ifndef EMOMC_DEVICE_AXIS_ALIGNED_MIXTURE_HPP
#define EMOMC_DEVICE_AXIS_ALIGNED_MIXTURE_HPP

#include "emomc/device/mixture_sum.hpp"

namespace EMOMC_DEVICE_NAMESPACE {

/// Sizes and places in the coefficient array of one parameter vector:
/// [block of 4 components][column][component in block][g, h], then shift [num_blocks x 4].
struct AxisAlignedShape {
  int num_components;
  int dim;

  EMOMC_INLINE int num_blocks() const { return num_component_blocks(num_components); }
  EMOMC_INLINE int slope_index(int k, int j) const {
    return (((k / kComponentBlock) * dim + j) * kComponentBlock + k % kComponentBlock) * 2;
  }
  EMOMC_INLINE int shift_index(int k) const { return num_blocks() * dim * kComponentBlock * 2 + k; }
  EMOMC_INLINE int num_coefficients() const { return shift_index(num_blocks() * kComponentBlock); }
  /// Doubles of HeightTerms, and of scratch that prepare_mixture needs, the terms among them.
  EMOMC_INLINE int num_terms() const { return num_components * (dim + 1); }
  EMOMC_INLINE int num_scratch() const { return num_components * (dim + 1); }
};

/// Squared distances of R rows to the 4 B components from block `block` on:
/// distance[b][c][r] = -sum over columns of z^2. `row(j, x)` loads column j of the R rows into x[R].
template <int B, int R, class Real, class Scalar, class Row>
EMOMC_INLINE void accumulate_blocks(const AxisAlignedShape& shape, const Scalar* coefficients, int block,
                                    const Row& row, Real (&distance)[B][kComponentBlock][R]) {
  EMOMC_UNROLL
  for (int b = 0; b < B; ++b) EMOMC_UNROLL
  for (int c = 0; c < kComponentBlock; ++c) EMOMC_UNROLL
  for (int r = 0; r < R; ++r) distance[b][c][r] = Real(Scalar(0));
  const Scalar* next[B];
  EMOMC_UNROLL
  for (int b = 0; b < B; ++b) next[b] = coefficients + (block + b) * shape.dim * kComponentBlock * 2;
  EMOMC_UNROLL_EXACT
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
EMOMC_INLINE void accumulate_component(const AxisAlignedShape& shape, const Scalar* coefficients, int k,
                                       const Row& row, Real (&distance)[R]) {
  EMOMC_UNROLL
  for (int r = 0; r < R; ++r) distance[r] = Real(Scalar(0));
  EMOMC_UNROLL_EXACT
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

}  // namespace EMOMC_DEVICE_NAMESPACE

#endif  // EMOMC_DEVICE_AXIS_ALIGNED_MIXTURE_HPP
