// The configuration keys that depend on the models: those of `likelihood` and `prior`, made from the models'
// headers.
#pragma once

#include <vector>

#include "run_config_keys.hpp"

namespace emomc::app {

std::vector<ConfigKey> likelihood_keys();
std::vector<ConfigKey> prior_keys();

}  // namespace emomc::app
