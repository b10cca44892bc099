// Computes sums by a whole block in the order of docs/statistics.md: a balanced tree of neighbours, padded
// with zeros to a power of two. So the bits depend on neither the number of threads nor their mapping.
#ifndef EMOMC_DEVICE_BLOCK_SUMS_CUH
#define EMOMC_DEVICE_BLOCK_SUMS_CUH

#include "emomc/device/row_sums.cuh"

namespace emomc::device {

/// Tree sum of the values of the block's threads, in the order of threads. Every thread of warp 0 gets the
/// sum. `scratch`: blockDim.x / 32 doubles in shared memory.
template <int Threads>
__device__ double sum_over_threads(double x, double* scratch) {
  x = sum_over_lanes(x);
  if constexpr (Threads == 32) return x;
  __syncthreads();  // scratch may still be read for the previous sum
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = x;
  __syncthreads();
  if (threadIdx.x >= 32) return x;
  x = threadIdx.x < Threads / 32 ? scratch[threadIdx.x] : 0.0;
  for (int distance = 1; distance < Threads / 32; distance *= 2)
    x += __shfl_xor_sync(0xffffffffu, x, distance);
  return x;
}

/// Tree sum of values[0..count) in device memory, which other blocks may have written; overwrites the
/// beginning of `values`. Thread 0 gets the sum.
template <int Threads>
__device__ double sum_over_array(double* values, int count, double* scratch) {
  constexpr int kEach = 1024 / Threads;
  double sum = 0;
  do {
    int num_sums = 0;
    for (int begin = 0; begin < count; begin += 1024, ++num_sums) {
      double own[kEach];
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        const int at = begin + static_cast<int>(threadIdx.x) * kEach + i;
        own[i] = at < count ? __ldcg(values + at) : 0.0;
      }
      sum = sum_over_threads<Threads>(sum_in_registers(own), scratch);
      if (threadIdx.x == 0) values[num_sums] = sum;
    }
    count = num_sums;
    __syncthreads();
  } while (count > 1);
  return sum;
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_BLOCK_SUMS_CUH
