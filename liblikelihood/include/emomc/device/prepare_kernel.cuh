// Kernels that compute the coefficients of many parameter vectors, for the kernels that evaluate them.
#ifndef EMOMC_DEVICE_PREPARE_KERNEL_CUH
#define EMOMC_DEVICE_PREPARE_KERNEL_CUH

#include "emomc/device/block_team.cuh"
#include "emomc/device/overlap.cuh"
#include "emomc/device/tile_layout.hpp"

namespace emomc::device {

/// The body of the kernels below. `is_own`: `scratch` belongs to the block alone and does not hold the
/// scratch memory of all chains. `copy`: shared memory for the chain's parameters, so that the team waits for
/// device memory only once; null: there is none.
template <bool is_own = false, class L, class Real>
__device__ __forceinline__ void prepare_chain(const L& likelihood, const double* theta, int ld,
                                              ActiveSet active, Real* coefficients, double* common,
                                              double* scratch, double* copy = nullptr) {
  __shared__ double team_scratch[BlockTeam::kScratch];
  begin_overlapped();
  const int i = static_cast<int>(blockIdx.x);
  const int chain = active.chains ? active.chains[i] : i;
  const LikelihoodSizes sizes = likelihood.sizes();
  const BlockTeam team{team_scratch};
  theta += static_cast<i64>(chain) * ld;
  coefficients += static_cast<i64>(chain) * sizes.num_coefficients;
  if (copy != nullptr) {
    for (int p = team.rank(); p < likelihood.num_parameters(); p += team.size()) copy[p] = theta[p];
    team.sync();
    theta = copy;
  }
  if constexpr (!is_own) scratch += static_cast<i64>(chain) * sizes.num_scratch;
  const double value = likelihood.prepare(team, theta, coefficients, scratch);
  if (threadIdx.x == 0) common[chain] = value;
}

/// One block of kTeamLanes threads per active chain; `scratch` is num_chains x num_scratch device doubles.
/// This kernel is for a likelihood whose sizes are known at run time.
template <class L, class Real>
__global__ void __launch_bounds__(kTeamLanes)
    prepare_kernel(const L likelihood, const double* theta, int ld, ActiveSet active, Real* coefficients,
                   double* common, double* scratch) {
  prepare_chain(likelihood, theta, ld, active, coefficients, common, scratch);
}

/// The kernel for a likelihood whose sizes are known when the kernel is compiled. `kScratch`: num_scratch,
/// for scratch memory in shared memory; 0: it is in device memory. `kParameters`: at least the number of
/// parameters, for a copy of a chain's parameters; 0: they are not copied.
template <class SizedL, class Real, int kScratch = 0, int kParameters = 0>
__global__ void __launch_bounds__(kTeamLanes)
    sized_prepare_kernel(const double* theta, int ld, ActiveSet active, Real* coefficients, double* common,
                         double* scratch) {
  constexpr bool is_shared = kScratch > 0, copies = kParameters > 0;
  __shared__ double shared_scratch[is_shared ? kScratch : 1];
  __shared__ double copy[copies ? kParameters : 1];
  prepare_chain<is_shared>(SizedL::likelihood(), theta, ld, active, coefficients, common,
                           is_shared ? shared_scratch : scratch, copies ? copy : nullptr);
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_PREPARE_KERNEL_CUH
