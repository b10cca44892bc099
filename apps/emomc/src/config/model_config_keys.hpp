// The configuration keys of `likelihood` and `prior` that depend on the models. They are made from the
// models' headers.
#pragma once

#include <vector>

#include "run_config_keys.hpp"

namespace emomc::app {

std::vector<ConfigKey> likelihood_keys();
std::vector<ConfigKey> prior_keys();

}  // namespace emomc::app
