// One recording to frames.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "emomc/speech/audio.hpp"
#include "emomc/speech/mfcc.hpp"
#include "evaluation_config.hpp"

namespace emomc::app {

/// By sample rate; made when first needed.
using Extractors = std::map<double, MfccExtractor>;

struct ExtractedFrames {
  Frames frames;  ///< without silence and what is below the gate, without deltas
  Dropped dropped;
};

/// Throws InputError where the settings do not go with the sample rate.
ExtractedFrames extract_frames(const Recording& recording, const FeaturesConfig& config,
                               Extractors& extractors);

}  // namespace emomc::app
