// Functionals of frames of which nothing is known but their numbers: a row for each utterance of a corpus of
// tables. docs/functionals.md has the formulas.
#pragma once

#include <string>
#include <vector>

#include "emomc/speech/feature_set.hpp"
#include "emomc/speech/functional_table.hpp"

namespace emomc {

/// Raised whenever a functional of the same name changes its value.
inline constexpr int kFrameFunctionalsVersion = 1;

/// "<column>.<functional>" for each column, then "d_<column>.<functional>": 10 names for each column, in the
/// order of frame_functionals().
std::vector<std::string> frame_functional_names(const std::vector<std::string>& columns);

/// The mean, the standard deviation (with divisor n) and the 10, 50 and 90 % quantiles (interpolated
/// linearly), over the frames of each utterance, of each column and of its derivative over time
/// (append_deltas of order 1): one row for each utterance, in their order. All values of an utterance with
/// fewer than three frames are NaN. `frames` has no derivatives of its own.
FunctionalTable frame_functionals(FeatureSet frames);

}  // namespace emomc
