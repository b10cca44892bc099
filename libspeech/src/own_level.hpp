// Levels of a recording relative to its own level: how loud a recording is says more about the microphone's
// distance and the gain than about the speaker. docs/functionals.md has the formulas.
#pragma once

#include "emomc/speech/descriptors.hpp"

namespace emomc {

/// The mean power of a recording's frames, each less its mean, after scaling: 26 dB below full scale.
inline constexpr double kMeanPower = 0.0025;

/// Of a recording whose frames have the mean power kMeanPower: divides the loudness by its mean, and takes
/// the mean of level_db from the levels of bands. A recording without frames stays as it is.
void relate_to_own_level(FrameDescriptors& recording);

/// Does to `clip`, consecutive frames of `recording`, what describing the clip alone would do: its frames
/// have the mean power kMeanPower, and loudness and bands are relative to the clip. Both were related before.
void relate_clip_to_own_level(const FrameDescriptors& recording, FrameDescriptors& clip);

}  // namespace emomc
