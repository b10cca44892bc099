#include "emomc/speech/audio.hpp"

#include <sndfile.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <string_view>

#include "emomc/core/errors.hpp"
#include "iff_sound.hpp"

namespace emomc {
namespace {

constexpr sf_count_t kBlockSamples = 1 << 16;
// A few bytes of FLAC can encode hours of silence. Opus at its lowest bit rate encodes 64 samples in a byte.
// Up to kFewSamples are read in any case.
constexpr std::uintmax_t kMostSamplesPerByte = 64, kFewSamples = 1 << 24;
// Far above any audio sample, and a sum of squares of such values does not overflow.
constexpr double kLargestSample = 1e100;
// Floating-point recordings may exceed full scale, which is 1, a few times.
constexpr double kLargestFloat = 100;

struct Close {
  void operator()(SNDFILE* file) const { sf_close(file); }
};

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& why) {
  throw InputError(file.string() + ": " + why);
}

// libsndfile's messages end with a full stop and may have several lines.
std::string reason(SNDFILE* file) {
  std::string text = sf_strerror(file);
  text = text.substr(0, text.find('\n'));
  while (!text.empty() && (text.back() == '.' || text.back() == ' ')) text.pop_back();
  return text;
}

void require_regular_file(const std::filesystem::path& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) refuse(file, "there is no such file");
  if (std::filesystem::is_directory(status)) refuse(file, "this is a directory, not a recording");
  // Opening a pipe could block, and its length cannot be checked against the header.
  if (!std::filesystem::is_regular_file(status)) refuse(file, "this is not a regular file");
  if (!std::ifstream(file, std::ios::binary)) refuse(file, "cannot be read; check its permissions");
  if (std::filesystem::file_size(file, error) == 0 && !error) refuse(file, "the file is empty");
}

// If a WAV or AIFF file is shorter than its header states, libsndfile silently reads what is there.
void require_whole(const std::filesystem::path& file) {
  const auto sound = find_iff_sound(file);
  if (sound && sound->unclosed)  // libsndfile reads no samples of it
    refuse(file, "its header says 0 bytes of sound, and " + std::to_string(sound->present_bytes) +
                     " follow: its writer did not close it; `sox --ignore-length` or ffmpeg mend that");
  if (sound && sound->promised_bytes > sound->present_bytes)
    refuse(file, "it is cut short: its header promises " + std::to_string(sound->promised_bytes) +
                     " bytes of sound, the file has " + std::to_string(sound->present_bytes));
}

/// Refuses the text file that a clone of a repository has in place of a file that git-lfs did not fetch.
void refuse_git_lfs_pointer(const std::filesystem::path& file) {
  constexpr std::string_view kBegin = "version https://git-lfs";
  std::string begin(kBegin.size(), '\0');
  std::ifstream(file, std::ios::binary).read(begin.data(), static_cast<std::streamsize>(begin.size()));
  if (begin == kBegin)
    refuse(file, "this is a pointer of git-lfs, not the recording; `git lfs pull` fetches recordings");
}

/// Sums of squares: of the samples of all channels, and of the mean of the channels.
struct Power {
  double channels = 0, mean = 0;
};

// The mean of uncorrelated channels of equal power has 1 / channels of the power of one channel, and the mean
// of positively correlated ones has more. Less than a ten-thousandth is left only if the channels cancel,
// e.g. one is the negative of the other.
void require_same_phase(const std::filesystem::path& file, const Power& power, int channels) {
  if (channels > 1 && power.channels > 0 && power.mean < 1e-4 * power.channels / channels)
    refuse(file,
           "its channels are in opposite phase and cancel in their mean; write one of them to a file of its "
           "own");
}

// Samples beyond 100 times full scale, which is 1, are integers that were converted to float without scaling.
void require_full_scale(const std::filesystem::path& file, const SF_INFO& info,
                        const std::vector<double>& samples) {
  const int coding = info.format & SF_FORMAT_SUBMASK;
  if (coding != SF_FORMAT_FLOAT && coding != SF_FORMAT_DOUBLE) return;
  double peak = 0;
  for (const double x : samples) peak = std::max(peak, std::abs(x));
  if (peak > kLargestFloat)
    refuse(file, "its floating-point samples reach " + std::to_string(peak) +
                     ", where full scale is 1; samples of 16 bits must be divided by 32768 first");
}

// Appends to `mono` the mean over channels of each frame of `interleaved` [num_frames x num_channels] and
// adds to the sums of squares.
void append_mono(const std::filesystem::path& file, const std::vector<double>& interleaved,
                 std::size_t num_frames, std::size_t num_channels, std::vector<double>& mono, Power& power) {
  for (std::size_t frame = 0; frame < num_frames; ++frame) {
    double sum = 0;
    for (std::size_t channel = 0; channel < num_channels; ++channel) {
      const double sample = interleaved[frame * num_channels + channel];
      if (!(std::abs(sample) <= kLargestSample))
        refuse(file, "sample " + std::to_string(mono.size() + 1) + " of channel " +
                         std::to_string(channel + 1) + " is " +
                         (std::isfinite(sample) ? "beyond 1e100" : std::to_string(sample)) +
                         "; allowed: finite numbers");
      sum += sample;
      power.channels += sample * sample;
    }
    mono.push_back(sum / static_cast<double>(num_channels));
    power.mean += mono.back() * mono.back();
  }
}

// Reads all samples. Memory grows with the data that was read, never with the length that the header states.
std::vector<double> read_mono(const std::filesystem::path& file, SNDFILE* stream, int channels) {
  const auto num_channels = static_cast<std::size_t>(channels);
  const sf_count_t block_frames = std::max<sf_count_t>(1, kBlockSamples / channels);
  Power power;
  std::vector<double> block(static_cast<std::size_t>(block_frames) * num_channels), mono;
  std::error_code error;
  const auto file_bytes = std::filesystem::file_size(file, error);
  const std::uintmax_t most_frames = std::max(kFewSamples, kMostSamplesPerByte * (error ? 0 : file_bytes));
  while (true) {
    if (mono.size() > most_frames)
      refuse(file, "its " + std::to_string(file_bytes) + " bytes become more than " +
                       std::to_string(most_frames) + " samples; no recording is as silent");
    const sf_count_t num_read = sf_readf_double(stream, block.data(), block_frames);
    // The error is checked after every block: the next call clears it, and FLAC then continues with zeros.
    if (sf_error(stream) != SF_ERR_NO_ERROR)
      refuse(file,
             "it is damaged, somewhere after sample " + std::to_string(mono.size()) + ": " + reason(stream));
    if (num_read <= 0) {
      require_same_phase(file, power, channels);
      return mono;
    }
    append_mono(file, block, static_cast<std::size_t>(num_read), num_channels, mono, power);
  }
}

}  // namespace

bool has_audio() { return true; }

Recording read_audio(const std::filesystem::path& file) {
  require_regular_file(file);
  refuse_git_lfs_pointer(file);
  require_whole(file);
  SF_INFO info{};
  const std::unique_ptr<SNDFILE, Close> stream(sf_open(file.c_str(), SFM_READ, &info));
  if (!stream) refuse(file, "this is no recording that libsndfile reads: " + reason(nullptr));
  // libsndfile guesses this format from extensions such as .snd or .vox if there is no header.
  if ((info.format & SF_FORMAT_TYPEMASK) == SF_FORMAT_RAW)
    refuse(file, "it has no header that says what it is; allowed: WAV, FLAC and the like");
  if (info.channels < 1 || info.samplerate < 1)
    refuse(file, "its header says " + std::to_string(info.channels) + " channels at " +
                     std::to_string(info.samplerate) + " Hz");
  Recording recording{static_cast<double>(info.samplerate), read_mono(file, stream.get(), info.channels)};
  const std::size_t num_frames = recording.samples.size();
  // SF_COUNT_MAX means that the header leaves the length open.
  if (info.frames != SF_COUNT_MAX && num_frames < static_cast<std::size_t>(info.frames))
    refuse(file, "it is cut short: its header promises " + std::to_string(info.frames) +
                     " samples, the file has " + std::to_string(num_frames));
  if (num_frames == 0) refuse(file, "it has no samples");
  require_full_scale(file, info, recording.samples);
  const auto [low, high] = std::minmax_element(recording.samples.begin(), recording.samples.end());
  if (*low == *high)
    refuse(file, "it is silent: all " + std::to_string(num_frames) + " samples are " + std::to_string(*low));
  return recording;
}

}  // namespace emomc
