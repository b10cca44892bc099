// Compares MFCCs with python_speech_features, librosa and NumPy (data/make_mfcc.py): every frame is within
// 1e-4 of the standard deviation of its coefficient over the recording.
#include "emomc/speech/mfcc.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>

#include "../shared_data.hpp"
#include "emomc/speech/audio.hpp"
#include "settings_of_json.hpp"
#include "synthetic_recording.hpp"

namespace emomc {
namespace {

using nlohmann::json;
using testing::synthetic_recording;
using testing::with;

constexpr double kTolerance = 1e-4;

json reference_cases() {
  std::ifstream file(EMOMC_SOURCE_DIR "/tests/libspeech/data/mfcc.json");
  return json::parse(file);
}

void expect_agreement(const json& entry, const Recording& recording) {
  SCOPED_TRACE(entry["signal"].get<std::string>() + " " + entry["preset"].get<std::string>() + " " +
               entry["settings"].dump() + " " + entry["sample_rate"].dump());
  ASSERT_EQ(recording.sample_rate, entry["sample_rate"].get<double>());
  const MfccExtractor extractor(with(mfcc_preset(entry["preset"]), entry["settings"]), recording.sample_rate);
  const Frames frames = extractor.extract(recording.samples);
  ASSERT_EQ(frames.num_frames(), entry["num_frames"].get<std::size_t>());
  const std::vector<double> sd = entry["sd"];
  ASSERT_EQ(static_cast<std::size_t>(frames.dim), sd.size());
  for (const auto& [row, expected] : entry["frames"].items())
    for (std::size_t j = 0; j < sd.size(); ++j)
      ASSERT_NEAR(frames.values[std::stoul(row) * sd.size() + j], expected[j].get<double>(),
                  kTolerance * sd[j])
          << "row " << row << " coefficient " << j;
}

TEST(Mfcc, AgreesWithOtherProgramsOnASyntheticSignal) {
  std::size_t compared = 0;
  for (const auto& entry : reference_cases()) {
    if (entry["signal"] != "synthetic") continue;
    expect_agreement(entry, synthetic_recording(entry["sample_rate"]));
    ++compared;
  }
  EXPECT_EQ(compared, 30u);
}

TEST(Mfcc, AgreesWithOtherProgramsOnWhatIsNearlySilent) {
  Recording quiet = synthetic_recording(16000);
  for (double& x : quiet.samples) x *= 1e-7;
  std::size_t compared = 0;
  for (const auto& entry : reference_cases()) {
    if (entry["signal"] != "quiet") continue;
    expect_agreement(entry, quiet);
    ++compared;
  }
  EXPECT_EQ(compared, 3u);
}

TEST(Mfcc, AgreesWithOtherProgramsOnSpeech) {
  if (!has_audio()) GTEST_SKIP() << "no libsndfile";
  if (!testing::shared_data("emodb")) GTEST_SKIP() << "no shared data";
  std::size_t compared = 0;
  for (const auto& entry : reference_cases()) {
    if (!entry["signal"].get<std::string>().starts_with("emodb/")) continue;
    const auto file = testing::shared_data(entry["signal"]);
    ASSERT_TRUE(file) << entry["signal"];
    expect_agreement(entry, read_audio(*file));
    ++compared;
  }
  EXPECT_EQ(compared, 16u);
}

// Returns the largest difference between the rows and those of `file`, in units of the sd of each column of
// the file, or NaN if the sizes differ.
double largest_difference(const Frames& frames, const std::filesystem::path& file) {
  std::vector<double> expected(frames.values.size());
  if (std::filesystem::file_size(file) != expected.size() * sizeof(double)) return std::nan("");
  std::ifstream(file, std::ios::binary)
      .read(reinterpret_cast<char*>(expected.data()),
            static_cast<std::streamsize>(expected.size() * sizeof(double)));
  const auto dim = static_cast<std::size_t>(frames.dim);
  double largest = 0;
  for (std::size_t j = 0; j < dim; ++j) {
    double sum = 0, squares = 0, difference = 0;
    for (std::size_t i = j; i < expected.size(); i += dim) sum += expected[i];
    const double num_rows = static_cast<double>(frames.num_frames()), mean = sum / num_rows;
    for (std::size_t i = j; i < expected.size(); i += dim) {
      squares += (expected[i] - mean) * (expected[i] - mean);
      difference = std::max(difference, std::abs(frames.values[i] - expected[i]));
    }
    largest = std::max(largest, difference / std::sqrt(squares / num_rows));
  }
  return largest;
}

TEST(Mfcc, AgreesOnEveryFrameOfACorpus) {
  const char* reference = std::getenv("EMOMC_MFCC_REFERENCE");
  const auto corpus = testing::shared_data("emodb");
  if (!reference || !corpus || !has_audio()) GTEST_SKIP() << "no EMOMC_MFCC_REFERENCE (see make_mfcc.py)";
  for (const auto& preset : mfcc_presets()) {
    double largest = 0;
    std::size_t num_frames = 0;
    for (const auto& entry : std::filesystem::directory_iterator(*corpus)) {
      const Recording recording = read_audio(entry.path());
      const Frames frames =
          MfccExtractor(mfcc_preset(preset), recording.sample_rate).extract(recording.samples);
      const auto file = std::filesystem::path(reference) / preset / entry.path().stem().concat(".f64");
      const double difference = largest_difference(frames, file);
      EXPECT_LT(difference, kTolerance) << file;
      largest = std::max(largest, difference);
      num_frames += frames.num_frames();
    }
    std::cout << preset << ": " << num_frames << " frames, largest difference " << largest << " sd\n";
  }
}

TEST(Mfcc, CountsFramesOfShortRecordings) {
  MfccSettings settings;
  settings.window_samples = 400;
  settings.hop_samples = 160;
  const auto count = [&](Framing framing, std::size_t num_samples) {
    settings.framing = framing;
    const auto recording = synthetic_recording(16000);
    return MfccExtractor(settings, 16000)
        .extract(std::span(recording.samples).first(num_samples))
        .num_frames();
  };
  for (const auto framing : {Framing::drop_last, Framing::pad_last, Framing::centred})
    EXPECT_EQ(count(framing, 0), 0u);
  EXPECT_EQ(count(Framing::drop_last, 399), 0u);
  EXPECT_EQ(count(Framing::drop_last, 400), 1u);
  EXPECT_EQ(count(Framing::drop_last, 559), 1u);
  EXPECT_EQ(count(Framing::drop_last, 560), 2u);
  EXPECT_EQ(count(Framing::pad_last, 1), 1u);
  EXPECT_EQ(count(Framing::pad_last, 400), 1u);
  EXPECT_EQ(count(Framing::pad_last, 401), 2u);
  EXPECT_EQ(count(Framing::pad_last, 560), 2u);
  EXPECT_EQ(count(Framing::centred, 1), 1u);
  EXPECT_EQ(count(Framing::centred, 159), 1u);
  EXPECT_EQ(count(Framing::centred, 160), 2u);
}

TEST(Mfcc, GivesTheEnergyOfEachWindowInDecibels) {
  MfccSettings settings;
  settings.window_samples = settings.hop_samples = 6;
  settings.num_filters = settings.num_coefficients = 1;
  settings.framing = Framing::pad_last;
  const MfccExtractor extractor(settings, 8000);
  std::vector<double> energy_db{7};
  // The sum of six 0.1 is not exactly 0.6, so that the variance is not exactly 0.
  extractor.extract(std::vector<double>{1, -1, 1, -1, 1, -1,           //
                                        0.1, 0.1, 0.1, 0.1, 0.1, 0.1,  //
                                        0.3, 0.1, 0.3, 0.1, 0.3, 0.1,  //
                                        1},
                    &energy_db);
  ASSERT_EQ(energy_db.size(), 4u);
  EXPECT_NEAR(energy_db[0], 0, 1e-12);
  EXPECT_EQ(energy_db[1], -std::numeric_limits<double>::infinity());
  EXPECT_NEAR(energy_db[2], -20, 1e-9);
  EXPECT_NEAR(energy_db[3], 10 * std::log10(5. / 36), 1e-9);  // 1 and five zeros
}

TEST(Mfcc, OneExtractorServesManyThreads) {
  const Recording recording = synthetic_recording(16000);
  const MfccExtractor extractor(mfcc_preset("librosa"), 16000);
  const Frames expected = extractor.extract(recording.samples);
  std::vector<Frames> found(4);
  {
    std::vector<std::jthread> threads;
    for (auto& frames : found) threads.emplace_back([&] { frames = extractor.extract(recording.samples); });
  }
  for (const auto& frames : found) EXPECT_EQ(frames.values, expected.values);
}

TEST(Mfcc, IsTimed) {
  Recording minute = synthetic_recording(16000);
  for (int i = 1; i < 60; ++i)
    minute.samples.insert(minute.samples.end(), minute.samples.begin(), minute.samples.begin() + 16000);
  for (const auto& preset : mfcc_presets()) {
    const MfccExtractor extractor(mfcc_preset(preset), 16000);
    const auto begin = std::chrono::steady_clock::now();
    const Frames frames = extractor.extract(minute.samples);
    const std::chrono::duration<double> wall_seconds = std::chrono::steady_clock::now() - begin;
    EXPECT_GT(frames.num_frames(), 0u);
    RecordProperty(preset + "_times_real_time", static_cast<int>(60 / wall_seconds.count()));
    std::cout << preset << ": " << 60 / wall_seconds.count() << " times real time\n";
  }
}

}  // namespace
}  // namespace emomc
