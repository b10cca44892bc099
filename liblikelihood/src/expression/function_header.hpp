// The header that kernels include to call a function of the user's own.
#pragma once

#include <string>

namespace emomc {

struct ExpressionPlan;

namespace expression {

/// A relative change at which central differences are best where the third derivative is about as large as
/// the function: the cube root of the rounding error of a double (Nocedal and Wright 2006, "Numerical
/// Optimization", section 8.1).
inline constexpr double kRelativeStep = 6.055454452393343e-6;

/// A likelihood as density.hpp describes it, which calls plan.code.function's code for GPUs,
/// emomc_row_density, and, where the function has a gradient of its own, emomc_row_gradient.
std::string function_header(const ExpressionPlan& plan);

}  // namespace expression
}  // namespace emomc
