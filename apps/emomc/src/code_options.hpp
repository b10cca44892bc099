// Code of the user's own (likelihood.source): it runs only where the command line or the environment allows
// it.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>

#include "emomc/core/host_compiler.hpp"
#include "emomc/likelihood/expression.hpp"

namespace emomc::app {

/// --allow-code and --debug-build. They set EMOMC_ALLOW_CODE and EMOMC_DEBUG_BUILD to 1 for this process and
/// those that it starts, so that an environment says the same.
void add_code_options(CLI::App& command);

/// How the code of likelihoods is compiled for the host.
HostBuild host_build();

/// `spec` with the text of its header, which is read. Throws InputError where code is not allowed or the file
/// cannot be read. Without a header, `spec` itself.
ExpressionSpec with_code(const ExpressionSpec& spec);

/// Where a run keeps the header that it was made with.
std::filesystem::path code_file(const std::filesystem::path& directory);

}  // namespace emomc::app
