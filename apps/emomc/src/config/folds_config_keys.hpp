// The keys of folds, and of groups of utterances that scores are given by.
#pragma once

#include <vector>

#include "evaluation_config_keys.hpp"

namespace emomc::app {

std::vector<EvaluationKey> folds_keys();
std::vector<EvaluationKey> group_keys();

}  // namespace emomc::app
