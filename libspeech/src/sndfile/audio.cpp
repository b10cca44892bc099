#include "emomc/speech/audio.hpp"

#include <sndfile.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>

#include "emomc/core/errors.hpp"
#include "iff_sound.hpp"

namespace emomc {
namespace {

constexpr sf_count_t kBlockSamples = 1 << 16;
// A few bytes of FLAC can stand for hours of silence. Opus at its lowest rate has 64 samples a byte.
constexpr std::uintmax_t kMostSamplesPerByte = 64, kFewSamples = 1 << 24;
// Far above any sound, and its square can still be summed.
constexpr double kLargestSample = 1e100;

struct Close {
  void operator()(SNDFILE* file) const { sf_close(file); }
};

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& why) {
  throw InputError(file.string() + ": " + why);
}

// libsndfile's messages end in a full stop and may have several lines.
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
  // A pipe would be waited for, and is not as long as its header can be checked against.
  if (!std::filesystem::is_regular_file(status)) refuse(file, "this is not a regular file");
  if (!std::ifstream(file, std::ios::binary)) refuse(file, "cannot be read; check its permissions");
  if (std::filesystem::file_size(file, error) == 0 && !error) refuse(file, "the file is empty");
}

// Where libsndfile finds less than a WAV's or AIFF's header promises it reads what there is, silently.
void require_whole(const std::filesystem::path& file) {
  const auto sound = find_iff_sound(file);
  if (sound && sound->promised_bytes > sound->present_bytes)
    refuse(file, "it is cut short: its header promises " + std::to_string(sound->promised_bytes) +
                     " bytes of sound, the file has " + std::to_string(sound->present_bytes));
}

// Appends the means of the channels of `interleaved`, whose first frame is the recording's frame `at`.
void append_mono(const std::filesystem::path& file, const std::vector<double>& interleaved,
                 std::size_t num_frames, std::size_t num_channels, std::vector<double>& mono) {
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
    }
    mono.push_back(sum / static_cast<double>(num_channels));
  }
}

// Memory grows with what was read and never with what the header says.
std::vector<double> read_mono(const std::filesystem::path& file, SNDFILE* stream, int channels) {
  const auto num_channels = static_cast<std::size_t>(channels);
  const sf_count_t block_frames = std::max<sf_count_t>(1, kBlockSamples / channels);
  std::vector<double> block(static_cast<std::size_t>(block_frames) * num_channels), mono;
  std::error_code error;
  const auto file_bytes = std::filesystem::file_size(file, error);
  const std::uintmax_t most_frames = std::max(kFewSamples, kMostSamplesPerByte * (error ? 0 : file_bytes));
  while (true) {
    if (mono.size() > most_frames)
      refuse(file, "its " + std::to_string(file_bytes) + " bytes become more than " +
                       std::to_string(most_frames) + " samples; no recording is as silent");
    const sf_count_t num_read = sf_readf_double(stream, block.data(), block_frames);
    // Asked after every block: the next call forgets the error, and FLAC goes on with zeros.
    if (sf_error(stream) != SF_ERR_NO_ERROR)
      refuse(file,
             "it is damaged, somewhere after sample " + std::to_string(mono.size()) + ": " + reason(stream));
    if (num_read <= 0) return mono;
    append_mono(file, block, static_cast<std::size_t>(num_read), num_channels, mono);
  }
}

}  // namespace

bool has_audio() { return true; }

Recording read_audio(const std::filesystem::path& file) {
  require_regular_file(file);
  require_whole(file);
  SF_INFO info{};
  const std::unique_ptr<SNDFILE, Close> stream(sf_open(file.c_str(), SFM_READ, &info));
  if (!stream) refuse(file, "this is no recording that libsndfile reads: " + reason(nullptr));
  // What libsndfile guesses from a name like .snd or .vox where there is no header.
  if ((info.format & SF_FORMAT_TYPEMASK) == SF_FORMAT_RAW)
    refuse(file, "it has no header that says what it is; allowed: WAV, FLAC and the like");
  if (info.channels < 1 || info.samplerate < 1)
    refuse(file, "its header says " + std::to_string(info.channels) + " channels at " +
                     std::to_string(info.samplerate) + " Hz");
  Recording recording{static_cast<double>(info.samplerate), read_mono(file, stream.get(), info.channels)};
  const std::size_t num_frames = recording.samples.size();
  // SF_COUNT_MAX stands for a length that the header leaves open.
  if (info.frames != SF_COUNT_MAX && num_frames < static_cast<std::size_t>(info.frames))
    refuse(file, "it is cut short: its header promises " + std::to_string(info.frames) +
                     " samples, the file has " + std::to_string(num_frames));
  if (num_frames == 0) refuse(file, "it has no samples");
  const auto [low, high] = std::minmax_element(recording.samples.begin(), recording.samples.end());
  if (*low == *high)
    refuse(file, "it is silent: all " + std::to_string(num_frames) + " samples are " + std::to_string(*low));
  return recording;
}

}  // namespace emomc
