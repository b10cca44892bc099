// The keys of the section `features`, which say how recordings become frames.
#pragma once

#include <vector>

#include "evaluation_config_keys.hpp"

namespace emomc::app {

std::vector<EvaluationKey> features_keys();

/// Returns "none", "corpus", "speaker" or "utterance".
std::string normalization_name(Normalization by);

}  // namespace emomc::app
