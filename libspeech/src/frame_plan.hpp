// What the settings of MFCCs mean in samples at one sample rate.
#pragma once

#include <cstddef>

#include "emomc/speech/mfcc.hpp"

namespace emomc {

struct FramePlan {
  Framing framing = Framing::drop_last;
  std::size_t window = 0, hop = 0, fft_size = 0;  ///< samples
  std::size_t num_frames(std::size_t num_samples) const;
  /// Of the window's first sample; negative where a centred frame begins before the recording.
  std::ptrdiff_t start(std::size_t frame) const;
};

/// Checks every setting but num_filters against the width of bins. Throws InputError, naming the setting, its
/// value and what is allowed.
FramePlan plan_frames(const MfccSettings& settings, double sample_rate);

}  // namespace emomc
