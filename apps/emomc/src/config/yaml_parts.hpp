// Reads and writes maps whose keys are names that the user has chosen.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "yaml_value.hpp"

namespace emomc::app {

/// Returns the beginning of a message about a value: "fit.yaml:7: likelihood.log_density".
std::string place_of(const YamlValue& value);

/// Calls `read` with the name and the value of each item of a map; an empty section has no items. `wanted`
/// describes the map in messages.
void for_each_named(const YamlValue& value, const std::string& wanted,
                    const std::function<void(const std::string&, const YamlValue&)>& read);

/// Refuses keys of a map that are not `allowed`, with the nearest allowed key.
void refuse_other_keys(const YamlValue& value, std::span<const std::string> allowed);

/// Returns `text` in double quotes, escaped so that YAML reads the same text.
std::string quoted(const std::string& text);

}  // namespace emomc::app
