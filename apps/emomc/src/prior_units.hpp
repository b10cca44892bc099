// A prior stated for standardised columns, said again in the data's own units.
#pragma once

#include <optional>

#include "emomc/core/data_units.hpp"
#include "emomc/sampler/prior.hpp"

namespace emomc::app {

/// The prior of `block` in the data's own units, arguments per column or per element where columns differ.
/// Nothing where the family cannot say it there. Arguments must fit the block.
std::optional<PriorSpec> in_data_units(const PriorSpec& prior, const ParameterBlock& block,
                                       const ColumnUnits& units);

}  // namespace emomc::app
