// Starting values of the parameters that a mixture has besides those of a mixture of Gaussians.
#pragma once

#include <cstdint>
#include <vector>

#include "emomc/likelihood/engines.hpp"
#include "emomc/sampler/target.hpp"

namespace emomc {

/// The parameters of `model` that follow those of model_of_starts, each at the median of draws from its
/// prior, in the units of `target`. Empty where there are none.
std::vector<double> centre_of_further(const ModelSpec& model, int columns, const Target& target,
                                      std::uint64_t seed);

}  // namespace emomc
