// Finds what the draws of a run directory depend on, in the spelling of the program's configuration.
#pragma once

#include <string>
#include <vector>

#include "emomc/posterior/run_identity.hpp"
#include "run_config.hpp"

namespace emomc::app {

struct WrittenKey;

/// Returns the identity of a run of `emomc run`. It does not include sampler.draws, since a finished run can
/// be made longer.
RunIdentity identity_of(const RunConfig& config);

/// Returns one `key: value` line for each key.
std::string lines_of(const std::vector<WrittenKey>& keys);

}  // namespace emomc::app
