// Writes a likelihood as a C++ header (device/density.hpp). Parameters and columns are numbered, and numbers
// are printed from their values, so that no text of a configuration reaches a compiler.
#pragma once

#include <string>
#include <vector>

#include "emomc/core/parameters.hpp"
#include "gradient_program.hpp"

namespace emomc::expression {

/// Name of the type that the header defines.
inline constexpr const char* kGeneratedType = "emomc_generated::Likelihood";
/// Name by which the header is included.
inline constexpr const char* kGeneratedHeader = "emomc_generated_likelihood.hpp";

/// The C++ name of the enumerator. Throws std::logic_error for matrices.
const char* name_of(Support support);

/// Neighbouring coefficients that are copies of `count` neighbouring parameters, from `parameter` on.
struct ParameterRun {
  int parameter, count;
};
/// All coefficients as runs of parameters, if the coefficients are parameters in a few runs and there is no
/// `common`; otherwise empty.
std::vector<ParameterRun> parameter_runs(const RowProgram& program);

/// The text of the header. It has no gradient if gradient.why_not is not empty.
std::string generate_header(const RowProgram& program, const GradientProgram& gradient,
                            const ParameterLayout& layout);

}  // namespace emomc::expression
