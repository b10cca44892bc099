// Options about code of the user's own (likelihood.source), which is run only if the command line or the
// environment allows it.
#pragma once

#include <CLI/CLI.hpp>

#include "emomc/posterior/own_code.hpp"

namespace emomc::app {

/// Adds --allow-code and --debug-build. These options set EMOMC_ALLOW_CODE and EMOMC_DEBUG_BUILD to 1 for
/// this process and for its child processes, so that an option and an environment variable have the same
/// effect.
void add_code_options(CLI::App& command);

}  // namespace emomc::app
