// Turns one recording into frames.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "emomc/emotion/evaluation_config.hpp"
#include "emomc/speech/audio.hpp"
#include "emomc/speech/functionals.hpp"
#include "emomc/speech/mfcc.hpp"

namespace emomc {

/// The column of frames that has the recording's gain in it (FeaturesConfig::remove_gain); the first one of
/// MfccExtractor.
inline constexpr const char* kGainColumn = "c0";

/// Extractors by sample rate in Hz, created when first needed.
using Extractors = std::map<double, MfccExtractor>;
using DescriptorExtractors = std::map<double, DescriptorExtractor>;

struct ExtractedFrames {
  Frames frames;  ///< without deltas, without silent frames and frames below the gate
  Dropped dropped;
};

/// Throws InputError if the settings are not valid at the recording's sample rate.
ExtractedFrames extract_frames(const Recording& recording, const FeaturesConfig& config,
                               Extractors& extractors);
/// The descriptors of one recording's frames. Throws InputError if its sample rate is too low for them.
FrameDescriptors describe_recording(const Recording& recording, DescriptorExtractors& extractors);

}  // namespace emomc
