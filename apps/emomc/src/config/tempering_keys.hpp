// Configuration keys of the section sampler.tempering.
#pragma once

#include <vector>

#include "run_config_keys.hpp"

namespace emomc::app {

std::vector<ConfigKey> tempering_keys();

}  // namespace emomc::app
