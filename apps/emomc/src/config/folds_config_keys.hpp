// The keys of folds, and of the groups of utterances for which scores are given separately.
#pragma once

#include <vector>

#include "evaluation_config_keys.hpp"

namespace emomc::app {

std::vector<EvaluationKey> folds_keys();
std::vector<EvaluationKey> group_keys();

}  // namespace emomc::app
