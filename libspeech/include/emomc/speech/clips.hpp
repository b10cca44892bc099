// Clips of recordings, from which is learned how much less is known of a short recording.
#pragma once

#include <array>
#include <cstddef>

#include "emomc/speech/descriptors.hpp"

namespace emomc {

/// The lengths of clips in frames: 1, 0.5 and 0.2 s.
inline constexpr std::array<std::size_t, 3> kClipFrames{98, 48, 18};

/// The frames in the middle of a recording, `count` of them; all if there are no more. Levels are relative to
/// the clip's own, as those of a recording of that length are; the voice is that which was found in the whole
/// recording.
FrameDescriptors middle_of(const FrameDescriptors& frames, std::size_t count);

}  // namespace emomc
