// Coefficients of many parameter vectors, for kernels that evaluate them.
#pragma once

#include "emomc/core/cuda_launch.cuh"
#include "emomc/core/likelihood_engine.hpp"
#include "emomc/device/block_team.cuh"
#include "emomc/device/prepare_mixture.hpp"

namespace emomc {

/// One block of kTeamLanes threads per active chain; `scratch` is num_chains x num_scratch device doubles.
template <class Model, class Real>
__global__ void __launch_bounds__(device::kTeamLanes)
    prepare_kernel(const Model model, const double* theta, int ld, ActiveSet active, Real* coefficients,
                   double* common, double* scratch) {
  __shared__ double team_scratch[device::BlockTeam::kScratch];
  begin_overlapped();
  const int i = static_cast<int>(blockIdx.x);
  const int chain = active.chains ? active.chains[i] : i;
  const auto shape = model.shape();
  const device::BlockTeam team{team_scratch};
  theta += static_cast<std::size_t>(chain) * ld;
  coefficients += static_cast<std::size_t>(chain) * shape.num_coefficients();
  scratch += static_cast<std::size_t>(chain) * shape.num_scratch();
  const double value = device::prepare_mixture(team, model, theta, coefficients, scratch);
  if (threadIdx.x == 0) common[chain] = value;
}

}  // namespace emomc
