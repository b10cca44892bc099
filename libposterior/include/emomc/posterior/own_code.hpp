// Reads user-defined likelihood code (ExpressionSpec::code), which runs only if the environment allows it.
#pragma once

#include <filesystem>

#include "emomc/core/host_compiler.hpp"
#include "emomc/likelihood/expression.hpp"

namespace emomc {

/// Names of environment variables. Code runs if the first one is 1. If the second one is 1, the code is
/// compiled for a debugger.
inline constexpr const char *kAllowCode = "EMOMC_ALLOW_CODE", *kDebugBuild = "EMOMC_DEBUG_BUILD";

/// The compiler settings for likelihood code on the host.
HostBuild host_build();

/// `spec` with the text of its header, which is read from the file; `spec` itself if there is no header.
/// Throws InputError if code is not allowed or the file cannot be read.
ExpressionSpec with_code(const ExpressionSpec& spec);

/// The file in which a run directory keeps the header of its likelihood.
std::filesystem::path code_file(const std::filesystem::path& directory);

}  // namespace emomc
