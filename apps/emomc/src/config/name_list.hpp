// Lists of names in configurations.
#pragma once

#include <string>
#include <vector>

#include "yaml_value.hpp"

namespace emomc::app {

using Names = std::vector<std::string>;

/// A list of distinct names; `wanted` says of what, for messages.
Names read_list(const YamlValue& value, const std::string& wanted);
/// The same of one name or more; `one` is what a name is of.
Names read_some(const YamlValue& value, const std::string& wanted, const std::string& one);
std::string write_list(const Names& names);

}  // namespace emomc::app
