// A corpus of synthetic recordings for tests of softmax regression.
#pragma once

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <sstream>

#include "emomc/speech/audio.hpp"
#include "libspeech/wav_bytes.hpp"
#include "program.hpp"

namespace emomc::testing {

using nlohmann::json;

// Returns a recording of harmonics with noise: a "sad" voice falls and is quiet, a "glad" one rises, and a
// "cross" one is loud and rough.
inline std::string wav_of(int emotion, int speaker, int take, int rate = 16000, double seconds = 0.5) {
  std::vector<double> samples;
  auto state = static_cast<std::uint32_t>(1000 * speaker + 10 * take + emotion);
  const double base = 100 + 30 * speaker + 4 * take, slope = emotion == 0 ? -20 : emotion == 1 ? 40 : 5;
  const double loudness = emotion == 0 ? 0.05 : emotion == 1 ? 0.12 : 0.25;
  for (int n = 0; n < rate * seconds; ++n) {
    state = state * 1664525u + 1013904223u;
    const double noise = state / 4294967296.0 - 0.5, t = n / static_cast<double>(rate);
    double x = 0;
    for (int h = 1; h <= 6; ++h)
      x += std::sin(2 * std::numbers::pi * h * (base * t + slope * t * t)) / (emotion == 2 ? 1 : h);
    samples.push_back(std::round(32767 * loudness * (0.4 * x + (emotion == 2 ? 0.8 : 0.1) * noise)));
  }
  for (double& x : samples) x = std::clamp(x, -32768.0, 32767.0);
  return Wav{.sample_rate = rate, .samples = samples}.bytes();
}

class Softmax : public ::testing::Test {
 protected:
  ProgramFolder folder;

  void SetUp() override {
    if (!has_audio()) GTEST_SKIP() << "a build without libsndfile";
    const char* emotions[] = {"sad", "glad", "cross"};
    for (int speaker : {1, 2, 3, 4})
      for (int take : {0, 1, 2})
        for (int emotion : {0, 1, 2})
          folder.write("corpus/" + std::string(emotions[emotion]) + "/s" + std::to_string(speaker) + "/take" +
                           std::to_string(take) + ".wav",
                       wav_of(emotion, speaker, take));
    folder.write("config.yaml",
                 "corpus: {kind: folders, path: corpus}\nsoftmax: {chains: 2, warmup: 40, draws: 80}\n"
                 "output: {directory: run}\nthreads: 1\n");
  }
  json evaluate(const std::string& more = "") {
    const auto result = folder.run("evaluate config.yaml --json -q " + more);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.exit_code == 0 ? json::parse(result.out) : json();
  }
  void expect_refused(const std::string& arguments, const std::vector<std::string>& words) {
    const auto result = folder.run(arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments;
    for (const auto& word : words)
      EXPECT_NE(result.err.find(word), std::string::npos) << word << "\n" << result.err;
  }
};

// Returns the fields of a CSV file without quotes.
inline std::vector<std::vector<std::string>> csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    rows.emplace_back();
    std::istringstream fields(line);
    for (std::string field; std::getline(fields, field, ',');) rows.back().push_back(field);
    if (line.ends_with(',')) rows.back().emplace_back();
  }
  return rows;
}

}  // namespace emomc::testing
