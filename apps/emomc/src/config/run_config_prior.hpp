// Priors in the configuration: which families a block accepts and which values their arguments may have.
#pragma once

#include <string>

#include "emomc/posterior/prior_rules.hpp"
#include "run_config.hpp"
#include "yaml_value.hpp"

namespace emomc::app {

/// Reads the prior of `block`, one of prior_parts() of the model, and the priors of its arguments if they
/// have one, into config.prior. `config` must contain data and likelihood already, since these determine the
/// number of components and, if columns are listed, the number of columns.
void read_prior(const YamlValue& value, const std::string& block, RunConfig& config);

/// The value of prior.order that orders the components of `model`, which has an ordered_by: "means.0".
std::string order_key(const ModelInfo& model);

/// The block that `order` names; empty for none. Sets config.order_column where it names a column. An order
/// requires a prior that is the same for all components: the ordered density is K! times the prior, where K!
/// is the number of permutations. Refuses, at the place of `order`, priors that differ between components.
std::string read_order(const YamlValue& order, RunConfig& config);

}  // namespace emomc::app
