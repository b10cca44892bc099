// Functions of the language that are defined in the language itself (densities.cpp).
#pragma once

#include <map>
#include <string>

#include "syntax.hpp"

namespace emomc::expression {

/// All definitions by name.
const std::map<std::string, Definition>& definitions();

/// The definitions in a text, by name. A line that begins with a space continues a definition; lines that
/// begin with `#` are comments. `key` is the configuration key that messages name.
std::map<std::string, Definition> read_definitions(const std::string& key, const std::string& text);

}  // namespace emomc::expression
