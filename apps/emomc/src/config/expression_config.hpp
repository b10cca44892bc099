// Reads likelihoods of the user's own from a configuration: likelihood.log_density and the keys that belong
// to it.
#pragma once

#include <string>
#include <vector>

#include "emomc/posterior/prior_rules.hpp"
#include "run_config.hpp"
#include "run_config_keys.hpp"

namespace emomc::app {

/// Returns the keys of column_keys(), and likelihood.parameters, linear, constants, prepare, where,
/// log_density, rows, simulate and derived.
std::vector<ConfigKey> expression_keys();

/// Returns whether the configuration states a likelihood of the user's own.
bool states_expression(const YamlNode& root);

/// Reads the keys of expression_keys() that are in `root`. Throws InputError with file and line if a value
/// has the wrong form or an expression cannot be parsed.
void read_expression(const YamlNode& root, RunConfig& config);

/// Refuses prior.order, which only models have.
[[noreturn]] void refuse_order_of_prior(const YamlNode& root, const ExpressionSpec& spec);

/// Returns "real", "positive", "unit_interval", "simplex" or "circular".
std::string support_name(Support support);

}  // namespace emomc::app
