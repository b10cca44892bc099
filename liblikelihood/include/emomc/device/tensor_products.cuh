// Computes sums of products of numbers and columns with tensor cores.
// Tensor cores ignore the last 13 bits of float32 numbers, so that a number is passed as a sum of two numbers
// unless it may be rounded. Tensor cores truncate the results of additions, so that a sum covers one step
// only.
#ifndef EMOMC_DEVICE_TENSOR_PRODUCTS_CUH
#define EMOMC_DEVICE_TENSOR_PRODUCTS_CUH

#include "emomc/device/macros.hpp"

namespace emomc::device {

// Products of matrices (PTX ISA, "mma.sync"). Lane 4 i + q holds numbers i and i + 8 and column i of the
// tile, in rows 4 q to 4 q + 3 of 16, or 2 q and 2 q + 1 of 8 in float64; the order of the rows of a product
// does not matter for the sum. The lane gets the sums of numbers i and i + 8 times columns 2 q and 2 q + 1.
struct TensorFloat {
  static constexpr int kEach = 4, kNumbers = 2, kSums = 4;

  static __device__ void multiply(const unsigned (&a)[4], const unsigned (&b)[2], float (&c)[4]) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
  /// The part of x that tensor cores use, and the rest.
  static __device__ unsigned high(float x) { return __float_as_uint(x) & 0xffffe000u; }
  static __device__ unsigned low(float x) { return __float_as_uint(x - __uint_as_float(high(x))); }
  static __device__ unsigned rounded(float x) {
    unsigned y;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y) : "f"(x));
    return y;
  }

  /// The numbers of kEach rows, in pairs of rows, split into the parts that are multiplied.
  template <bool kRounded>
  struct Numbers {
    unsigned of_rows[kEach / 2][kRounded ? 1 : 2][4];

    __device__ explicit Numbers(const float (&a)[kNumbers][kEach]) {
#pragma unroll
      for (int r = 0; r < kEach; r += 2) {
        const float x[] = {a[0][r], a[1][r], a[0][r + 1], a[1][r + 1]};
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          of_rows[r / 2][0][i] = kRounded ? rounded(x[i]) : high(x[i]);
          if constexpr (!kRounded) of_rows[r / 2][1][i] = low(x[i]);
        }
      }
    }
    /// Adds a' x to sums.
    __device__ void add_products(const float (&x)[kEach], float (&sums)[kSums]) const {
#pragma unroll
      for (int r = 0; r < kEach; r += 2) {
        const unsigned x_high[] = {high(x[r]), high(x[r + 1])}, x_low[] = {low(x[r]), low(x[r + 1])};
        if constexpr (!kRounded) multiply(of_rows[r / 2][1], x_high, sums);
        multiply(of_rows[r / 2][0], x_low, sums);
        multiply(of_rows[r / 2][0], x_high, sums);
      }
    }
  };
};
struct TensorDouble {
  static constexpr int kEach = 2, kNumbers = 1, kSums = 2;

  template <bool>
  struct Numbers {
    const double (&a)[kNumbers][kEach];

    __device__ explicit Numbers(const double (&numbers)[kNumbers][kEach]) : a(numbers) {}
    __device__ void add_products(const double (&x)[kEach], double (&sums)[kSums]) const {
#pragma unroll
      for (int r = 0; r < kEach; ++r)
        asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
            : "+d"(sums[0]), "+d"(sums[1])
            : "d"(a[0][r]), "d"(x[r]));
    }
  };
};
template <class Real>
struct TensorOf {
  using Type = TensorDouble;
};
template <>
struct TensorOf<float> {
  using Type = TensorFloat;
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_TENSOR_PRODUCTS_CUH
