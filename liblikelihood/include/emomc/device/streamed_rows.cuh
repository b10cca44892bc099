// Streams rows through shared memory a few columns at a time, for sums of products of many columns: registers
// have no room for the rows, and caches are too slow to wait for each column.
#ifndef EMOMC_DEVICE_STREAMED_ROWS_CUH
#define EMOMC_DEVICE_STREAMED_ROWS_CUH

#include "emomc/device/batch_layout.hpp"
#include "emomc/device/density.hpp"
#include "emomc/device/rows_ahead.cuh"

namespace emomc::device {

/// A thread's R rows. A thread copies only rows that no other thread reads, so that no barrier is needed.
template <class Real, int R, int kThreads>
struct StreamedRows {
  static constexpr bool kAddsProducts = true;
  static constexpr int kStep = 16 / static_cast<int>(sizeof(Real));  ///< columns of a group of copies
  static constexpr int kGroups = kStreamedColumns / kStep;           ///< groups that shared memory holds
  static constexpr int kAhead = kGroups - 1;                         ///< groups that may be in flight
  static constexpr int kBytes = kStreamedColumns * kThreads * R * static_cast<int>(sizeof(Real));

  const Real* first;  ///< the thread's first row, in column 0 of its tile
  Real* shared;       ///< the block's shared memory, kBytes aligned to 16

  __device__ void operator()(int j, Real (&values)[R]) const { load_rows(first + j * kTileRows, values); }

  /// Adds the products of kCount coefficients of vector i with as many columns of row r to sums[i][r], one
  /// after the other. The head group has the columns before the first coefficient whose address is a multiple
  /// of 16 bytes.
  template <int kCoefficient, int kColumn, int kCount, int kChains>
  __device__ void add_products(const Real* coefficients, int stride, Real (&sums)[kChains][R]) const {
    constexpr int kBefore = (kStep - kCoefficient % kStep) % kStep;
    constexpr int kHead = kBefore < kCount ? kBefore : kCount;
    constexpr int kFull = (kCount - kHead) / kStep, kTail = kCount - kHead - kFull * kStep;
    constexpr int kLast = kFull + 1;  // group 0 is the head, then the full groups follow, then the tail
    const auto begin = [&](int group) {
      if (group <= kLast) {
        const int count = group == 0 ? kHead : group == kLast ? kTail : kStep;
        const Real* from = first + (kColumn + (group == 0 ? 0 : kHead + (group - 1) * kStep)) * kTileRows;
#pragma unroll
        for (int c = 0; c < kStep; ++c)
          if (c < count) begin_copy<R* static_cast<int>(sizeof(Real))>(place(group, c), from + c * kTileRows);
      }
      end_copies();
    };
    const auto wait = [] { asm volatile("cp.async.wait_group %0;" ::"n"(kAhead - 1) : "memory"); };
    const auto add_one = [&](int group, int c, int coefficient) {
      Real x[R];
      load_rows(place(group, c), x);
#pragma unroll
      for (int i = 0; i < kChains; ++i) {
        const Real own = coefficients[i * stride + coefficient];
#pragma unroll
        for (int r = 0; r < R; ++r) sums[i][r] = fused(own, x[r], sums[i][r]);
      }
    };
#pragma unroll
    for (int group = 0; group < kAhead; ++group) begin(group);
    wait();
#pragma unroll
    for (int c = 0; c < kHead; ++c) add_one(0, c, kCoefficient + c);
    begin(kAhead);
    const auto add_full = [&](int group) {
      wait();
      Real x[kStep][R];
#pragma unroll
      for (int c = 0; c < kStep; ++c) load_rows(place(group, c), x[c]);
      const Real* of_group = coefficients + kCoefficient + kHead + (group - 1) * kStep;
#pragma unroll
      for (int i = 0; i < kChains; ++i) {
        Real own[kStep];
        load_rows(of_group + i * stride, own);
#pragma unroll
        for (int c = 0; c < kStep; ++c)
#pragma unroll
          for (int r = 0; r < R; ++r) sums[i][r] = fused(own[c], x[c][r], sums[i][r]);
      }
    };
    // The first loop runs while a full group follows the groups in flight. The second loop takes the other
    // groups, whose numbers are constants.
    constexpr int kSteady = kFull > kAhead ? kFull - kAhead : 0;
    const Real* from = first + (kColumn + kHead + kAhead * kStep) * kTileRows;
#pragma unroll 1
    for (int group = 1; group <= kSteady; ++group) {
      add_full(group);
#pragma unroll
      for (int c = 0; c < kStep; ++c)
        begin_copy<R* static_cast<int>(sizeof(Real))>(place(group + kAhead, c), from + c * kTileRows);
      end_copies();
      from += kStep * kTileRows;
    }
#pragma unroll
    for (int group = kSteady + 1; group <= kFull; ++group) {
      add_full(group);
      begin(group + kAhead);
    }
    wait();
#pragma unroll
    for (int c = 0; c < kTail; ++c) add_one(kLast, c, kCoefficient + kHead + kFull * kStep + c);
    wait_for_copies();  // the last groups are empty
  }

 private:
  __device__ Real* place(int group, int c) const {
    const int slot = group % kGroups * kStep + c;
    return shared + (slot * kThreads + static_cast<int>(threadIdx.x)) * R;
  }
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_STREAMED_ROWS_CUH
