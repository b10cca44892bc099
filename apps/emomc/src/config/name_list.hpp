// Reads and writes lists of names in configurations.
#pragma once

#include <string>
#include <vector>

#include "yaml_value.hpp"

namespace emomc::app {

using Names = std::vector<std::string>;

/// Reads a list of distinct names. `wanted` describes the list in messages.
Names read_list(const YamlValue& value, const std::string& wanted);
/// Reads a list of one distinct name or more. In messages, `wanted` describes the list, and `one` a single
/// entry.
Names read_some(const YamlValue& value, const std::string& wanted, const std::string& one);
std::string write_list(const Names& names);

}  // namespace emomc::app
