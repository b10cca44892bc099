// Priors as the configuration writes them: which families a block takes, and what their arguments may be.
#pragma once

#include <string>

#include "run_config.hpp"
#include "yaml_value.hpp"

namespace emomc::app {

/// The priors of a likelihood whose configuration says nothing about them.
PriorSet default_prior(const LikelihoodConfig& likelihood);

/// Reads the prior of `block` (weights, means, scales, correlations, fraction, mean or sigma), and those of
/// its arguments where they have one, into config.prior. `config` has data and likelihood already: they say
/// how many components and, where columns are listed, how many columns.
void read_prior(const YamlValue& value, const std::string& block, RunConfig& config);

/// The block that `order` names, empty for none. An order needs a prior that treats all components alike: it
/// multiplies by K!, the number of ways to number them. Refuses, at `order`, priors that tell components
/// apart.
std::string read_order(const YamlValue& order, const RunConfig& config);

}  // namespace emomc::app
