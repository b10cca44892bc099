// Keys of the section data about columns, as likelihoods of the user's own use them.
#pragma once

#include <vector>

#include "run_config.hpp"
#include "run_config_keys.hpp"

namespace emomc::app {

/// data.rename, data.weights, data.categories and data.kinds.
std::vector<ConfigKey> column_keys();

/// data.standardize, which models have too.
ConfigKey standardize_key();

/// Throws InputError, with file and line, where one of these keys names a column that no expression uses.
void refuse_unused_columns(const YamlNode& root, const RunConfig& config);

}  // namespace emomc::app
