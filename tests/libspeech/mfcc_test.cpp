// MFCCs against python_speech_features, librosa and NumPy (data/make_mfcc.py): every frame within 1e-4 of
// that coefficient's standard deviation over the recording.
#include "emomc/speech/mfcc.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numbers>
#include <thread>

#include "../shared_data.hpp"
#include "emomc/speech/audio.hpp"
#include "synthetic_recording.hpp"

namespace emomc {
namespace {

using nlohmann::json;
using testing::synthetic_recording;

constexpr double kTolerance = 1e-4;

template <class E>
E choice(const json& name, const std::map<std::string, E>& choices) {
  return choices.at(name.get<std::string>());
}

MfccSettings with(MfccSettings settings, const json& changes) {
  for (const auto& [key, value] : changes.items()) {
    if (key == "window_ms")
      settings.window_ms = value;
    else if (key == "hop_ms")
      settings.hop_ms = value;
    else if (key == "window_samples")
      settings.window_samples = value;
    else if (key == "hop_samples")
      settings.hop_samples = value;
    else if (key == "preemphasis")
      settings.preemphasis = value;
    else if (key == "periodic_window")
      settings.periodic_window = value;
    else if (key == "fft_size")
      settings.fft_size = value;
    else if (key == "num_filters")
      settings.num_filters = value;
    else if (key == "low_hz")
      settings.low_hz = value;
    else if (key == "high_hz")
      settings.high_hz = value;
    else if (key == "top_db")
      settings.top_db = value;
    else if (key == "num_coefficients")
      settings.num_coefficients = value;
    else if (key == "lifter")
      settings.lifter = value;
    else if (key == "window")
      settings.window = choice<Window>(
          value,
          {{"rectangular", Window::rectangular}, {"hamming", Window::hamming}, {"hann", Window::hann}});
    else if (key == "mel")
      settings.mel = choice<MelScale>(value, {{"htk", MelScale::htk}, {"slaney", MelScale::slaney}});
    else if (key == "height")
      settings.height =
          choice<FilterHeight>(value, {{"one", FilterHeight::one}, {"area", FilterHeight::area}});
    else if (key == "power")
      settings.power =
          choice<PowerKind>(value, {{"power", PowerKind::power}, {"magnitude", PowerKind::magnitude}});
    else if (key == "first")
      settings.first = choice<FirstCoefficient>(
          value, {{"cepstrum", FirstCoefficient::cepstrum}, {"log_energy", FirstCoefficient::log_energy}});
    else if (key == "framing")
      settings.framing =
          choice<Framing>(value, {{"pad_last", Framing::pad_last}, {"centred", Framing::centred}});
    else
      throw std::invalid_argument(key);
  }
  return settings;
}

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

TEST(Mfcc, AgreesWithOtherProgramsOnSpeech) {
  if (!has_audio()) GTEST_SKIP() << "no libsndfile";
  if (!testing::shared_data("emodb")) GTEST_SKIP() << "no shared data";
  std::size_t compared = 0;
  for (const auto& entry : reference_cases()) {
    if (entry["signal"] == "synthetic") continue;
    const auto file = testing::shared_data(entry["signal"]);
    ASSERT_TRUE(file) << entry["signal"];
    expect_agreement(entry, read_audio(*file));
    ++compared;
  }
  EXPECT_EQ(compared, 16u);
}

// The largest difference between rows and those of `file`, in the file's sd of each column; NaN where the
// sizes differ.
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
  settings.window_samples = settings.hop_samples = 4;
  settings.num_filters = settings.num_coefficients = 1;
  settings.framing = Framing::pad_last;
  const MfccExtractor extractor(settings, 8000);
  std::vector<double> energy_db{7};
  const double tenth = 0.1;  // a sum of tenths is not as many times a tenth
  extractor.extract(std::vector<double>{1, -1, 1, -1, tenth, tenth, tenth, tenth, 0.3, 0.1, 0.3, 0.1, 1},
                    &energy_db);
  ASSERT_EQ(energy_db.size(), 4u);
  EXPECT_NEAR(energy_db[0], 0, 1e-12);
  EXPECT_EQ(energy_db[1], -std::numeric_limits<double>::infinity());
  EXPECT_NEAR(energy_db[2], -20, 1e-9);
  EXPECT_NEAR(energy_db[3], 10 * std::log10(0.1875), 1e-9);  // 1, 0, 0, 0: mean 1/4, variance 3/16
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
