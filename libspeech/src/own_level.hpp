// Makes the levels of a recording relative to its own level, because the loudness of a recording depends more
// on the microphone's distance and the gain than on the speaker. docs/functionals.md has the formulas.
#pragma once

#include "emomc/speech/descriptors.hpp"

namespace emomc {

/// The mean power of a recording's frames after scaling, each frame without its mean: 26 dB below full scale.
inline constexpr double kMeanPower = 0.0025;

/// Divides the loudness by its mean, and subtracts the mean of level_db from the levels of bands. The frames
/// must have the mean power kMeanPower. A recording without frames does not change.
void relate_to_own_level(FrameDescriptors& recording);

/// Changes `clip`, consecutive frames of `recording`, to the levels of the clip described alone: the frames
/// have the mean power kMeanPower, and loudness and bands are relative to the clip. Before the call, both
/// must have passed relate_to_own_level().
void relate_clip_to_own_level(const FrameDescriptors& recording, FrameDescriptors& clip);

}  // namespace emomc
