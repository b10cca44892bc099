// From a PriorSpec to the table's elements: broadcasting, truncation, constants.
#pragma once

#include <span>

#include "emomc/core/parameters.hpp"
#include "emomc/device/parameter_table.hpp"
#include "emomc/sampler/prior.hpp"

namespace emomc {

/// Argument `index` of `prior` for element `i` of `block`: one number, or one per column, per component
/// or per element. Throws InputError where the shapes do not fit.
double broadcast_argument(const ParameterBlock& block, const PriorSpec& prior, std::size_t index, int i);

/// Sets the element's density for a support [lower, upper] and returns its log normalising constant
/// (truncation included). Throws InputError naming `name` where the family has no mass there.
double set_density(device::Element& element, PriorFamily family, std::span<const double> arguments,
                   double lower, double upper, const std::string& name);

}  // namespace emomc
