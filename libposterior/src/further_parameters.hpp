// Computes starting values of the parameters that a mixture has in addition to those of a Gaussian mixture.
#pragma once

#include <cstdint>
#include <vector>

#include "emomc/likelihood/engines.hpp"
#include "emomc/sampler/target.hpp"

namespace emomc {

/// The parameters of `model` that follow the parameters of model_of_starts. Each value is the median of draws
/// from the parameter's prior, in the units of `target`. Empty if there are none.
std::vector<double> centre_of_further(const ModelSpec& model, int columns, const Target& target,
                                      std::uint64_t seed);

}  // namespace emomc
