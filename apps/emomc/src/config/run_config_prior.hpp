// Reads priors from the configuration: the families that a block accepts, and the values of their arguments.
#pragma once

#include <string>

#include "emomc/posterior/prior_rules.hpp"
#include "run_config.hpp"
#include "yaml_value.hpp"

namespace emomc::app {

/// Reads the prior of `block`, one of prior_parts() of the model, and the priors of its arguments, if any,
/// into config.prior. `config` must contain data and likelihood already, since these determine the number of
/// components and, if columns are listed, the number of columns.
void read_prior(const YamlValue& value, const std::string& block, RunConfig& config);

/// Returns the value of prior.order that orders the components of `model`, such as "means.0". The model must
/// have an ordered_by.
std::string order_key(const ModelInfo& model);

/// Returns the block that `order` names, or an empty text for none. Sets config.order_column if `order` names
/// a column. An order requires a prior that is the same for all components: the ordered density is K! times
/// the prior, where K! is the number of permutations. Priors that differ between components are refused at
/// the place of `order`.
std::string read_order(const YamlValue& order, RunConfig& config);

}  // namespace emomc::app
