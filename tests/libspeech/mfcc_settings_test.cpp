// Tests settings that are refused, and the words of the messages.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "emomc/core/errors.hpp"
#include "emomc/speech/mfcc.hpp"

namespace emomc {
namespace {

void expect_refused(const std::function<void(MfccSettings&)>& change, const std::vector<std::string>& words,
                    double sample_rate = 16000) {
  MfccSettings settings;
  change(settings);
  try {
    const MfccExtractor extractor(settings, sample_rate);
    ADD_FAILURE() << "accepted where '" << words[0] << "' was to be refused";
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.find('\n'), std::string::npos);
    EXPECT_EQ(message.find(words[0] + ": "), 0u) << message;
    for (const auto& word : words)
      EXPECT_NE(message.find(word), std::string::npos) << "no '" << word << "' in: " << message;
  }
}

TEST(MfccSettings, OfEveryPresetAreAcceptedAtUsualRates) {
  for (const auto& preset : mfcc_presets())
    for (const double rate : {8000., 11025., 16000., 22050., 44100., 48000., 96000.})
      EXPECT_EQ(MfccExtractor(mfcc_preset(preset), rate).dim(), 13) << preset << " " << rate;
  EXPECT_EQ(mfcc_preset("emomc"), MfccSettings{});
}

TEST(MfccSettings, OfAnUnknownPresetAreRefused) {
  try {
    mfcc_preset("librosaa");
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("librosa, thesis"), std::string::npos) << error.what();
  }
}

TEST(MfccSettings, AreRefusedByNameValueAndWhatIsAllowed) {
  const double nan = std::nan(""), infinity = HUGE_VAL;
  expect_refused([](auto& s) { s.window_ms = 0; }, {"window_ms", "0", "2 to 1048576 samples", "16000"});
  expect_refused([](auto& s) { s.window_ms = -25; }, {"window_ms", "-25"});
  expect_refused([&](auto& s) { s.window_ms = nan; }, {"window_ms", "nan"});
  expect_refused([&](auto& s) { s.window_ms = infinity; }, {"window_ms", "inf"});
  expect_refused([](auto& s) { s.window_ms = 1e9; }, {"window_ms", "1000000000"});
  expect_refused([](auto& s) { s.window_samples = 1; }, {"window_samples", "1", "2 to"});
  expect_refused([](auto& s) { s.window_samples = -1; }, {"window_samples", "-1"});
  expect_refused([](auto& s) { s.hop_ms = 0.01; }, {"hop_ms", "0.01", "1 to"});
  expect_refused([&](auto& s) { s.hop_ms = nan; }, {"hop_ms", "nan"});
  expect_refused([](auto& s) { s.hop_samples = -160; }, {"hop_samples", "-160"});
  expect_refused([](auto& s) { s.preemphasis = 1.5; }, {"preemphasis", "1.5", "0 to 1"});
  expect_refused([&](auto& s) { s.preemphasis = nan; }, {"preemphasis", "nan"});
  expect_refused([](auto& s) { s.fft_size = 256; }, {"fft_size", "256", "400"});
  expect_refused([](auto& s) { s.fft_size = 1 << 30; }, {"fft_size", "1073741824", "1048576"});
  expect_refused([](auto& s) { s.num_filters = 0; }, {"num_filters", "0", "1 to 256"});
  expect_refused([](auto& s) { s.num_filters = 1 << 30; }, {"num_filters", "1073741824", "1 to 256"});
  expect_refused([](auto& s) { s.num_filters = 200; }, {"num_filters", "200", "number 1 is not", "512"});
  expect_refused([](auto& s) { s.high_hz = 8001; }, {"high_hz", "8001", "8000"});
  expect_refused([](auto& s) { s.high_hz = -1; }, {"high_hz", "-1"});
  expect_refused([&](auto& s) { s.high_hz = nan; }, {"high_hz", "nan"});
  expect_refused([](auto& s) { s.low_hz = 8000; }, {"low_hz", "8000", "below"});
  expect_refused([](auto& s) { s.low_hz = 400, s.high_hz = 400; }, {"low_hz", "400"});
  expect_refused([](auto& s) { s.low_hz = -1; }, {"low_hz", "-1"});
  expect_refused([&](auto& s) { s.low_hz = nan; }, {"low_hz", "nan"});
  expect_refused([](auto& s) { s.log_floor = 0; }, {"log_floor", "0"});
  expect_refused([&](auto& s) { s.log_floor = infinity; }, {"log_floor", "inf"});
  expect_refused([](auto& s) { s.top_db = 80; }, {"top_db", "80", "decibel"});
  expect_refused([](auto& s) { s.log = LogKind::decibel, s.top_db = -1; }, {"top_db", "-1"});
  expect_refused([](auto& s) { s.num_coefficients = 27; }, {"num_coefficients", "27", "26"});
  expect_refused([](auto& s) { s.num_coefficients = 0; }, {"num_coefficients", "0"});
  expect_refused(
      [](auto& s) {
        s.fft_size = 1 << 20;
        s.num_filters = s.num_coefficients = 1 << 15;
      },
      {"num_coefficients", "32768", "up to 512"});
  expect_refused([&](auto& s) { s.lifter = nan; }, {"lifter", "nan"});
  expect_refused([](auto& s) { s.lifter = -22; }, {"lifter", "-22"});
  // 1 + sin(3 pi / 2) is 0: the coefficient would carry no information.
  expect_refused([](auto& s) { s.lifter = 2; }, {"lifter", "2", "coefficient 3"});
}

TEST(MfccSettings, NeedASampleRate) {
  for (const double rate : {0., -16000., std::nan(""), HUGE_VAL})
    expect_refused([](auto&) {}, {"sample_rate", "allowed"}, rate);
  expect_refused([](auto&) {}, {"window_ms"}, 50);
}

}  // namespace
}  // namespace emomc
