// Computes frames and functionals of recordings, in parallel.
#pragma once

#include "emomc/emotion/corpus_features.hpp"

namespace emomc {

/// Adds to `result` the MFCCs of the recordings, without deltas and normalisation, the functionals if they
/// are wanted, and notes.
void extract_recordings(const GivenRecordings& recordings, const FeaturesConfig& features, int threads,
                        const OnRecording& on_recording, Functionals functionals, CorpusFeatures& result);

}  // namespace emomc
