// What the draws of a run directory of the program depend on, as its configuration spells it.
#pragma once

#include <string>
#include <vector>

#include "emomc/posterior/run_identity.hpp"
#include "run_config.hpp"

namespace emomc::app {

struct WrittenKey;

/// The identity of `emomc run`. It does not include sampler.draws, since a finished run can be made longer.
RunIdentity identity_of(const RunConfig& config);

/// One `key: value` line for each key.
std::string lines_of(const std::vector<WrittenKey>& keys);

}  // namespace emomc::app
