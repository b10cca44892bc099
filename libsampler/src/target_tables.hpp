// Builds the tables of a target: the elements of a layout with their transforms and densities.
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
  std::vector<Target::Range> ranges;  ///< range of each block in u
  /// Number of free scales of each covariance matrix of each block.
  std::vector<int> free_scales;
  int dim_unconstrained = 0;
  std::optional<std::size_t> ordered_block;
  std::vector<std::size_t> ordered_lists;
  bool components_differ = false;  ///< whether components have different priors
};

/// Builds the tables. `layout` includes the blocks of sampled arguments (with_sampled_arguments). Throws the
/// exceptions of Target's constructor.
BuiltTarget build_target(const ParameterLayout& layout, const PriorSet& prior,
                         std::span<const double> column_sd);

}  // namespace emomc
