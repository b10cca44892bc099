#include "emomc/speech/audio.hpp"

#include <sndfile.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <string_view>

#include "emomc/core/errors.hpp"
#include "iff_sound.hpp"
#include "mono_samples.hpp"

namespace emomc {
namespace {

constexpr sf_count_t kBlockSamples = 1 << 16;
// A few bytes of FLAC can encode hours of silence. Opus at its lowest bit rate encodes 64 samples in a byte.
// Up to kFewSamples are read in any case.
constexpr std::uintmax_t kMostSamplesPerByte = 64, kFewSamples = 1 << 24;

struct Close {
  void operator()(SNDFILE* file) const { sf_close(file); }
};

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& why) {
  throw InputError(file.string() + ": " + why);
}

// The first line of libsndfile's message, without the full stop at its end.
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

// If a WAV or AIFF file is shorter than its header states, libsndfile reads the samples that are present
// without an error.
void require_whole(const std::filesystem::path& file) {
  const auto sound = find_iff_sound(file);
  if (sound && sound->unclosed)  // libsndfile reads no samples of it
    refuse(file, "its header says 0 bytes of sound, and " + std::to_string(sound->present_bytes) +
                     " follow: its writer did not close it; `sox --ignore-length` or ffmpeg repair that");
  if (sound && sound->promised_bytes > sound->present_bytes)
    refuse(file, "it is cut short: its header says " + std::to_string(sound->promised_bytes) +
                     " bytes of sound, the file has " + std::to_string(sound->present_bytes));
}

/// Refuses a text file that stands for a recording that git-lfs did not fetch.
void refuse_git_lfs_pointer(const std::filesystem::path& file) {
  constexpr std::string_view kBegin = "version https://git-lfs";
  std::string begin(kBegin.size(), '\0');
  std::ifstream(file, std::ios::binary).read(begin.data(), static_cast<std::streamsize>(begin.size()));
  if (begin == kBegin)
    refuse(file, "this is a pointer of git-lfs, not the recording; `git lfs pull` fetches recordings");
}

// Reads all samples. Memory grows with the data that was read, never with the length that the header states.
std::vector<double> read_mono(const std::filesystem::path& file, SNDFILE* stream, int channels) {
  const auto num_channels = static_cast<std::size_t>(channels);
  const sf_count_t block_frames = std::max<sf_count_t>(1, kBlockSamples / channels);
  std::vector<double> block(static_cast<std::size_t>(block_frames) * num_channels);
  MonoSamples mono(file.string(), num_channels);
  std::error_code error;
  const auto file_bytes = std::filesystem::file_size(file, error);
  const std::uintmax_t most_frames = std::max(kFewSamples, kMostSamplesPerByte * (error ? 0 : file_bytes));
  while (true) {
    if (mono.count() > most_frames)
      refuse(file, "its " + std::to_string(file_bytes) + " bytes become more than " +
                       std::to_string(most_frames) + " samples; no recording is as silent");
    const sf_count_t num_read = sf_readf_double(stream, block.data(), block_frames);
    // The error is checked after every block: the next call clears it, and FLAC then continues with zeros.
    if (sf_error(stream) != SF_ERR_NO_ERROR)
      refuse(file,
             "it is damaged, somewhere after sample " + std::to_string(mono.count()) + ": " + reason(stream));
    if (num_read <= 0) return mono.finish();
    mono.append({block.data(), static_cast<std::size_t>(num_read) * num_channels});
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
    refuse(file, "it is cut short: its header says " + std::to_string(info.frames) +
                     " samples, the file has " + std::to_string(num_frames));
  const int coding = info.format & SF_FORMAT_SUBMASK;
  require_sound(file.string(), recording.samples, coding == SF_FORMAT_FLOAT || coding == SF_FORMAT_DOUBLE);
  return recording;
}

}  // namespace emomc
