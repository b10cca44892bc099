// Keys that say where a run computes.
#pragma once

#include <vector>

#include "run_config_keys.hpp"

namespace emomc::app {

/// backend, shard, threads and devices.
std::vector<ConfigKey> device_keys();

}  // namespace emomc::app
