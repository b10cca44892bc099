// Recordings from files: WAV, FLAC and what else libsndfile reads.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

namespace emomc {

struct Recording {
  double sample_rate = 0;       ///< Hz
  std::vector<double> samples;  ///< mono: the mean of the channels; full scale is 1
};

/// Whether this build can read audio files (libsndfile).
bool has_audio();

/// Throws InputError, naming the file and why, where there is no such file, it is not audio, it is cut short
/// or damaged, it has no samples, all samples are equal, or a sample is not finite; and where this build has
/// no libsndfile. Damage is seen as far as the format lets it be: FLAC has checksums, WAV and AIFF a length,
/// AU and W64 lose their end unnoticed.
Recording read_audio(const std::filesystem::path& file);

}  // namespace emomc
