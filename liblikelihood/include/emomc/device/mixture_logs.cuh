// Computes logarithms of the sums over components (mixture_sum.hpp), and sums of these logarithms over a
// thread's rows.
#ifndef EMOMC_DEVICE_MIXTURE_LOGS_CUH
#define EMOMC_DEVICE_MIXTURE_LOGS_CUH

#include "emomc/device/mixture_sum.hpp"
#include "emomc/device/row_sums.cuh"

namespace emomc::device {

/// Writes log2 of sums and returns whether all sums are within kPlainRange. A value of `out` whose sum is
/// outside the range has no meaning.
template <int R>
__device__ inline bool plain_log2(const float (&sum)[R], double (&out)[R]) {
  float most = 0;
#pragma unroll
  for (int r = 0; r < R; ++r) {
    const float y = real_log2(sum[r]);  // minus infinity for zero or a subnormal number
    out[r] = static_cast<double>(y);
    most = fmaxf(most, fabsf(y));
  }
  return most < kPlainRange<float>;
}
/// Whether x is within kPlainRange, from its sign and exponent.
__device__ inline bool is_plain(double x) {
  constexpr int kRange = static_cast<int>(kPlainRange<double>);
  constexpr int kLeast = (1023 - kRange) << 20;
  return static_cast<unsigned>(__double2hiint(x) - kLeast) < 2u * kRange << 20;
}
template <int R>
__device__ inline bool plain_log2(const double (&sum)[R], double (&out)[R]) {
  bool all = true;
#pragma unroll
  for (int r = 0; r < R; ++r) {
    out[r] = real_log2(is_plain(sum[r]) ? sum[r] : 1.0);
    all = all && is_plain(sum[r]);
  }
  return all;
}

/// log2 of a row's sum over components, which may have any size; the row's columns are `stride` apart. The
/// function is not inlined, since it is rarely called and its registers would crowd out others.
template <class Shape, class Real>
__device__ __noinline__ double any_log2(Shape shape, const Real* coefficients, const Real* row, int stride) {
  asm volatile("" : "+r"(shape.dim));  // prevents unrolling of loops over columns
  LogSum<Real> total[1];
  add_any(
      shape, coefficients, [=](int j, Real(&x)[1]) { x[0] = row[j * stride]; }, total);
  return static_cast<double>(total[0].largest) + static_cast<double>(total[0].rest());
}

/// Writes log2 of the sums of R rows in float64; `sum` is from add_components or add_kept_pairs. Where a sum
/// is outside kPlainRange, the logarithm is computed from the row's values in memory: `rows` is the first row
/// in column 0, columns are `stride` apart.
template <int R, class Shape, class Real>
__device__ inline void log2_of_rows(const Shape& shape, const Real* coefficients, const Real* rows,
                                    int stride, const Real (&sum)[R], double (&out)[R]) {
  if (plain_log2(sum, out)) return;
#pragma unroll 1
  for (int other = 0; other < R; ++other) {
    Real one[1] = {sum[0]};
#pragma unroll
    for (int r = 1; r < R; ++r)
      if (r == other) one[0] = sum[r];
    double value[1];
    if (plain_log2(one, value)) continue;
    value[0] = any_log2(shape, coefficients, rows + other, stride);
#pragma unroll
    for (int r = 0; r < R; ++r)
      if (r == other) out[r] = value[0];
  }
}

/// Sum over a thread's R rows of log2 of `sum`. All lanes of a warp call this function; their rows follow
/// each other. `all_count`, which is the same for all lanes, is whether the rows of all lanes count.
template <int R, class Shape>
__device__ inline double log2_sum(const Shape& shape, const float* coefficients,
                                  const RowsInMemory<float>& rows, bool all_count, const float (&sum)[R]) {
  double values[R];
  log2_of_rows(shape, coefficients, rows.first, rows.stride, sum, values);
  if (!all_count) {
#pragma unroll
    for (int r = 0; r < R; ++r)
      if (r >= rows.count) values[r] = 0;
  }
  return sum_in_registers(values);
}

/// Number of neighbouring rows whose densities are multiplied if all are within kPlainRange, since a
/// logarithm in float64 is slow (docs/decisions/row-products.md). A thread has one, two or all of these rows.
inline constexpr int kRowsOfProduct = 4;

/// log2(product) + exponent, for a product in [1, 16).
__device__ inline double log2_of_product(double product, int exponent) {
  const int high = __double2hiint(product);
  const int k = (high - 0x3fe6a09e) >> 20;
  const double m = __hiloint2double(high - (k << 20), __double2loint(product));
  const double f = m - 1, divisor = m + 1;
  double reciprocal;  // relative error 2^-23; the steps below refine its product with f
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(reciprocal) : "d"(divisor));
  double s = f * reciprocal;
#pragma unroll
  for (int i = 0; i < 2; ++i) s = EMOMC_FMA(EMOMC_FMA(-s, divisor, f), reciprocal, s);
  return EMOMC_FMA(s, log2_kernel(s * s, 0.0), small_integer(k + exponent));
}

/// Tree sum of any_log2 over R rows, of which the first `count` count and the others add zero. The function
/// is not inlined, for the reasons given at any_log2.
template <int R, class Shape>
__device__ __noinline__ double any_log2_sum(Shape shape, const double* coefficients, const double* row,
                                            int stride, int count) {
  double sum = 0, of_pair = 0;
#pragma unroll 1
  for (int r = 0; r < R; ++r) {
    if (r < count) of_pair += any_log2(shape, coefficients, row + r, stride);
    if (r % 2 == 0 && R > 1) continue;
    sum += of_pair;
    of_pair = 0;
  }
  return sum;
}

template <int R, class Shape>
__device__ inline double log2_sum(const Shape& shape, const double* coefficients,
                                  const RowsInMemory<double>& rows, bool all_count,
                                  const double (&sum)[R]) requires(R <= kRowsOfProduct) {
  static_assert(R == 1 || R == 2 || R == kRowsOfProduct);
  constexpr unsigned kLanes = kRowsOfProduct / R, kAll = 0xffffffffu;  // lanes that share a product
  double factor[R];
  int exponents = -1023 * R;
  bool is_product = true;
#pragma unroll
  for (int r = 0; r < R; ++r) {
    const double x = all_count || r < rows.count ? sum[r] : 1.0;
    is_product = is_product && is_plain(x);
    const int high = __double2hiint(x);
    exponents += high >> 20;
    factor[r] = __hiloint2double((high & 0xfffff) | 0x3ff00000, __double2loint(x));
  }
#pragma unroll
  for (int m = R / 2; m > 0; m /= 2)
#pragma unroll
    for (int r = 0; r < m; ++r) factor[r] = factor[2 * r] * factor[2 * r + 1];
  bool all_products = is_product;
  if constexpr (kLanes > 1) {
#pragma unroll
    for (unsigned distance = 1; distance < kLanes; distance *= 2) {
      factor[0] *= __shfl_xor_sync(kAll, factor[0], distance);
      exponents += __shfl_xor_sync(kAll, exponents, distance);
    }
    all_products = __all_sync(kAll, is_product) != 0;
  }
  double log;
  if (all_products) {
    log = log2_of_product(factor[0], exponents);
  } else {
#pragma unroll
    for (unsigned distance = 1; distance < kLanes; distance *= 2) {
      const bool is_other = __shfl_xor_sync(kAll, is_product ? 0 : 1, distance) != 0;
      is_product = is_product && !is_other;
    }
    const int count = is_product ? 0 : all_count ? R : rows.count;
    log = any_log2_sum<R>(shape, coefficients, rows.first, rows.stride, count);
#pragma unroll
    for (unsigned distance = 1; distance < kLanes; distance *= 2) log += __shfl_xor_sync(kAll, log, distance);
    if (is_product) log = log2_of_product(factor[0], exponents);
  }
  return threadIdx.x % kLanes == 0 ? log : 0.0;
}

/// log2_sum() in float64 where a thread has the rows of several products.
template <int R, class Shape>
__device__ inline double log2_sum(const Shape& shape, const double* coefficients,
                                  const RowsInMemory<double>& rows, bool all_count,
                                  const double (&sum)[R]) requires(R > kRowsOfProduct) {
  constexpr int kProducts = R / kRowsOfProduct;
  static_assert(kProducts * kRowsOfProduct == R);
  double values[kProducts];
#pragma unroll
  for (int p = 0; p < kProducts; ++p) {
    constexpr int kEach = kRowsOfProduct;
    double own[kEach];
#pragma unroll
    for (int r = 0; r < kEach; ++r) own[r] = sum[p * kEach + r];
    values[p] = log2_sum(shape, coefficients,
                         RowsInMemory<double>{rows.first + p * kEach, rows.stride, rows.count - p * kEach},
                         all_count, own);
  }
  return sum_in_registers(values);
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_MIXTURE_LOGS_CUH
