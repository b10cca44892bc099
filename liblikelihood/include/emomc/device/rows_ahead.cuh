// Copies rows from device to shared memory while earlier rows are processed (cp.async). A thread copies only
// rows that no other thread reads, so that no barrier is needed between copying and reading.
#ifndef EMOMC_DEVICE_ROWS_AHEAD_CUH
#define EMOMC_DEVICE_ROWS_AHEAD_CUH

#include "emomc/device/row_sums.cuh"

namespace emomc::device {

/// Begins to copy `bytes` bytes, which are 4, 8 or a multiple of 16. Both addresses are aligned to min(bytes,
/// 16); `to` is in shared memory.
template <int bytes>
__device__ inline void begin_copy(void* to, const void* from) {
  static_assert(bytes == 4 || bytes == 8 || bytes % 16 == 0);
  const auto shared = static_cast<unsigned>(__cvta_generic_to_shared(to));
  if constexpr (bytes < 16) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared), "l"(from), "n"(bytes) : "memory");
  } else {
#pragma unroll
    for (int b = 0; b < bytes; b += 16)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared + b),
                   "l"(static_cast<const char*>(from) + b)
                   : "memory");
  }
}

/// How long the L2 cache keeps a line that is read with a policy: `stays` evicts other lines first, `passes`
/// evicts this line first.
enum class CacheLine { stays, passes };
__device__ inline u64 cache_policy(CacheLine line) {
  u64 policy;
  if (line == CacheLine::stays)
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  else
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
/// begin_copy() with a policy of the L2 cache.
template <int bytes>
__device__ inline void begin_copy(void* to, const void* from, u64 policy) {
  static_assert(bytes == 4 || bytes == 8 || bytes % 16 == 0);
  const auto shared = static_cast<unsigned>(__cvta_generic_to_shared(to));
  if constexpr (bytes < 16) {
    asm volatile("cp.async.ca.shared.global.L2::cache_hint [%0], [%1], %2, %3;" ::"r"(shared), "l"(from),
                 "n"(bytes), "l"(policy)
                 : "memory");
  } else {
#pragma unroll
    for (int b = 0; b < bytes; b += 16)
      asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(shared + b),
                   "l"(static_cast<const char*>(from) + b), "l"(policy)
                   : "memory");
  }
}

/// Closes the group of copies that the thread has begun.
__device__ inline void end_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/// Waits for all groups of copies of the thread.
__device__ inline void wait_for_copies() { asm volatile("cp.async.wait_group 0;" ::: "memory"); }

/// A buffer in shared memory for a part of a tile, kDim columns of kRows rows of every thread. A thread calls
/// begin() for the first part, then take() and begin() alternately: take() moves rows to registers, so that
/// the buffer is free while they are processed. A second buffer made kernels 1 to 4 % slower.
template <class Real, int kDim, int kRows, int kThreads>
struct RowsAhead {
  Real* memory;  ///< shared, kDim x kRows x kThreads numbers, aligned to 16 bytes

  /// Begins to copy the thread's rows; `from` is the first row in column 0, and columns are `stride` apart.
  /// `policy` is one of cache_policy(), or absent.
  template <class... Policy>
  __device__ void begin(const Real* from, int stride, Policy... policy) const {
    Real* to = own();
#pragma unroll
    for (int j = 0; j < kDim; ++j)
      begin_copy<kRows* static_cast<int>(sizeof(Real))>(to + j * kRows * kThreads, from + j * stride,
                                                        policy...);
    end_copies();
  }
  __device__ void take(Real (&x)[kDim][kRows]) const {
    wait_for_copies();
    const Real* from = own();
#pragma unroll
    for (int j = 0; j < kDim; ++j) load_rows(from + j * kRows * kThreads, x[j]);
  }

 private:
  __device__ Real* own() const { return memory + static_cast<int>(threadIdx.x) * kRows; }
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_ROWS_AHEAD_CUH
