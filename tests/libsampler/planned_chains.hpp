// Makes arguments of plan_resident() without a GPU: likelihoods, chains and steps as on an H200.
#pragma once

#include <string>
#include <vector>

#include "emomc/likelihood/models.hpp"
#include "resident_plan.hpp"

namespace emomc::testing {

inline constexpr ResidentMachine kH200{132, 233472, 232448};

/// A thread has as many rows as the engine reports registers for.
inline DeviceLikelihood planned_likelihood(std::size_t rows, int components = 8, int dim = 13) {
  const int blocks = (components + 3) / 4, coefficients = blocks * 4 * (2 * dim + 1),
            terms = components * (dim + 1);
  return {.code = mixture_device_code("emomc::device::GaussianMixture", components, dim),
          .real = "float",
          .sizes = {dim, coefficients, terms, terms, 3 * blocks, 2 * blocks},
          .cost_of_row = static_cast<double>(coefficients),
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
  const int components = l.sizes.num_terms / (l.sizes.num_columns + 1);
  v.table.dim = components * (1 + 2 * l.sizes.num_columns);
  v.table.dim_unconstrained = v.table.dim - 1;
  v.num_innovation = v.table.dim_unconstrained + device::kExtraInnovation;
  v.num_blocks = 2 * components + 1;
  v.adapted_layout = {v.num_blocks, v.table.dim_unconstrained, 0, 0};
  return v;
}

}  // namespace emomc::testing
