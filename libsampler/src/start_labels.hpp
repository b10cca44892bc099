// Numberings of a mixture's components under a prior that tells them apart.
#pragma once

#include <span>
#include <vector>

#include "emomc/sampler/target.hpp"

namespace emomc {

/// 0 where the layout has none.
int num_components(const ParameterLayout& layout);

/// theta with its components renumbered, and how many numberings have the same log prior.
struct LabelImage {
  std::vector<double> theta;
  int times;
};

/// The numbering of highest log prior and, of up to six components, at most three others within `depth` of
/// it; theta alone where the prior does not tell components apart.
std::vector<LabelImage> label_images(const Target& target, std::span<const double> theta, double depth);

}  // namespace emomc
