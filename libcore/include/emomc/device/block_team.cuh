// A CUDA block of kTeamLanes threads as a team; same sums as HostTeam, bit for bit.
#ifndef EMOMC_DEVICE_BLOCK_TEAM_CUH
#define EMOMC_DEVICE_BLOCK_TEAM_CUH

#include "emomc/device/team.hpp"

namespace emomc::device {

/// Needs blockDim.x == kTeamLanes and `scratch` of kTeamLanes / 32 doubles in shared memory.
struct BlockTeam {
  double* scratch;

  static __device__ int size() { return kTeamLanes; }
  static __device__ int rank() { return static_cast<int>(threadIdx.x); }
  __device__ void sync() const { __syncthreads(); }

  template <class F>
  __device__ double sum(int n, F f) const {
    double x = 0;
    for (int i = rank(); i < n; i += kTeamLanes) x += f(i);
    for (int stride = 16; stride > 0; stride /= 2) x += __shfl_down_sync(0xffffffffu, x, stride);
    if (rank() % 32 == 0) scratch[rank() / 32] = x;
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
    if (rank() % 32 == 0) scratch[rank() / 32] = m;
    __syncthreads();
    const double a = scratch[0] > scratch[1] ? scratch[0] : scratch[1];
    const double b = scratch[2] > scratch[3] ? scratch[2] : scratch[3];
    __syncthreads();
    return a > b ? a : b;
  }
};

static_assert(kTeamLanes == 128);

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_BLOCK_TEAM_CUH
