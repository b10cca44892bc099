// Generates C++ of the language's functions for dual numbers.
#pragma once

#include <string>

namespace emomc::expression {

/// Text that follows emomc/device/dual_numbers.hpp and precedes a header of the user's own: overloads of each
/// scalar function of expression_primitives.hpp for dual numbers, for every choice of dual arguments with
/// respect to which the function has derivatives, in the namespaces in which a likelihood finds functions of
/// numbers.
const std::string& dual_functions();

}  // namespace emomc::expression
