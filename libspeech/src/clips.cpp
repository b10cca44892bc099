#include "emomc/speech/clips.hpp"

#include "own_level.hpp"

namespace emomc {

FrameDescriptors middle_of(const FrameDescriptors& frames, std::size_t count) {
  if (count >= frames.num_frames) return frames;
  const std::size_t first = (frames.num_frames - count) / 2;
  FrameDescriptors clip;
  clip.num_frames = count;
  clip.hop_seconds = frames.hop_seconds;
  for (std::size_t d = 0; d < descriptors().size(); ++d) {
    const auto series = frames.of(d).subspan(first, count);
    clip.values.insert(clip.values.end(), series.begin(), series.end());
  }
  const auto voiced = frames.voiced.begin() + static_cast<std::ptrdiff_t>(first);
  clip.voiced.assign(voiced, voiced + static_cast<std::ptrdiff_t>(count));
  relate_clip_to_own_level(frames, clip);
  return clip;
}

}  // namespace emomc
