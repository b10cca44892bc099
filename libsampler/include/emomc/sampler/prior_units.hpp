// Priors between the data's own units and those the sampler sees.
//
// A column is seen as (x - mean) / sd, a location theta as (theta - mean) / sd, a scale as theta / sd. Each
// family of priors is closed under the map that its block takes part in, so that a prior stated in one unit
// is the same family with other arguments in the other, and densities differ by a constant, log_prior_offset.
#pragma once

#include <optional>

#include "emomc/core/data_units.hpp"
#include "emomc/sampler/prior.hpp"
#include "emomc/sampler/target.hpp"

namespace emomc {

/// The prior of `block`, stated for columns in the sampler's units, in the data's own; arguments per column
/// or per element where columns differ. Nothing where the family cannot say it there. Arguments must fit the
/// block.
std::optional<PriorSpec> in_data_units(const PriorSpec& prior, const ParameterBlock& block,
                                       const ColumnUnits& units);
/// The inverse: stated in the data's own units, wanted in the sampler's.
std::optional<PriorSpec> in_sampler_units(const PriorSpec& prior, const ParameterBlock& block,
                                          const ColumnUnits& units);

/// All priors of a model with this layout from the data's own units into the sampler's, sampled arguments
/// included. Throws InputError where a family cannot be stated there.
PriorSet in_sampler_units(const PriorSet& stated, const ParameterLayout& layout, const ColumnUnits& units);
/// The inverse.
PriorSet in_data_units(const PriorSet& stated, const ParameterLayout& layout, const ColumnUnits& units);

/// What is added to the log prior in the sampler's units to have the log density of the same point in the
/// data's own: minus the sum over all parameters that are not fixed of the log of the factor between the
/// units. `layout` is the likelihood's, `stated` the priors in either unit.
double log_prior_offset(const PriorSet& stated, const ParameterLayout& layout, const ColumnUnits& units);

}  // namespace emomc
