// Sums of products over rows in a CPU's first-level cache, for the likelihoods of density.hpp. Only the
// host's compiler reads this header.
#ifndef EMOMC_DEVICE_CACHED_COLUMNS_HPP
#define EMOMC_DEVICE_CACHED_COLUMNS_HPP

#include <cstddef>
#include <utility>

#include "emomc/device/density.hpp"

namespace emomc::device {

/// Vectors that fill a register. Without these types, g++ makes vectors of two lanes only.
template <class T>
struct LanesOfRegister {
#ifdef __AVX512F__
  static constexpr int kBytes = 64, kRegisters = 32;
#else
  static constexpr int kBytes = 32, kRegisters = 16;
#endif
  static constexpr int kSize = kBytes / static_cast<int>(sizeof(T));
  typedef T Vector __attribute__((vector_size(kBytes)));
  /// A vector in memory, at any address of a T.
  typedef T Stored __attribute__((vector_size(kBytes), aligned(sizeof(T)), may_alias));

  template <std::size_t... kLane>
  static EMOMC_INLINE Vector fused_lanes(const Vector& a, const Vector& b, const Vector& c,
                                         std::index_sequence<kLane...>) {
    return Vector{fused(a[kLane], b[kLane], c[kLane])...};
  }
  /// a * b + c, rounded once.
  static EMOMC_INLINE Vector fused_vectors(const Vector& a, const Vector& b, const Vector& c) {
    return fused_lanes(a, b, c, std::make_index_sequence<kSize>());
  }
  static EMOMC_INLINE Vector load(const T* x) { return *reinterpret_cast<const Stored*>(x); }
  static EMOMC_INLINE void store(const Vector& v, T* x) { *reinterpret_cast<Stored*>(x) = v; }
  template <std::size_t... kLane>
  static EMOMC_INLINE Vector repeated(T x, std::index_sequence<kLane...>) {
    return Vector{(static_cast<void>(kLane), x)...};
  }
  static EMOMC_INLINE Vector all(T x) { return repeated(x, std::make_index_sequence<kSize>()); }
};

/// Adds the sums of eight arrays of kSumLanes lanes to sums[8]. The lanes of an array are added by halves, in
/// the order of sum_of_lanes(): sums of several arrays share their instructions.
template <class T>
EMOMC_INLINE void add_sums_of_lanes(const T (&lanes)[8][kSumLanes], double* sums) {
  typedef T Lanes __attribute__((vector_size(8 * sizeof(T)), aligned(sizeof(T)), may_alias));
  typedef double Eight __attribute__((vector_size(64)));
  typedef double EightSums __attribute__((vector_size(64), aligned(8), may_alias));
  static_assert(kSumLanes == 16);
  Eight eight[8], four[4], two[2];
  EMOMC_UNROLL
  for (int c = 0; c < 8; ++c)
    eight[c] = __builtin_convertvector(*reinterpret_cast<const Lanes*>(lanes[c]), Eight) +
               __builtin_convertvector(*reinterpret_cast<const Lanes*>(lanes[c] + 8), Eight);
  EMOMC_UNROLL
  for (int c = 0; c < 4; ++c) {
    const Eight &a = eight[2 * c], &b = eight[2 * c + 1];
    four[c] = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11) +
              __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
  }
  EMOMC_UNROLL
  for (int c = 0; c < 2; ++c) {
    const Eight &a = four[2 * c], &b = four[2 * c + 1];
    two[c] = __builtin_shufflevector(a, b, 0, 1, 4, 5, 8, 9, 12, 13) +
             __builtin_shufflevector(a, b, 2, 3, 6, 7, 10, 11, 14, 15);
  }
  *reinterpret_cast<EightSums*>(sums) += __builtin_shufflevector(two[0], two[1], 0, 2, 4, 6, 8, 10, 12, 14) +
                                         __builtin_shufflevector(two[0], two[1], 1, 3, 5, 7, 9, 11, 13, 15);
}

/// kRows rows in the first-level cache, with columns kStride apart.
template <class Real, int kStride, int kRows>
struct CachedColumns {
  static constexpr bool kAddsProducts = true;
  using Lanes = LanesOfRegister<Real>;
  using Vector = typename Lanes::Vector;

  const Real* first;

  EMOMC_INLINE const Real* column(int j) const { return first + j * kStride; }

  /// The sums of products of density.hpp. The sums of as many rows as registers have room for stay there
  /// while all columns are added.
  template <int kCoefficient, int kColumn, int kCount>
  EMOMC_INLINE void add_products(const Real* coefficients, int /*stride*/, Real (&sums)[1][kRows]) const {
    constexpr int kVectors = kRows / Lanes::kSize;
    constexpr int kAtOnce = kVectors < Lanes::kRegisters / 2 ? kVectors : Lanes::kRegisters / 2;
    static_assert(kVectors % kAtOnce == 0);
    for (int row = 0; row < kRows; row += kAtOnce * Lanes::kSize) {
      Vector s[kAtOnce];
      EMOMC_UNROLL
      for (int v = 0; v < kAtOnce; ++v) s[v] = Lanes::load(sums[0] + row + v * Lanes::kSize);
      for (int k = 0; k < kCount; ++k) {
        const Vector c = Lanes::all(coefficients[kCoefficient + k]);
        const Real* const x = column(kColumn + k) + row;
        EMOMC_UNROLL
        for (int v = 0; v < kAtOnce; ++v)
          s[v] = Lanes::fused_vectors(c, Lanes::load(x + v * Lanes::kSize), s[v]);
      }
      EMOMC_UNROLL
      for (int v = 0; v < kAtOnce; ++v) Lanes::store(s[v], sums[0] + row + v * Lanes::kSize);
    }
  }

  /// Adds the sums over rows of a[num_rows] times each of kCount columns from kColumn on to the sums from
  /// kCoefficient on.
  template <int kCoefficient, int kColumn, int kCount>
  EMOMC_INLINE void add_products_of_rows(const Real* a, int num_rows, double* sums) const {
    int k = 0;
    for (; k + 8 <= kCount; k += 8)
      add_products_of_columns<8>(a, kColumn + k, num_rows, sums + kCoefficient + k);
    if constexpr (kCount % 8 >= 4) {
      add_products_of_columns<4>(a, kColumn + k, num_rows, sums + kCoefficient + k);
      k += 4;
    }
    for (; k < kCount; ++k) add_products_of_columns<1>(a, kColumn + k, num_rows, sums + kCoefficient + k);
  }

 private:
  /// Writes the sums of a[row] times column `from` + c over rows that are kSumLanes apart to lanes[c][lane].
  template <int kCount>
  EMOMC_INLINE void sum_in_lanes(const Real* a, int from, int num_rows, Real (*lanes)[kSumLanes]) const {
    constexpr int kVectors = kSumLanes / Lanes::kSize;
    Vector s[kCount][kVectors] = {};
    const Real* const x = column(from);
    for (int row = 0; row + kSumLanes <= num_rows; row += kSumLanes) {
      EMOMC_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        const Vector factor = Lanes::load(a + row + v * Lanes::kSize);
        EMOMC_UNROLL
        for (int c = 0; c < kCount; ++c)
          s[c][v] =
              Lanes::fused_vectors(factor, Lanes::load(x + c * kStride + row + v * Lanes::kSize), s[c][v]);
      }
    }
    EMOMC_UNROLL
    for (int c = 0; c < kCount; ++c) EMOMC_UNROLL
    for (int v = 0; v < kVectors; ++v) Lanes::store(s[c][v], lanes[c] + v * Lanes::kSize);
    const int whole = num_rows / kSumLanes * kSumLanes;
    for (int row = whole; row < num_rows; ++row)
      for (int c = 0; c < kCount; ++c)
        lanes[c][row - whole] = fused(a[row], x[c * kStride + row], lanes[c][row - whole]);
  }

  template <int kCount>
  EMOMC_INLINE void add_products_of_columns(const Real* a, int from, int num_rows, double* sums) const {
    // The sums of so many columns fit in registers.
    constexpr int kVectors = kSumLanes / Lanes::kSize, kMost = Lanes::kRegisters * 3 / 4 / kVectors;
    constexpr int kAtOnce = kCount <= kMost ? kCount : kMost < 4 ? 2 : 4;
    alignas(64) Real lanes[kCount][kSumLanes];
    for (int c = 0; c < kCount; c += kAtOnce) sum_in_lanes<kAtOnce>(a, from + c, num_rows, lanes + c);
    if constexpr (kCount == 8)
      add_sums_of_lanes(lanes, sums);
    else
      for (int c = 0; c < kCount; ++c) sums[c] += sum_of_lanes(lanes[c]);
  }
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_CACHED_COLUMNS_HPP
