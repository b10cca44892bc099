// Reads priors in the form of the models' headers: "{normal: {mean: 0, sd: 10}}".
#pragma once

#include <string>

#include "emomc/sampler/prior.hpp"

namespace emomc {

/// The prior in a text of numbers, without lists and without priors of arguments. Throws std::logic_error if
/// the text is anything else, since it is part of a header of emomc, which tests read.
PriorSpec prior_of_text(const std::string& text);

}  // namespace emomc
