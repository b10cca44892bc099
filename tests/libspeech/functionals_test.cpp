#include "emomc/speech/functionals.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "emomc/core/errors.hpp"
#include "emomc/speech/descriptors.hpp"
#include "synthetic_voice.hpp"

namespace emomc {
namespace {

using nlohmann::json;

json reference() {
  std::ifstream file(EMOMC_SOURCE_DIR "/tests/libspeech/data/functionals.json");
  return json::parse(file);
}

std::size_t index_of(const std::string& name) {
  const auto& all = descriptors();
  const auto at = std::find_if(all.begin(), all.end(), [&](const Descriptor& d) { return d.name == name; });
  EXPECT_NE(at, all.end()) << name;
  return static_cast<std::size_t>(at - all.begin());
}

double mean_of(const FrameDescriptors& frames, const std::string& name) {
  double sum = 0, number = 0;
  for (const double x : frames.of(index_of(name)))
    if (!std::isnan(x)) {
      sum += x;
      ++number;
    }
  return sum / number;
}

// Expects a difference of at most 1e-6, relative to the value or absolute: sums are in another order, and the
// reference has nine digits.
void expect_close(double value, const json& expected, const std::string& name) {
  if (expected.is_null()) {
    EXPECT_TRUE(std::isnan(value)) << name << " is " << value;
    return;
  }
  const auto wanted = expected.get<double>();
  EXPECT_NEAR(value, wanted, 1e-6 * std::max(1.0, std::abs(wanted))) << name;
}

TEST(Descriptors, AreThoseOfNumPyAndSciPy) {
  const json all = reference();
  for (const json& signal : all) {
    const Recording voice = testing::synthetic_voice(signal["sample_rate"].get<int>());
    const FrameDescriptors frames = DescriptorExtractor(voice.sample_rate).describe(voice.samples);
    ASSERT_EQ(frames.num_frames, signal["num_frames"].get<std::size_t>());
    EXPECT_EQ(std::count(frames.voiced.begin(), frames.voiced.end(), true), signal["voiced"].get<int>());
    const json& names = all[0]["descriptors"];
    ASSERT_EQ(names.size(), descriptors().size());
    for (std::size_t d = 0; d < names.size(); ++d) {
      ASSERT_EQ(descriptors()[d].name, names[d].get<std::string>());
      for (const auto& [frame, values] : signal["frames"].items())
        expect_close(frames.of(d)[std::stoul(frame)], values[d],
                     descriptors()[d].name + " of frame " + frame);
    }
  }
}

TEST(Functionals, AreThoseOfNumPyAndSciPy) {
  const json all = reference();
  const std::vector<std::string> names = functional_names(FunctionalSet::full);
  ASSERT_EQ(names, all[0]["names"].get<std::vector<std::string>>());
  for (const json& signal : all) {
    const Recording voice = testing::synthetic_voice(signal["sample_rate"].get<int>());
    const std::vector<double> row =
        functionals(DescriptorExtractor(voice.sample_rate).describe(voice.samples), FunctionalSet::full);
    ASSERT_EQ(row.size(), names.size());
    for (std::size_t i = 0; i < row.size(); ++i) expect_close(row[i], signal["functionals"][i], names[i]);
  }
}

TEST(Functionals, TheFullSetIsTheOtherTwo) {
  const auto full = functional_names(FunctionalSet::full);
  std::set<std::string> parts;
  for (const FunctionalSet set : {FunctionalSet::cepstra, FunctionalSet::prosody})
    for (const auto& name : functional_names(set)) EXPECT_TRUE(parts.insert(name).second) << name;
  EXPECT_EQ(std::set<std::string>(full.begin(), full.end()), parts);
  EXPECT_EQ(full.size(), parts.size());
  const Recording voice = testing::synthetic_voice(16000);
  const FrameDescriptors frames = DescriptorExtractor(16000).describe(voice.samples);
  for (const auto& name : functional_set_names()) {
    EXPECT_EQ(functional_set_name(functional_set(name)), name);
    EXPECT_EQ(functionals(frames, functional_set(name)).size(),
              functional_names(functional_set(name)).size());
  }
  EXPECT_THROW(functional_set("ful"), InputError);
}

TEST(Functionals, TheCompactSetHasFourOfEachDescriptorAndTheTimes) {
  const auto full = functional_names(FunctionalSet::full), compact = functional_names(FunctionalSet::compact);
  EXPECT_EQ(compact.size(), 4 * descriptors().size() - 1 + 7);  // the mean of loudness is not a functional
  const FrameDescriptors frames =
      DescriptorExtractor(16000).describe(testing::synthetic_voice(16000).samples);
  const auto row = functionals(frames, FunctionalSet::full),
             few = functionals(frames, FunctionalSet::compact);
  std::size_t at = 0;
  for (std::size_t j = 0; j < full.size(); ++j) {
    if (at == compact.size() || full[j] != compact[at]) continue;
    EXPECT_TRUE(few[at] == row[j] || (std::isnan(few[at]) && std::isnan(row[j]))) << full[j];
    ++at;
  }
  EXPECT_EQ(at, compact.size());
  for (const char* name : {"f0.mean", "c1.sd", "level_db.slope", "band_2.delta_sd", "time.gap_sd"})
    EXPECT_NE(std::find(compact.begin(), compact.end(), name), compact.end()) << name;
}

TEST(Descriptors, TellTheFrequencyOfAVoice) {
  for (const int period : {40, 64, 107, 160, 200}) {  // 400 to 80 Hz
    const auto x = testing::pulse_train(std::vector<int>(16000 / period, period),
                                        std::vector<double>(16000 / period, 1));
    const FrameDescriptors frames = DescriptorExtractor(16000).describe(x);
    // Frames near the ends see part of a window of silence.
    for (std::size_t t = 3; t + 3 < frames.num_frames; ++t) {
      ASSERT_TRUE(frames.voiced[t]) << period << ", frame " << t;
      EXPECT_NEAR(frames.of(index_of("f0"))[t], 12 * std::log2(16000.0 / period / 27.5), 0.02) << period;
    }
  }
}

// Periods and heights change at random from pulse to pulse. The expected jitter and shimmer follow from the
// periods and heights of the pulses.
TEST(Descriptors, TellJitterAndShimmer) {
  testing::Noise noise;
  std::vector<int> even(200, 102), periods;
  std::vector<double> ones(200, 1.0), heights;
  double jitter = 0, shimmer = 0;
  for (std::size_t i = 0; i < 200; ++i) {
    periods.push_back(102 + static_cast<int>(std::lround(4 * noise.next())));
    heights.push_back(1 + 0.2 * noise.next());
    if (i == 0) continue;
    jitter += std::abs(periods[i] - periods[i - 1]) / 102.0 / 199;
    shimmer += std::abs(20 * std::log10(heights[i] / heights[i - 1])) / 199;
  }
  const DescriptorExtractor extractor(16000);
  const FrameDescriptors steady = extractor.describe(testing::pulse_train(even, ones));
  EXPECT_LT(mean_of(steady, "jitter"), 1e-4);
  EXPECT_LT(mean_of(steady, "shimmer"), 1e-3);
  const FrameDescriptors jittered = extractor.describe(testing::pulse_train(periods, ones));
  EXPECT_NEAR(mean_of(jittered, "jitter"), jitter, 0.1 * jitter);
  const FrameDescriptors shimmering = extractor.describe(testing::pulse_train(even, heights));
  EXPECT_NEAR(mean_of(shimmering, "shimmer"), shimmer, 0.05 * shimmer);
  EXPECT_LT(mean_of(shimmering, "jitter"), 1e-3);
}

// The harmonics-to-noise ratio of a periodic sound with white noise is the ratio of their powers.
TEST(Descriptors, TellHarmonicsFromNoise) {
  for (const double decibels : {5.0, 10.0, 20.0}) {
    testing::Noise noise;
    std::vector<double> x;
    const double noise_sd = std::sqrt(1.0 / 12), tone_sd = noise_sd * std::pow(10, decibels / 20);
    for (int n = 0; n < 32000; ++n)
      x.push_back(0.05 * (noise.next() +
                          std::sqrt(2.0) * tone_sd * std::sin(2 * std::numbers::pi * 200 * n / 16000)));
    EXPECT_NEAR(mean_of(DescriptorExtractor(16000).describe(x), "hnr"), decibels, 0.7);
  }
}

TEST(Descriptors, OfNoiseAreUnvoiced) {
  testing::Noise noise;
  std::vector<double> x;
  for (int n = 0; n < 16000; ++n) x.push_back(noise.next());
  const FrameDescriptors frames = DescriptorExtractor(16000).describe(x);
  EXPECT_LE(std::count(frames.voiced.begin(), frames.voiced.end(), true), 2);
  EXPECT_NEAR(mean_of(frames, "centroid"), 4000, 100);
}

TEST(Descriptors, LeaveOutDigitalSilence) {
  std::vector<double> x = testing::synthetic_voice(16000).samples;
  const FrameDescriptors whole = DescriptorExtractor(16000).describe(x);
  EXPECT_EQ(whole.num_silent, 3u);  // whole windows after 0.95 s
  const std::vector<double> silence(16000, 0.25);
  const FrameDescriptors none = DescriptorExtractor(16000).describe(silence);
  EXPECT_EQ(none.num_frames, 0u);
  for (const double value : functionals(none, FunctionalSet::full)) EXPECT_TRUE(std::isnan(value));
  EXPECT_EQ(DescriptorExtractor(16000).describe(std::span(x).first(399)).num_frames, 0u);
}

TEST(Descriptors, OfARateThatLacksTheirFrequenciesAreRefused) {
  for (const double rate : {8000.0, 15999.0, std::nan(""), 1e8})
    EXPECT_THROW(DescriptorExtractor{rate}, InputError);
}

TEST(Functionals, OfFewVoicedFramesAreUndefined) {
  testing::Noise noise;
  std::vector<double> x;
  for (int n = 0; n < 1200; ++n) x.push_back(noise.next());
  const FrameDescriptors frames = DescriptorExtractor(16000).describe(x);
  const auto names = functional_names(FunctionalSet::full);
  const auto row = functionals(frames, FunctionalSet::full);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].starts_with("f0.")) {
      EXPECT_TRUE(std::isnan(row[i])) << names[i];
    }
    if (names[i].starts_with("level_db.") && !names[i].starts_with("level_db.voiced")) {
      EXPECT_TRUE(std::isfinite(row[i])) << names[i];
    }
  }
}

}  // namespace
}  // namespace emomc
