// Generates the gradient's part of a header (device/density.hpp).
#pragma once

#include <string>

#include "emomc/device/gradient_layout.hpp"
#include "gradient_program.hpp"

namespace emomc::expression {

/// Members of the generated type for the gradient; empty where there is no gradient.
std::string gradient_functions(const RowProgram& program, const GradientProgram& gradient, int dim);

/// Sizes of the same gradient in kernels; num_slots is 0 where there is no gradient.
device::GradientSizes gradient_sizes(const RowProgram& program, const GradientProgram& gradient, int dim);

}  // namespace emomc::expression
