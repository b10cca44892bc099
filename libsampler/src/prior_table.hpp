// Translates a PriorSpec into elements of the parameter table: broadcasting, truncation, constants.
#pragma once

#include <span>

#include "emomc/core/parameters.hpp"
#include "emomc/device/parameter_table.hpp"
#include "emomc/sampler/prior.hpp"

namespace emomc {

/// Returns argument `index` of `prior` for element `i` of `block`. The argument may be one number, or one per
/// column, per component or per element. Throws InputError if the shapes do not match.
double broadcast_argument(const ParameterBlock& block, const PriorSpec& prior, std::size_t index, int i);

/// Sets the element's density on the support [lower, upper] and returns the log of its normalising constant,
/// including truncation. Throws InputError with `name` if the family has no mass there.
double set_density(device::Element& element, PriorFamily family, std::span<const double> arguments,
                   double lower, double upper, const std::string& name);

/// Whether an argument of the prior is sampled.
bool has_sampled_argument(const PriorSpec& prior);

/// The role of an argument in a density; only locations and scales can be sampled.
enum class ArgumentRole { location, scale, shape };
ArgumentRole argument_role(PriorFamily family, std::size_t index);

/// Returns the block of parameters for the sampled argument `index` of a prior for `block`: one per column.
ParameterBlock sampled_argument(const ParameterBlock& block, PriorFamily family, std::size_t index);

/// Returns a conditional element of a family that is truncated below at `lower`; its arguments are not set.
/// Throws InputError with `name` if the family's arguments cannot be sampled.
device::ConditionalElement conditional_density(PriorFamily family, double lower, const std::string& name);

/// Returns the log of the normalising constant of det(R)^(eta - 1) as a density of correlation matrices
/// [d][d] (Lewandowski, Kurowicka and Joe 2009, theorem 5).
double log_lkj_constant(double eta, int d);

}  // namespace emomc
