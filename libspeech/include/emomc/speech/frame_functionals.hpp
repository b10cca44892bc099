// Computes functionals of frames with arbitrary columns, as in tables of other programs: one row for each
// utterance. docs/functionals.md has the formulas.
#pragma once

#include <string>
#include <vector>

#include "emomc/speech/feature_set.hpp"
#include "emomc/speech/functional_table.hpp"

namespace emomc {

/// Raised whenever a functional of the same name changes its value.
inline constexpr int kFrameFunctionalsVersion = 1;

/// The names of the functionals: "<column>.<functional>" for each column, then "d_<column>.<functional>"; 10
/// names for each column, in the order of frame_functionals().
std::vector<std::string> frame_functional_names(const std::vector<std::string>& columns);

/// The mean, the standard deviation (with divisor n) and the 10, 50 and 90 % quantiles (interpolated
/// linearly) over the frames of each utterance, for each column and its derivative over time (append_deltas
/// of order 1). The result has one row for each utterance, in the order of `frames`. All values of an
/// utterance with fewer than three frames are NaN. `frames` must not contain derivatives.
FunctionalTable frame_functionals(FeatureSet frames);

}  // namespace emomc
