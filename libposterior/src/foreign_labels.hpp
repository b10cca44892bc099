// Detects label switching in draws of other programs, whose model is not known.
#pragma once

#include <string>
#include <vector>

#include "emomc/sampler/draw_set.hpp"

namespace emomc {

/// Returns a sentence for each array whose components are switched. Components are the entries along an
/// array's first or last axis, or arrays of equal shape whose names differ in a number at their end. They
/// count as switched between chains if some chain has them in another order and this order removes three
/// quarters of the excess of R-hat over 1. They count as switched from draw to draw if, in some position, a
/// gap divides them into two groups in nearly every draw, the groups stay at the same values, and their
/// members differ from the most frequent ones in at least 5 % of the draws. Exchangeable quantities that need
/// no labels, such as independent errors, have no such gap.
std::vector<std::string> switched_labels(const DrawSet& draws);

}  // namespace emomc
