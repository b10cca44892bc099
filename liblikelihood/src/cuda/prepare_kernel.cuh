// Coefficients of many parameter vectors, for kernels that evaluate them.
#pragma once

#include <type_traits>

#include "emomc/core/cuda_launch.cuh"
#include "emomc/core/likelihood_engine.hpp"
#include "emomc/device/block_team.cuh"
#include "emomc/device/prepare_mixture.hpp"

namespace emomc {

/// device::prepare_mixture, the same bits, with heights, shifts and `common` in one pass: for models whose
/// evaluations are so short that it counts. In two passes the kernel has 40 registers for 48, and on an H200
/// evaluations by some 200 or 300 blocks of the batch kernel, which begins beside it, take 5 microseconds
/// longer (docs/decisions/overlap.md).
template <class Real, class Team, class Model>
__device__ double prepare_at_once(const Team& team, const Model& model, const double* theta,
                                  Real* coefficients, double* scratch) {
  using namespace device;
  const auto shape = model.shape();
  const int K = shape.num_components, d = shape.dim, padded = shape.num_blocks() * kComponentBlock;
  const HeightTerms terms = HeightTerms::in(scratch, K, d);
  prepare_terms(team, model, theta, coefficients, terms, scratch + shape.num_terms());
  const double reference = reference_height(d);
  const int exponent = sizeof(Real) < sizeof(double) ? shift_exponent(d) : 0;
  const auto height_of = [=](int k) {
    double slopes = 0;
    EMOMC_UNROLL_EXACT
    for (int j = 0; j < d; ++j) slopes += terms.log2_slope[k * d + j];
    return terms.log2_weight[k] + slopes - reference;
  };
  const auto weight_of = [=](int k, double height, Real shift) {
    if (is_nan(height)) return height;
    if constexpr (sizeof(Real) == sizeof(double)) return 0.0;
    const double weight = model.weight(theta, k);
    return weight > 0 ? weight * exp2_double(static_cast<double>(shift) - height) : 0.0;
  };
  double weights, rounded;
  if (K <= kMostLanes) {
    const auto heights = team.lanes(K, height_of);
    team.store(team.map(heights, K,
                        [=](double h, int) { return static_cast<double>(rounded_shift<Real>(h, exponent)); }),
               K, coefficients + shape.shift_index(0));
    weights = team.sum_of(team.lanes(K, [=](int k) { return model.weight(theta, k); }), K);
    rounded = team.sum_of(
        team.map(heights, K,
                 [&](double h, int k) { return weight_of(k, h, rounded_shift<Real>(h, exponent)); }),
        K);
  } else {
    const TwoSums sums = team.sum_two(K, [=](int k) {
      const double height = height_of(k);
      const Real shift = rounded_shift<Real>(height, exponent);
      coefficients[shape.shift_index(k)] = shift;
      return TwoSums{model.weight(theta, k), weight_of(k, height, shift)};
    });
    weights = sums.a;
    rounded = sums.b;
  }
  EMOMC_ROLLED
  for (int k = K + team.rank(); k < padded; k += team.size())
    coefficients[shape.shift_index(k)] = static_cast<Real>(-kInfinity);
  team.sync();
  if (is_nan(rounded) || !(weights > 0 && weights < kInfinity)) return not_a_number();
  double common = reference - d * (kLog2RootHalfLog2E + 0.5 * kLog2TwoPi);
  if constexpr (sizeof(Real) < sizeof(double)) common -= log_ratio(rounded, weights) * kLog2E;
  return common;
}

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
  double value;
  if constexpr (std::is_same_v<decltype(model.shape()), device::AxisAlignedShape>)
    value = prepare_at_once(team, model, theta, coefficients, scratch);
  else
    value = device::prepare_mixture(team, model, theta, coefficients, scratch);
  if (threadIdx.x == 0) common[chain] = value;
}

}  // namespace emomc
