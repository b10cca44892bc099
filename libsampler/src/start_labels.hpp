// Numberings of a mixture's components under a prior that distinguishes them.
#pragma once

#include <span>
#include <vector>

#include "emomc/sampler/target.hpp"

namespace emomc {

/// Returns the number of components; 0 if the layout has none.
int num_components(const ParameterLayout& layout);

/// theta with renumbered components, and the number of numberings that have the same log prior.
struct LabelImage {
  std::vector<double> theta;
  int times;
};

/// Returns the numbering with the highest log prior and, for up to six components, at most three others whose
/// log prior is less than `depth` below it. Returns only theta if the prior does not distinguish components
/// or orders them.
std::vector<LabelImage> label_images(const Target& target, std::span<const double> theta, double depth);

}  // namespace emomc
