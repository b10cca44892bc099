// Arguments of plan_resident() without a GPU: likelihoods, chains and steps as on an H200.
#pragma once

#include <string>
#include <vector>

#include "resident_plan.hpp"

namespace emomc::testing {

inline constexpr ResidentMachine kH200{132, 233472, 232448};

/// A thread gets as many rows as the engine states to have registers for.
inline DeviceLikelihood planned_likelihood(std::size_t rows, int components = 8, int dim = 13) {
  const int blocks = (components + 3) / 4;
  return {.model = "emomc::device::GaussianMixture",
          .real = "float",
          .num_components = components,
          .dim = dim,
          .num_coefficients = blocks * 4 * (2 * dim + 1),
          .num_terms = components * (dim + 1),
          .num_scratch = components * (dim + 1),
          .num_pairs = blocks * 2,
          .rows = nullptr,
          .segment_first_tile = {0, static_cast<int>((rows + 1023) / 1024)},
          .segment_rows = {rows},
          .rows_per_thread = 4};
}

inline std::vector<ChainPlan> planned_chains(std::size_t count, const std::vector<int>& segments = {0}) {
  std::vector<ChainPlan> plans;
  for (std::size_t c = 0; c < count; ++c) plans.push_back({c, segments, 1.0, 0});
  return plans;
}

inline device::StepView planned_view(const DeviceLikelihood& l) {
  device::StepView v{};
  v.table.dim = l.num_components * (1 + 2 * l.dim);
  v.table.dim_unconstrained = v.table.dim - 1;
  v.num_innovation = v.table.dim_unconstrained + device::kExtraInnovation;
  v.num_blocks = 2 * l.num_components + 1;
  v.adapted_layout = {v.num_blocks, v.table.dim_unconstrained, 0, 0};
  return v;
}

}  // namespace emomc::testing
