// The functions of the language for dual numbers, as C++.
#pragma once

#include <string>

namespace emomc::expression {

/// Text that follows emomc/device/dual_numbers.hpp and precedes a header of the user's own: each scalar
/// function of expression_primitives.hpp for dual numbers (device/dual_numbers.hpp), with any of its
/// arguments dual with respect to which it has a derivative, in the namespaces in which a likelihood finds
/// functions of numbers.
const std::string& dual_functions();

}  // namespace emomc::expression
