// Configuration keys for the engine, devices and threads on which a run computes.
#pragma once

#include <vector>

#include "run_config_keys.hpp"

namespace emomc::app {

/// Returns the keys backend, shard, threads and devices.
std::vector<ConfigKey> device_keys();

}  // namespace emomc::app
