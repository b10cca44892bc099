// Reading and writing of maps whose keys are names of the user's own.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "yaml_value.hpp"

namespace emomc::app {

/// "fit.yaml:7: likelihood.log_density", as messages begin.
std::string place_of(const YamlValue& value);

/// Calls `read` with the name and the value of each item of a map; nothing is in an empty section. `wanted`
/// describes the map in messages.
void for_each_named(const YamlValue& value, const std::string& wanted,
                    const std::function<void(const std::string&, const YamlValue&)>& read);

/// Refuses keys of a map that are not `allowed`, with the nearest one that is.
void refuse_other_keys(const YamlValue& value, std::span<const std::string> allowed);

/// `text` in double quotes, as YAML reads it again.
std::string quoted(const std::string& text);

}  // namespace emomc::app
