// Tests that recordings in memory give the same results as files with the same samples.
#include <gtest/gtest.h>

#include <cmath>

#include "emomc/core/errors.hpp"
#include "emomc/speech/audio.hpp"

namespace emomc {
namespace {

std::string refusal(const std::vector<double>& samples, std::size_t channels, double rate = 16000) {
  try {
    recording_of("one", samples, channels, rate);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(RecordingInMemory, ChannelsAreMixedByTheirMean) {
  const Recording recording = recording_of("one", std::vector<double>{1, 0, 0.5, 0.25, -1, 0.5}, 2, 16000);
  EXPECT_EQ(recording.samples, (std::vector<double>{0.5, 0.375, -0.25}));
  EXPECT_EQ(recording.sample_rate, 16000);
}

TEST(RecordingInMemory, RefusalsAreThoseOfFiles) {
  EXPECT_EQ(refusal({0.1, -0.1, 0.2}, 1), "");
  EXPECT_NE(refusal({0.1, -0.1, 0.2, -0.2}, 2).find("one: its channels are in opposite phase"),
            std::string::npos);
  EXPECT_NE(refusal({}, 1).find("it has no samples"), std::string::npos);
  EXPECT_NE(refusal({0.5, 0.5}, 1).find("it is silent"), std::string::npos);
  EXPECT_NE(refusal({0.5, 101}, 1).find("full scale is 1"), std::string::npos);
  EXPECT_NE(refusal({0.5, std::nan("")}, 1).find("sample 2 of channel 1"), std::string::npos);
  EXPECT_NE(refusal({0.5, 0.1, 0.2}, 2).find("2 channels of 3 samples"), std::string::npos);
  EXPECT_NE(refusal({0.5, 0.1}, 0).find("0 channels"), std::string::npos);
  EXPECT_NE(refusal({0.5, 0.1}, 1, 0).find("sample rate"), std::string::npos);
  EXPECT_NE(refusal({0.5, 0.1}, 1, INFINITY).find("sample rate"), std::string::npos);
}

}  // namespace
}  // namespace emomc
