// The threads that finish an evaluation with gradients (gradient_finish_kernel.cuh), as a team.
#ifndef EMOMC_DEVICE_GRADIENT_FINISH_THREADS_CUH
#define EMOMC_DEVICE_GRADIENT_FINISH_THREADS_CUH

#include "emomc/device/gradient_layout.hpp"

namespace emomc::device {

/// The threads of a block from thread `first` on, as a team that shares a loop. Loops that begin at different
/// threads run at the same time.
struct FinishThreads {
  static constexpr int kNobody = 1 << 30;  ///< the rank of threads before the first one
  int first;
  __device__ int rank() const {
    const int thread = static_cast<int>(threadIdx.x);
    return thread < first ? kNobody : thread - first;
  }
  __device__ int size() const { return kGradientFinishThreads - first; }
  __device__ void sync() const { __syncthreads(); }
  /// The threads behind the warps that a loop over n elements occupies, at least those from `last` on.
  __device__ FinishThreads behind(int n, int last) const {
    const int next = first + (n + 31) / 32 * 32;
    return {next < last ? next : last};
  }
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_GRADIENT_FINISH_THREADS_CUH
