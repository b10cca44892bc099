// Code of the user's own (likelihood.source): it runs only where the command line or the environment allows
// it.
#pragma once

#include <CLI/CLI.hpp>

#include "emomc/posterior/own_code.hpp"

namespace emomc::app {

/// --allow-code and --debug-build. They set EMOMC_ALLOW_CODE and EMOMC_DEBUG_BUILD to 1 for this process and
/// those that it starts, so that an environment says the same.
void add_code_options(CLI::App& command);

}  // namespace emomc::app
