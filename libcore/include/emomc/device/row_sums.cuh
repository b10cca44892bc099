// The rows of one thread in registers, and the first levels of the tree in which their log densities are
// summed (docs/statistics.md). The tree is a balanced tree of neighbours, padded with zeros to a power of
// two, so that the bits depend neither on the number of threads nor on their mapping.
#ifndef EMOMC_DEVICE_ROW_SUMS_CUH
#define EMOMC_DEVICE_ROW_SUMS_CUH

#include "emomc/device/integers.hpp"
#include "emomc/device/macros.hpp"

namespace emomc::device {

/// R neighbouring rows, aligned to at most 16 bytes, the most that one instruction loads or stores.
template <class Real, int R>
struct alignas(R * sizeof(Real) < 16 ? R * sizeof(Real) : 16) RowVector {
  Real x[R];
};

/// Loads R neighbouring rows of a column; `from` must be aligned like a RowVector.
template <class Real, int R>
__device__ inline void load_rows(const Real* from, Real (&x)[R]) {
  const auto v = *reinterpret_cast<const RowVector<Real, R>*>(from);
  for (int r = 0; r < R; ++r) x[r] = v.x[r];
}
/// Stores R neighbouring rows of a column. Four floats are stored by one instruction, which the compiler
/// would otherwise split.
__device__ inline void store_rows(const float (&x)[4], float* to) {
  asm volatile("st.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(x[0]), "f"(x[1]), "f"(x[2]), "f"(x[3])
               : "memory");
}
template <class Real, int R>
__device__ inline void store_rows(const Real (&x)[R], Real* to) {
  RowVector<Real, R> v;
  for (int r = 0; r < R; ++r) v.x[r] = x[r];
  *reinterpret_cast<RowVector<Real, R>*>(to) = v;
}

/// Sums n adjacent numbers in registers by the tree; n is a power of two. The values are overwritten.
template <int n>
__device__ inline double sum_in_registers(double (&values)[n]) {
#pragma unroll
  for (int m = n / 2; m > 0; m /= 2) {
#pragma unroll
    for (int i = 0; i < n / 2; ++i)
      if (i < m) values[i] = values[2 * i] + values[2 * i + 1];
  }
  return values[0];
}

/// threadIdx.x, read anew at each call, so that no register holds it during a loop that is short of
/// registers.
__device__ inline int own_thread() {
  unsigned index;
  asm volatile("mov.u32 %0, %tid.x;" : "=r"(index));
  return static_cast<int>(index);
}

/// A thread's neighbouring rows in memory, for a likelihood that must read a row again.
template <class Real>
struct RowsInMemory {
  const Real* first;  ///< the first row's element of column 0
  int stride;         ///< distance from one column to the next
  int count;          ///< number of valid rows from `first` on; may be negative, or more than the thread has
};

/// Sums one value per lane of a warp by the tree, in the order of lanes. Every lane receives the sum.
__device__ inline double sum_over_lanes(double x) {
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) x += __shfl_xor_sync(0xffffffffu, x, distance);
  return x;
}

/// Sums kCount values per lane by kCount such trees at once; kCount is a power of two. A lane receives the
/// sum of x[tree_of_lane<kCount>()]. x is overwritten.
template <int kCount>
__device__ inline double sum_each_over_lanes(double (&x)[kCount]) {
#pragma unroll
  for (int distance = 1; distance < kCount; distance *= 2) {
    const bool upper = (threadIdx.x & distance) != 0;
    const int half = kCount / (2 * distance);
#pragma unroll
    for (int i = 0; i < kCount / 2; ++i)
      if (i < half)
        x[i] =
            (upper ? x[half + i] : x[i]) + __shfl_xor_sync(0xffffffffu, upper ? x[i] : x[half + i], distance);
  }
  double sum = x[0];
#pragma unroll
  for (int distance = kCount; distance < 32; distance *= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, distance);
  return sum;
}
template <int kCount>
__device__ inline int tree_of_lane() {
  int tree = 0;
#pragma unroll
  for (int distance = 1; distance < kCount; distance *= 2)
    if (threadIdx.x & distance) tree += kCount / (2 * distance);
  return tree;
}

/// Sums two values per lane by two such trees at once: lane 0 receives the sum of x, lane 1 that of y.
__device__ inline double sum_two_over_lanes(double x, double y) {
  double both[2] = {x, y};
  return sum_each_over_lanes(both);
}

/// Sums values[0 .. count), count <= kMostSummedByWarp, by the tree in one warp; `load(p)` reads one value.
/// Every lane receives the sum.
inline constexpr int kMostSummedByWarp = 1024;
template <class Load>
__device__ inline double sum_by_warp(const double* values, int count, Load load) {
  constexpr int kAtOnce = 4;  // number of groups of 32, whose shuffles overlap
  const int lane = static_cast<int>(threadIdx.x) % 32;
  double own = 0;
#pragma unroll 1
  for (int begin = 0; begin < count; begin += 32 * kAtOnce) {
    double group[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const int at = begin + 32 * i + lane;
      group[i] = at < count ? load(values + at) : 0.0;
    }
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2)
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) group[i] += __shfl_xor_sync(0xffffffffu, group[i], distance);
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i)
      if (lane == begin / 32 + i) own = group[i];
  }
  const int num_groups = (count + 31) / 32;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2)
    if (distance < num_groups) own += __shfl_xor_sync(0xffffffffu, own, distance);
  return __shfl_sync(0xffffffffu, own, 0);
}
__device__ inline double sum_by_warp(const double* values, int count) {
  return sum_by_warp(values, count, [](const double* from) { return *from; });
}

/// The same for at most 32 values, with fewer instructions.
template <class Load>
__device__ inline double sum_few_by_warp(const double* values, int count, Load load) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  double sum = lane < count ? load(values + lane) : 0.0;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) sum += __shfl_xor_sync(0xffffffffu, sum, distance);
  return sum;
}

/// The segments of a chain's list of rows: segment s has the sums table[first + s] to table[first + s + 1].
struct ListSegments {
  const int* table;
  int first, count;
};
/// Returns the segments of `list` from the tables of all lists: `first_segment` [num_lists + 1] has indices
/// into `segment_first`, which has an entry for each segment of a list and one more at the list's end.
__device__ __forceinline__ ListSegments segments_of_list(const int* first_segment, const int* segment_first,
                                                         int list) {
  const int first = first_segment[list];
  return {segment_first, first, first_segment[list + 1] - 1 - first};
}

/// The caller's share of the segments, which several threads sum: segment `first` and every `stride`-th after
/// it.
struct SegmentShare {
  int first, stride;
  bool writes;  ///< whether the caller stores the sums of its segments; true for one of the threads that sum
                ///< a segment together
};

/// The level of the tree between the sums below segments and a chain's total. Writes the sum of each segment
/// to sums[segments.count], which all threads that `sync` waits for may read afterwards. `sum_of(begin, end)`
/// is the tree over the sums from `begin` to `end`.
template <class SumOf, class Sync>
__device__ __forceinline__ void sum_segments(ListSegments segments, SegmentShare share, double* sums,
                                             const SumOf& sum_of, const Sync& sync) {
#pragma unroll 1
  for (int s = share.first; s < segments.count; s += share.stride) {
    const double sum = sum_of(segments.table[segments.first + s], segments.table[segments.first + s + 1]);
    if (share.writes) sums[s] = sum;
  }
  sync();
}
/// The same level of the tree, computed by one warp; `lane` is the calling thread's lane.
template <class SumOf>
__device__ __forceinline__ void sum_segments(ListSegments segments, int lane, double* sums,
                                             const SumOf& sum_of) {
  sum_segments(segments, {0, 1, lane == 0}, sums, sum_of, [] { __syncwarp(); });
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_ROW_SUMS_CUH
