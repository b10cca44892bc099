// Functions of the language that are defined in the language itself (densities.cpp).
#pragma once

#include <map>
#include <string>

#include "syntax.hpp"

namespace emomc::expression {

/// By name.
const std::map<std::string, Definition>& definitions();

/// The definitions of a text, by name. A definition goes on in lines that begin with a space; lines that
/// begin with
/// `#` are comments. `key` is what messages name.
std::map<std::string, Definition> read_definitions(const std::string& key, const std::string& text);

}  // namespace emomc::expression
