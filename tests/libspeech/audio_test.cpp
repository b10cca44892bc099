#include "emomc/speech/audio.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <fstream>

#include "../shared_data.hpp"
#include "emomc/core/errors.hpp"
#include "wav_bytes.hpp"

namespace emomc {
namespace {

namespace fs = std::filesystem;
using testing::little_endian;
using testing::Wav;

// The bytes were written by libFLAC: 5 samples in 2 channels, 16 bits, 22050 Hz.
constexpr const char* kFlac =
    "664c6143000000221000100000001f00001f056222f000000005c299ad6bdfc3976fe9ad61873c7d4b3884000028200000007265"
    "666572656e6365206c6962464c414320312e342e3320323032333036323300000000fff8661800047102000003e880007fff0005"
    "140001fc180287a27cd80cfe53";

// The bytes have 3 blocks of 4096 samples each, which are 1, 2 and 3.
constexpr const char* kFlacOf3Blocks =
    "664c6143000000221000100000000b00000b03e800f000003000b91b4d733139071b0f3f9e1475d8bc4384000028200000007265"
    "666572656e6365206c6962464c414320312e342e3320323032333036323300000000fff8c508006f000001e550fff8c508016801"
    "80018936fff8c5080261000003bdaf";

std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

class Audio : public ::testing::Test {
 protected:
  fs::path folder = fs::temp_directory_path() / ("emomc-audio-" + std::to_string(::getpid()));
  void SetUp() override {
    if (!has_audio()) GTEST_SKIP() << "no libsndfile";
    fs::create_directories(folder);
  }
  void TearDown() override { fs::remove_all(folder); }

  fs::path write(const std::string& name, const std::string& bytes) {
    std::ofstream(folder / name, std::ios::binary) << bytes;
    return folder / name;
  }
  static void expect_refused(const fs::path& file, const std::vector<std::string>& words) {
    try {
      read_audio(file);
      ADD_FAILURE() << "accepted: " << file;
    } catch (const InputError& error) {
      const std::string message = error.what();
      EXPECT_EQ(message.find('\n'), std::string::npos);
      EXPECT_EQ(message.find(file.string() + ": "), 0u) << message;
      for (const auto& word : words)
        EXPECT_NE(message.find(word), std::string::npos) << "no '" << word << "' in: " << message;
    }
  }
};

TEST_F(Audio, ChannelsThatCancelAreRefused) {
  Wav anti{.num_channels = 2}, faint{.num_channels = 2}, apart{.num_channels = 2};
  for (int i = 1; i < 500; ++i) {
    const double x = 1000 * std::sin(0.1 * i), y = 1000 * std::sin(0.37 * i);
    for (Wav* wav : {&anti, &faint}) wav->samples.insert(wav->samples.end(), {std::round(x), -std::round(x)});
    faint.samples.back() += i % 2;
    apart.samples.insert(apart.samples.end(), {std::round(x), std::round(y)});
  }
  expect_refused(write("anti.wav", anti.bytes()), {"anti.wav", "opposite phase"});
  expect_refused(write("faint.wav", faint.bytes()), {"faint.wav", "opposite phase"});
  EXPECT_EQ(read_audio(write("apart.wav", apart.bytes())).samples.size(), 499u);
}

TEST_F(Audio, FloatingPointSamplesOf16BitsAreRefused) {
  Wav wav{.bits = 32, .is_float = true, .samples = {0, 14555, -20000}};
  expect_refused(write("scale.wav", wav.bytes()), {"scale.wav", "20000", "full scale is 1", "32768"});
  wav.samples = {0, 4, -9};  // loud, but possible
  EXPECT_EQ(read_audio(write("loud.wav", wav.bytes())).samples.size(), 3u);
}

TEST_F(Audio, PointersOfGitLfsAreNamed) {
  expect_refused(
      write("lfs.wav", "version https://git-lfs.github.com/spec/v1\noid sha256:c6f9\nsize 72862\n"),
      {"lfs.wav", "git-lfs", "git lfs pull"});
}

// Programs that write into a pipe leave these lengths: SoX, others, and those that never fill in the length.
TEST_F(Audio, LengthsLeftOpenAreReadToTheEnd) {
  const Wav wav{.samples = {100, -200, 300, -400, 500}};
  for (const std::uint64_t length : {0x7ffff000u, 0x7fffffffu, 0x7fffffdbu, 0xffffffffu, 0xffffffdbu}) {
    const Recording recording = read_audio(write("open.wav", wav.bytes(length)));
    ASSERT_EQ(recording.samples.size(), 5u) << length;
    EXPECT_EQ(recording.samples[4], 500.0 / 32768) << length;
  }
  std::string never_closed = wav.bytes(0);
  never_closed.replace(4, 4, 4, '\0');
  expect_refused(write("zero.wav", never_closed), {"zero.wav", "0 bytes of sound", "10 follow"});
  expect_refused(write("none.wav", Wav{}.bytes()), {"no samples"});
  expect_refused(write("cut.wav", wav.bytes(0x7fffe000)), {"cut short"});
}

TEST_F(Audio, ReadsPcmOfEveryWidthWithFullScale1) {
  for (const int bits : {8, 16, 24, 32}) {
    const double scale = std::ldexp(1, bits - 1);
    const Recording recording =
        read_audio(write("pcm.wav", Wav{.bits = bits, .samples = {0, 1, -2, scale - 1, -scale}}.bytes()));
    EXPECT_EQ(recording.sample_rate, 16000);
    EXPECT_EQ(recording.samples, (std::vector<double>{0, 1 / scale, -2 / scale, (scale - 1) / scale, -1}))
        << bits;
  }
}

TEST_F(Audio, ReadsFloatsAsTheyAreAtAnyRate) {
  for (const int bits : {32, 64}) {
    const Wav wav{.bits = bits, .sample_rate = 44100, .is_float = true, .samples = {0.5, -1.5, 2}};
    const Recording recording = read_audio(write("float.wav", wav.bytes()));
    EXPECT_EQ(recording.sample_rate, 44100);
    EXPECT_EQ(recording.samples, wav.samples);
  }
  const Recording slow = read_audio(write("slow.wav", Wav{.sample_rate = 1, .samples = {1, 2}}.bytes()));
  EXPECT_EQ(slow.sample_rate, 1);
}

TEST_F(Audio, TakesTheMeanOfTheChannels) {
  const Wav stereo{.num_channels = 2, .samples = {32, 0, 0, -64}};
  EXPECT_EQ(read_audio(write("2.wav", stereo.bytes())).samples,
            (std::vector<double>{16 / 32768., -32 / 32768.}));
  const Wav three{.bits = 32, .num_channels = 3, .is_float = true, .samples = {1, 2, 3, 4, 5, 9}};
  EXPECT_EQ(read_audio(write("3.wav", three.bytes())).samples, (std::vector<double>{2, 6}));
}

TEST_F(Audio, ReadsFlac) {
  const Recording recording = read_audio(write("a.flac", from_hex(kFlac)));
  EXPECT_EQ(recording.sample_rate, 22050);
  EXPECT_EQ(recording.samples,
            (std::vector<double>{0.5 / 32768, 0, -16384 / 32768., 16384 / 32768., 5 / 32768.}));
  const Recording blocks = read_audio(write("b.flac", from_hex(kFlacOf3Blocks)));
  ASSERT_EQ(blocks.samples.size(), 3 * 4096u);
  for (std::size_t i = 0; i < 3 * 4096; ++i)
    ASSERT_EQ(blocks.samples[i] * 32768, 1.0 + static_cast<int>(i / 4096));
}

TEST_F(Audio, ReadsRecordingsOfManyBlocks) {
  Wav wav{.num_channels = 2};
  for (int n = 0; n < 200000; ++n) wav.samples.insert(wav.samples.end(), {n % 30011 + 0., n % 30011 + 2.});
  const Recording recording = read_audio(write("long.wav", wav.bytes()));
  ASSERT_EQ(recording.samples.size(), 200000u);
  for (int n = 0; n < 200000; ++n) ASSERT_EQ(recording.samples[n], (n % 30011 + 1) / 32768.) << n;
}

TEST_F(Audio, ReadsWhatStandsBehindOtherChunks) {
  const Wav wav{.samples = {1, 2, 3}, .before_data = "LIST" + little_endian(5, 4) + "hello" + '\0'};
  EXPECT_EQ(read_audio(write("list.wav", wav.bytes() + "LIST" + little_endian(4, 4) + "tail")).samples.size(),
            3u);
  // This is the length that a program leaves if it writes into a pipe.
  EXPECT_EQ(read_audio(write("pipe.wav", Wav{.samples = {1, 2, 3}}.bytes(0xffffffff))).samples.size(), 3u);
}

TEST_F(Audio, ReadsTheLongLengthsOfRf64) {
  const auto rf64 = [](std::uint64_t num_bytes) {
    Wav wav{.samples = {1, 2, 3}};
    std::string bytes = wav.bytes(0xffffffff);
    return "RF64" + little_endian(0xffffffff, 4) + "WAVEds64" + little_endian(28, 4) +
           little_endian(bytes.size() + 28, 8) + little_endian(num_bytes, 8) + little_endian(3, 8) +
           little_endian(0, 4) + bytes.substr(12);
  };
  EXPECT_EQ(read_audio(write("64.wav", rf64(6))).samples.size(), 3u);
  expect_refused(write("cut64.wav", rf64(6000000000)), {"cut short", "6000000000", "has 6"});
}

TEST_F(Audio, RefusesWhatIsNoRecording) {
  expect_refused(folder / "none.wav", {"no such file"});
  expect_refused(folder, {"directory"});
  expect_refused(write("empty.wav", ""), {"empty"});
  expect_refused(write("text.wav", "this is a text file, named as a recording\n"), {"no recording"});
  expect_refused(write("text.snd", "this is a text file, named as a recording\n"), {"no header"});
  expect_refused(write("riff.wav", "RIFF" + little_endian(4, 4) + "WAVE"), {"no recording"});
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  expect_refused(folder / "pipe", {"regular file"});
}

TEST_F(Audio, RefusesRecordingsThatAreCutShort) {
  const Wav wav{.samples = std::vector<double>{1, 2, 3, 4, 5}};
  expect_refused(write("a.wav", wav.bytes().substr(0, 50)), {"cut short", "10 bytes", "6"});
  expect_refused(write("b.wav", wav.bytes().substr(0, 44)), {"cut short", "10 bytes", "0"});
  // No memory may be allocated for two gigabytes that do not exist.
  expect_refused(write("c.wav", wav.bytes(2000000000)), {"cut short", "2000000000"});
  // The samples follow a chunk of odd length and its padding byte.
  const Wav tagged{.samples = {1, 2}, .before_data = "LIST" + little_endian(5, 4) + "hello" + '\0'};
  expect_refused(write("d.wav", tagged.bytes(6)), {"cut short", "6 bytes", "has 4"});
}

TEST_F(Audio, SurvivesEveryDamagedByte) {
  const Wav wav{.samples = {1, 2, 3, 4, 5}};
  for (const std::string& whole : {wav.bytes(), from_hex(kFlac)})
    for (std::size_t at = 0; at < whole.size(); ++at)
      for (const char value : {'\0', '\x01', '\x7f', '\x80', '\xff'}) {
        std::string damaged = whole;
        damaged[at] = value;
        try {
          EXPECT_LE(read_audio(write("a.wav", damaged)).samples.size(), whole.size());
        } catch (const InputError&) {
          continue;  // every other exception fails the test
        }
      }
}

TEST_F(Audio, RefusesFlacWhoseSamplesAreDamaged) {
  const std::string whole = from_hex(kFlacOf3Blocks);
  const std::size_t first = whole.find("\xff\xf8");  // the first byte of the samples
  ASSERT_EQ(first, 86u);
  for (std::size_t at = first; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    expect_refused(write("a.flac", damaged), {});
    expect_refused(write("a.flac", whole.substr(0, at)), {});
  }
}

TEST_F(Audio, RefusesRecordingsWithoutSamples) {
  expect_refused(write("a.wav", Wav{}.bytes()), {"no samples"});
  expect_refused(write("b.wav", Wav{}.bytes() + "LIST" + little_endian(4, 4) + "tail"), {"no samples"});
}

TEST_F(Audio, RefusesSilence) {
  expect_refused(write("a.wav", Wav{.samples = std::vector<double>(100, 0)}.bytes()),
                 {"silent", "100 samples"});
  expect_refused(write("b.wav", Wav{.samples = {16384, 16384, 16384}}.bytes()), {"silent", "0.5"});
  expect_refused(write("c.wav", Wav{.num_channels = 2, .samples = {1, -1, 5, -5}}.bytes()),
                 {"opposite phase"});
}

// The 61 KB expand to 157 MB, and could expand to gigabytes.
TEST_F(Audio, RefusesHoursOfSilenceInAFewBytes) {
  const fs::path file = EMOMC_SOURCE_DIR "/tests/fuzz/regressions/audio/hours_of_silence.flac";
  expect_refused(file, {"hours_of_silence.flac", "60828 bytes", "more than 16777216 samples"});
}

TEST_F(Audio, RefusesSamplesThatAreNoNumbers) {
  const auto wav = [](double x) {
    return Wav{.bits = 64, .num_channels = 2, .is_float = true, .samples = {0, 1, 0, x, 0, 0}}.bytes();
  };
  expect_refused(write("a.wav", wav(std::nan(""))), {"sample 2", "channel 2", "nan"});
  expect_refused(write("b.wav", wav(HUGE_VAL)), {"sample 2", "inf"});
  expect_refused(write("c.wav", wav(-HUGE_VAL)), {"sample 2", "-inf"});
  expect_refused(write("d.wav", wav(1e300)), {"sample 2", "1e100"});
}

TEST_F(Audio, ReadsSpeech) {
  const auto corpus = testing::shared_data("emodb");
  if (!corpus) GTEST_SKIP() << "no shared data";
  std::size_t num_files = 0;
  for (const auto& entry : fs::directory_iterator(*corpus)) {
    const Recording recording = read_audio(entry.path());
    EXPECT_EQ(recording.sample_rate, 16000);
    EXPECT_LE(recording.samples.size(), 32000u);
    EXPECT_EQ(recording.samples.size(), (fs::file_size(entry.path()) - 44) / 2) << entry.path();
    ++num_files;
  }
  EXPECT_EQ(num_files, 278u);
}

TEST(NoAudio, IsSaidWhereTheBuildHasNone) {
  if (has_audio()) GTEST_SKIP() << "this build has libsndfile";
  EXPECT_THROW(read_audio("a.wav"), InputError);
}

}  // namespace
}  // namespace emomc
