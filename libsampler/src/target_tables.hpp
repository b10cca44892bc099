// Builds the tables of a target: a parameter layout's elements with their transforms and densities.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "emomc/core/parameters.hpp"
#include "emomc/sampler/prior.hpp"
#include "emomc/sampler/target.hpp"

namespace emomc {

struct BuiltTarget {
  TargetTables tables;
  std::vector<Target::Range> ranges;  ///< of each block in u
  std::vector<int> free_scales;       ///< of each block: free scales of each of its covariance matrices
  int dim_unconstrained = 0;
  std::optional<std::size_t> ordered_block;
  bool components_differ = false;  ///< in their priors
};

/// `layout` has the blocks of sampled arguments (with_sampled_arguments). Throws as Target's constructor.
BuiltTarget build_target(const ParameterLayout& layout, const PriorSet& prior,
                         std::span<const double> column_sd);

}  // namespace emomc
