// The keys of the section `features`: how recordings become frames.
#pragma once

#include <vector>

#include "evaluation_config_keys.hpp"

namespace emomc::app {

std::vector<EvaluationKey> features_keys();

/// "none", "corpus", "speaker", "utterance".
std::string normalization_name(Normalization by);

}  // namespace emomc::app
