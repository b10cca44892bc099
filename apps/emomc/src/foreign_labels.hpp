// Label switching in draws whose model is not known.
#pragma once

#include <string>
#include <vector>

#include "emomc/sampler/draw_set.hpp"

namespace emomc::app {

/// A sentence for each array whose parts trade places between chains: entries along its first or last axis,
/// or arrays of equal shape with names that differ in a number at their end. Parts count as switched where
/// some chain has them in another order and in that order R-hat, too high before, is that of chains which
/// agree.
std::vector<std::string> switched_labels(const DrawSet& draws);

}  // namespace emomc::app
