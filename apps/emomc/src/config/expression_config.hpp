// Likelihoods of the user's own in a configuration: the keys likelihood.log_density and those that go with
// it.
#pragma once

#include <string>
#include <vector>

#include "emomc/posterior/prior_rules.hpp"
#include "run_config.hpp"
#include "run_config_keys.hpp"

namespace emomc::app {

/// Those of column_keys(), and likelihood.parameters, linear, constants, prepare, where, log_density, rows,
/// simulate and derived.
std::vector<ConfigKey> expression_keys();

/// Whether the configuration states a likelihood of the user's own.
bool states_expression(const YamlNode& root);

/// Reads the keys of expression_keys() that are in `root`. Throws InputError with file and line where a value
/// has the wrong form or an expression cannot be parsed.
void read_expression(const YamlNode& root, RunConfig& config);

/// Refuses prior.order, which only models have.
[[noreturn]] void refuse_order_of_prior(const YamlNode& root, const ExpressionSpec& spec);

/// "real", "positive", "unit_interval", "simplex", "circular".
std::string support_name(Support support);

}  // namespace emomc::app
