// The first kTeamLanes threads of a CUDA block as a team; same sums as HostTeam, bit for bit.
#ifndef EMOMC_DEVICE_BLOCK_TEAM_CUH
#define EMOMC_DEVICE_BLOCK_TEAM_CUH

#include "emomc/device/team.hpp"

namespace emomc::device {

/// Needs blockDim.x >= kTeamLanes and `scratch` of kTeamLanes / 32 doubles in shared memory. All threads of
/// the block make the same calls; those beyond the team own nothing and get the results too.
struct BlockTeam {
  double* scratch;

  static __device__ int size() { return kTeamLanes; }
  static __device__ int rank() { return threadIdx.x < kTeamLanes ? static_cast<int>(threadIdx.x) : kNobody; }
  __device__ void sync() const { __syncthreads(); }

  template <class F>
  __device__ double sum(int n, F f) const {
    double x = 0;
    for (int i = rank(); i < n; i += kTeamLanes) x += f(i);
    for (int stride = 16; stride > 0; stride /= 2) x += __shfl_down_sync(0xffffffffu, x, stride);
    if (writes_scratch()) scratch[threadIdx.x / 32] = x;
    __syncthreads();
    const double total = (scratch[0] + scratch[1]) + (scratch[2] + scratch[3]);
    __syncthreads();
    return total;
  }

  template <class F>
  __device__ double max(int n, F f, double empty) const {
    double m = empty;
    for (int i = rank(); i < n; i += kTeamLanes) {
      const double x = f(i);
      m = x > m ? x : m;
    }
    for (int stride = 16; stride > 0; stride /= 2) {
      const double other = __shfl_xor_sync(0xffffffffu, m, stride);
      m = other > m ? other : m;
    }
    if (writes_scratch()) scratch[threadIdx.x / 32] = m;
    __syncthreads();
    const double a = scratch[0] > scratch[1] ? scratch[0] : scratch[1];
    const double b = scratch[2] > scratch[3] ? scratch[2] : scratch[3];
    __syncthreads();
    return a > b ? a : b;
  }

 private:
  static constexpr int kNobody = 1 << 30;
  static __device__ bool writes_scratch() { return threadIdx.x < kTeamLanes && threadIdx.x % 32 == 0; }
};

static_assert(kTeamLanes == 128);

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_BLOCK_TEAM_CUH
