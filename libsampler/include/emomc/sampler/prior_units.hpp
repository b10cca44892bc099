// Conversion of priors between the data's own units and the sampler's units.
//
// The sampler's unit of a column is (x - mean) / sd, so a location theta becomes (theta - mean) / sd and a
// scale theta / sd. Most families are closed under these maps: the converted prior is of the same family with
// other arguments, and densities differ by a constant, log_prior_offset.
#pragma once

#include <optional>

#include "emomc/core/data_units.hpp"
#include "emomc/sampler/prior.hpp"
#include "emomc/sampler/target.hpp"

namespace emomc {

/// Converts the prior of `block` from the sampler's units to the data's own. The result has one argument per
/// column, or one per element if components differ. Empty if the family is not closed under the map.
/// Arguments must have a shape that the block allows.
std::optional<PriorSpec> in_data_units(const PriorSpec& prior, const ParameterBlock& block,
                                       const ColumnUnits& units);
/// The inverse of in_data_units: converts from the data's own units to the sampler's.
std::optional<PriorSpec> in_sampler_units(const PriorSpec& prior, const ParameterBlock& block,
                                          const ColumnUnits& units);

/// Converts all priors of a model with this layout, including sampled arguments, from the data's own units to
/// the sampler's. Throws InputError if a family is not closed under the map.
PriorSet in_sampler_units(const PriorSet& stated, const ParameterLayout& layout, const ColumnUnits& units);
/// The inverse of in_sampler_units: converts all priors from the sampler's units to the data's own.
PriorSet in_data_units(const PriorSet& stated, const ParameterLayout& layout, const ColumnUnits& units);

/// Returns the constant to add to the log prior in the sampler's units to get the log density of the same
/// point in the data's own: minus the sum, over all parameters that are not fixed, of the log of the factor
/// between the units. `layout` is the likelihood's; `stated` may be in either unit.
double log_prior_offset(const PriorSet& stated, const ParameterLayout& layout, const ColumnUnits& units);

}  // namespace emomc
