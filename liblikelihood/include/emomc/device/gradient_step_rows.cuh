// The rows of a step of a warp (gradient_kernel.cuh), in device memory or copied to shared memory.
#ifndef EMOMC_DEVICE_GRADIENT_STEP_ROWS_CUH
#define EMOMC_DEVICE_GRADIENT_STEP_ROWS_CUH

#include "emomc/device/rows_ahead.cuh"
#include "emomc/device/tile_layout.hpp"

namespace emomc::device {

/// Rows in device memory; `first` is the step's first row in column 0.
template <class Real>
struct StepRows {
  static constexpr bool is_copy = false;
  const Real* first;
  __device__ const Real* place(int column, int row) const { return first + column * kTileRows + row; }
};

/// A copy in the shared memory of a warp, kRows rows of each column. Both halves of each 128 bytes of an odd
/// column are exchanged, so that lanes that read the same rows of neighbouring columns use different banks.
template <class Real, int kRows>
struct CopiedStepRows {
  static constexpr bool is_copy = true;
  static constexpr int kHalf = 64 / static_cast<int>(sizeof(Real));
  static_assert(kRows % (2 * kHalf) == 0);
  Real* first;
  /// The place of a row; rows up to the next multiple of kHalf follow it.
  __device__ Real* place(int column, int row) const {
    return first + column * kRows + (row ^ (column & 1) * kHalf);
  }
  /// Begins to copy the rows of num_columns columns; all lanes of the warp call it. The copies are there when
  /// each lane has called wait_for_copies().
  __device__ void begin(const StepRows<Real>& from, int num_columns) const {
    constexpr int kBytes = 16, kEach = kBytes / static_cast<int>(sizeof(Real)), kOfColumn = kRows / kEach;
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll 4
    for (int p = lane; p < num_columns * kOfColumn; p += 32) {
      const int column = p / kOfColumn, row = p % kOfColumn * kEach;
      begin_copy<kBytes>(place(column, row), from.place(column, row));
    }
    end_copies();
  }
  /// Copies the rows; all lanes of the warp may read them afterwards.
  __device__ void take(const StepRows<Real>& from, int num_columns) const {
    begin(from, num_columns);
    wait_for_copies();
    __syncwarp();
  }
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_GRADIENT_STEP_ROWS_CUH
