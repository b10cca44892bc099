// Computes sums of products of columns and numbers with tensor cores.
// Tensor cores ignore the last 13 bits of float32 numbers, so that a number is passed as a sum of two numbers
// unless it may be rounded. Tensor cores truncate the results of additions, so that a sum covers one step
// only.
#ifndef EMOMC_DEVICE_TENSOR_PRODUCTS_CUH
#define EMOMC_DEVICE_TENSOR_PRODUCTS_CUH

#include "emomc/device/macros.hpp"

namespace emomc::device {

// Products of matrices (PTX ISA, "mma.sync"). Lane 4 i + q holds column i of kTiles tiles, and number i, in
// kEach neighbouring rows from row kEach q on; the order of the rows of a product does not matter for the
// sum. The lane gets the sums of column i times numbers 2 q and 2 q + 1, for the first tile, then for the
// second.
struct TensorFloat {
  static constexpr int kEach = 4, kTiles = 2, kSums = 4;

  static __device__ void multiply(const unsigned (&columns)[4], const unsigned (&numbers)[2],
                                  float (&sums)[kSums]) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(columns[0]), "r"(columns[1]), "r"(columns[2]), "r"(columns[3]), "r"(numbers[0]),
          "r"(numbers[1]));
  }
  /// The part of x that tensor cores use, and the rest.
  static __device__ unsigned high(float x) { return __float_as_uint(x) & 0xffffe000u; }
  static __device__ unsigned low(float x) { return __float_as_uint(x - __uint_as_float(high(x))); }
  /// x, which must be finite, such that the part that tensor cores use is x rounded to nearest.
  static __device__ unsigned rounded(float x) { return __float_as_uint(x) + 0x1000u; }

  /// A number in kEach rows, in pairs of rows, split into the parts that are multiplied.
  template <bool kRounded>
  struct Numbers {
    unsigned of_rows[kEach / 2][kRounded ? 1 : 2][2];

    __device__ void set(const float (&a)[kEach]) {
#pragma unroll
      for (int r = 0; r < kEach; ++r) {
        of_rows[r / 2][0][r % 2] = kRounded ? rounded(a[r]) : high(a[r]);
        if constexpr (!kRounded) of_rows[r / 2][1][r % 2] = low(a[r]);
      }
    }
  };
  /// A column of each tile in kEach rows, in pairs of rows, split into the parts that are multiplied.
  /// kLoaded: the columns have the values that were loaded. The compiler knows that tensor cores use only the
  /// first part of a number, and would move these values to neighbouring registers instead of computing their
  /// first parts; a subtraction takes one instruction where it would need several.
  template <bool kLoaded>
  struct Columns {
    unsigned high_part[kEach / 2][4], low_part[kEach / 2][4];

    __device__ explicit Columns(const float (&x)[kTiles][kEach]) {
#pragma unroll
      for (int r = 0; r < kEach; ++r)
#pragma unroll
        for (int t = 0; t < kTiles; ++t) {
          const int at = r % 2 * 2 + t;
          low_part[r / 2][at] = low(x[t][r]);
          high_part[r / 2][at] =
              kLoaded ? __float_as_uint(x[t][r] - __uint_as_float(low_part[r / 2][at])) : high(x[t][r]);
        }
    }
  };
  /// Adds the products to sums.
  template <bool kLoaded, bool kRounded>
  static __device__ void add_products(const Columns<kLoaded>& columns, const Numbers<kRounded>& numbers,
                                      float (&sums)[kSums]) {
#pragma unroll
    for (int r = 0; r < kEach / 2; ++r) {
      if constexpr (!kRounded) multiply(columns.high_part[r], numbers.of_rows[r][1], sums);
      multiply(columns.low_part[r], numbers.of_rows[r][0], sums);
      multiply(columns.high_part[r], numbers.of_rows[r][0], sums);
    }
  }
};
struct TensorDouble {
  static constexpr int kEach = 2, kTiles = 1, kSums = 2;

  template <bool>
  struct Numbers {
    double of_rows[kEach];
    __device__ void set(const double (&a)[kEach]) {
#pragma unroll
      for (int r = 0; r < kEach; ++r) of_rows[r] = a[r];
    }
  };
  template <bool>
  struct Columns {
    const double (&x)[kTiles][kEach];
    __device__ explicit Columns(const double (&columns)[kTiles][kEach]) : x(columns) {}
  };
  template <bool kLoaded, bool kRounded>
  static __device__ void add_products(const Columns<kLoaded>& columns, const Numbers<kRounded>& numbers,
                                      double (&sums)[kSums]) {
#pragma unroll
    for (int r = 0; r < kEach; ++r)
      asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
          : "+d"(sums[0]), "+d"(sums[1])
          : "d"(columns.x[0][r]), "d"(numbers.of_rows[r]));
  }
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
