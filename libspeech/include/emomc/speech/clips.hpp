// Cuts clips from recordings; evaluations learn from them how much less certain the classes of short
// recordings are.
#pragma once

#include <array>
#include <cstddef>

#include "emomc/speech/descriptors.hpp"

namespace emomc {

/// The lengths of clips in frames: 1, 0.5 and 0.2 s.
inline constexpr std::array<std::size_t, 3> kClipFrames{98, 48, 18};

/// The `count` frames in the middle of a recording, or all frames if there are no more. Levels become
/// relative to the clip's own level, as in a recording of that length; voicing is taken from the whole
/// recording.
FrameDescriptors middle_of(const FrameDescriptors& frames, std::size_t count);

}  // namespace emomc
