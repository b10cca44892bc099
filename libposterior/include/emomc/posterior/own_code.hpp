// Code of the user's own (ExpressionSpec::code): it runs only where the environment of the process allows it.
#pragma once

#include <filesystem>

#include "emomc/core/host_compiler.hpp"
#include "emomc/likelihood/expression.hpp"

namespace emomc {

/// Code runs where the first of these environment variables is 1. Where the second is 1, it is compiled for a
/// debugger.
inline constexpr const char *kAllowCode = "EMOMC_ALLOW_CODE", *kDebugBuild = "EMOMC_DEBUG_BUILD";

/// How the code of likelihoods is compiled for the host.
HostBuild host_build();

/// `spec` with the text of its header, which is read. Throws InputError where code is not allowed or the file
/// cannot be read. Without a header, `spec` itself.
ExpressionSpec with_code(const ExpressionSpec& spec);

/// Where a run keeps the header that it was made with.
std::filesystem::path code_file(const std::filesystem::path& directory);

}  // namespace emomc
