// Names speakers of whom a regression on functionals learns nothing.
#pragma once

#include <string>

#include "emomc/emotion/corpus_features.hpp"

namespace emomc {

/// A warning if speakers have a single row of functionals, which is 0 in every column once it is standardised
/// by its speaker; empty if every speaker has two or more, or if there are no functionals.
std::string lone_speakers_warning(const FunctionalTable& functionals);

}  // namespace emomc
