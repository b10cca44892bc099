// Reads recordings from audio files: WAV, FLAC and the other formats of libsndfile.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace emomc {

struct Recording {
  double sample_rate = 0;       ///< Hz
  std::vector<double> samples;  ///< mono: the mean of the channels; full scale is 1
};

/// Whether this build can read audio files, that is, whether it has libsndfile.
bool has_audio();

/// Reads all samples at the file's own sample rate. Throws InputError, which names the file and the reason,
/// if the file does not exist or is not regular, is not audio or has no header, is cut short or damaged, has
/// no samples, has only equal samples, has a sample that is not finite, has channels that cancel in their
/// mean, has floating-point samples beyond 100 times full scale, or holds implausibly many samples for its
/// size; and always in a build without libsndfile. Damage is detected as far as the format allows: FLAC has
/// checksums, and WAV and AIFF state their length, but an AU or W64 file that has lost its end goes
/// unnoticed.
Recording read_audio(const std::filesystem::path& file);

/// Makes a recording from samples in memory. `interleaved` is num_frames x num_channels with full scale 1;
/// `name` is used in messages. Throws InputError in the cases of read_audio that concern floating-point
/// samples, and if the sample rate is not above 0. above 0.
Recording recording_of(const std::string& name, std::span<const double> interleaved, std::size_t num_channels,
                       double sample_rate);

}  // namespace emomc
