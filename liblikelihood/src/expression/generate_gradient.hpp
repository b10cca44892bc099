// The gradient's part of a generated header (device/density.hpp).
#pragma once

#include <string>

#include "emomc/device/gradient_layout.hpp"
#include "gradient_program.hpp"

namespace emomc::expression {

/// Members of the generated type; empty where there is no gradient.
std::string gradient_functions(const RowProgram& program, const GradientProgram& gradient, int dim);

/// What kernels need for the same; of 0 slots where there is no gradient.
device::GradientSizes gradient_sizes(const RowProgram& program, const GradientProgram& gradient, int dim);

}  // namespace emomc::expression
