// The gradient's part of a generated header (device/density.hpp).
#pragma once

#include <string>

#include "gradient_program.hpp"

namespace emomc::expression {

/// Members of the generated type; empty where there is no gradient.
std::string gradient_functions(const RowProgram& program, const GradientProgram& gradient, int dim);

}  // namespace emomc::expression
