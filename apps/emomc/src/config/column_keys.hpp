// Keys of the section `data` about the columns that likelihoods of the user's own use.
#pragma once

#include <vector>

#include "run_config.hpp"
#include "run_config_keys.hpp"

namespace emomc::app {

/// Returns the keys data.rename, data.weights, data.categories and data.kinds.
std::vector<ConfigKey> column_keys();

/// Returns the key data.standardize, which configurations of models have, too.
ConfigKey standardize_key();

/// Throws InputError, with file and line, if one of these keys names a column that no expression uses.
void refuse_unused_columns(const YamlNode& root, const RunConfig& config);

}  // namespace emomc::app
