// Label switching in draws whose model is not known.
#pragma once

#include <string>
#include <vector>

#include "emomc/sampler/draw_set.hpp"

namespace emomc::app {

/// A sentence for each array whose parts trade places: entries along its first or last axis, or arrays of
/// equal shape with names that differ in a number at their end. Parts count as switched between chains where
/// some chain has them in another order and that order takes away three quarters of what R-hat is above 1;
/// from draw to draw where in some position a gap parts them into two groups in nearly every draw, the groups
/// lie in one place, and which parts are in them differs in more than 5 % of the draws. Exchangeable parts
/// that are not told apart, such as independent errors, have no such gap.
std::vector<std::string> switched_labels(const DrawSet& draws);

}  // namespace emomc::app
