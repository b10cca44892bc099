// Functions of the language that are defined in the language itself (densities.cpp).
#pragma once

#include <map>
#include <string>

#include "syntax.hpp"

namespace emomc::expression {

/// By name.
const std::map<std::string, Definition>& definitions();

}  // namespace emomc::expression
