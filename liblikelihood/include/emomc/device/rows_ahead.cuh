// Rows on their way from device to shared memory while earlier ones are worked on (cp.async). A thread copies
// what it alone reads, so that no barrier is needed between copying and reading.
#ifndef EMOMC_DEVICE_ROWS_AHEAD_CUH
#define EMOMC_DEVICE_ROWS_AHEAD_CUH

#include "emomc/device/row_sums.cuh"

namespace emomc::device {

/// Begins to copy `bytes` bytes, 4, 8 or a multiple of 16. Both addresses are aligned to as many bytes, at
/// most 16; `to` is in shared memory.
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

/// Closes the group of copies that the thread has begun.
__device__ inline void end_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/// Waits for all groups of copies of the thread.
__device__ inline void wait_for_copies() { asm volatile("cp.async.wait_group 0;" ::: "memory"); }

/// Places in shared memory for num_places (1 or 2) parts of a tile, each kDim columns of kRows rows of every
/// thread; part n of a block is in place n mod num_places. A thread calls begin(n) for the first num_places
/// parts, then take(n) and begin(n + num_places) in turns for n = 0, 1, ..., with a block barrier between
/// them, as begin() fills what take() reads.
template <class Real, int kDim, int kRows, int kThreads>
struct RowsAhead {
  static constexpr int kPlace = kDim * kRows * kThreads;  ///< numbers

  Real* memory;  ///< shared, num_places x kPlace, aligned to 16 bytes
  int num_places;

  /// Begins to copy the thread's rows; `from`: its first one, columns `stride` apart. Null: nothing comes.
  __device__ void begin(int n, const Real* from, int stride) const {
    if (from != nullptr) {
      Real* to = own(n);
#pragma unroll
      for (int j = 0; j < kDim; ++j)
        begin_copy<kRows* static_cast<int>(sizeof(Real))>(to + j * kRows * kThreads, from + j * stride);
    }
    end_copies();
  }
  __device__ void take(int n, Real (&x)[kDim][kRows]) const {
    if (num_places == 1)
      wait_for_copies();
    else
      asm volatile("cp.async.wait_group 1;" ::: "memory");
    const Real* from = own(n);
#pragma unroll
    for (int j = 0; j < kDim; ++j) load_rows(from + j * kRows * kThreads, x[j]);
  }

 private:
  __device__ Real* own(int n) const {
    return memory + (n & (num_places - 1)) * kPlace + static_cast<int>(threadIdx.x) * kRows;
  }
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_ROWS_AHEAD_CUH
