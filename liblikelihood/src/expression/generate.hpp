// Writes a likelihood as a C++ header (device/density.hpp). Parameters and columns are numbered and numbers
// are printed anew, so that no text of a configuration reaches a compiler.
#pragma once

#include <string>
#include <vector>

#include "emomc/core/parameters.hpp"
#include "gradient_program.hpp"

namespace emomc::expression {

/// The type that the header defines.
inline constexpr const char* kGeneratedType = "emomc_generated::Likelihood";
/// The header's name, as it is included.
inline constexpr const char* kGeneratedHeader = "emomc_generated_likelihood.hpp";

/// Its enumerator in C++. Throws std::logic_error for matrices.
const char* name_of(Support support);

/// Neighbouring coefficients that are neighbouring parameters, the first of which is `parameter`.
struct ParameterRun {
  int parameter, count;
};
/// All coefficients in turn, where they are parameters in a few runs, and rows share nothing else; empty
/// otherwise.
std::vector<ParameterRun> parameter_runs(const RowProgram& program);

/// Without a gradient where `gradient` says why there is none.
std::string generate_header(const RowProgram& program, const GradientProgram& gradient,
                            const ParameterLayout& layout);

}  // namespace emomc::expression
