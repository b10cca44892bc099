// Computes the frames and descriptors of one recording.
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

/// The column of frames that contains the recording's gain (FeaturesConfig::remove_gain); it is the first
/// column of MfccExtractor.
inline constexpr const char* kGainColumn = "c0";

/// Extractors by sample rate in Hz, created when first needed.
using Extractors = std::map<double, MfccExtractor>;
using DescriptorExtractors = std::map<double, DescriptorExtractor>;

struct ExtractedFrames {
  Frames frames;  ///< frames without deltas, silent frames and frames below the gate
  Dropped dropped;
};

/// Computes MFCCs. Throws InputError if the settings are not valid at the recording's sample rate.
ExtractedFrames extract_frames(const Recording& recording, const FeaturesConfig& config,
                               Extractors& extractors);
/// The descriptors of one recording's frames. Throws InputError if the sample rate is too low for
/// descriptors.
FrameDescriptors describe_recording(const Recording& recording, DescriptorExtractors& extractors);

}  // namespace emomc
