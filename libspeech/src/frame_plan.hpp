// Computes the frame layout, in samples, of MFCC settings at one sample rate.
#pragma once

#include <cstddef>

#include "emomc/speech/mfcc.hpp"

namespace emomc {

struct FramePlan {
  Framing framing = Framing::drop_last;
  std::size_t window = 0, hop = 0, fft_size = 0;  ///< samples
  std::size_t num_frames(std::size_t num_samples) const;
  /// Index of the first sample of a frame's window; negative if a centred frame begins before the recording.
  std::ptrdiff_t start(std::size_t frame) const;
};

/// Checks every setting, except that each of the num_filters filters contains an FFT bin (MelFilters checks
/// that). Throws InputError, which names the setting, its value and the allowed values.
FramePlan plan_frames(const MfccSettings& settings, double sample_rate);

}  // namespace emomc
