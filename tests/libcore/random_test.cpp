#include "emomc/device/random.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace emomc::device {
namespace {

void expect_words(const Philox4& actual, std::array<u32, 4> expected) {
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(actual.word[i], expected[i]) << "word " << i;
}

// The expected values are the known answers that Random123 publishes (kat_vectors, philox4x32 10).
TEST(Philox, GivesThePublishedKnownAnswers) {
  expect_words(philox4x32_10({{0, 0, 0, 0}}, 0, 0), {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  const u32 ones = 0xffffffffu;
  expect_words(philox4x32_10({{ones, ones, ones, ones}}, ones, ones),
               {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  expect_words(philox4x32_10({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0xa4093822, 0x299f31d0),
               {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST(RandomSource, NumbersDifferByPurposeIndexStepChainAndSeed) {
  const RandomSource base{1, 2, 3};
  const double x = base.uniform(Purpose::innovation, 4);
  EXPECT_NE(x, base.uniform(Purpose::acceptance, 4));
  EXPECT_NE(x, base.uniform(Purpose::innovation, 5));
  EXPECT_NE(x, (RandomSource{1, 3, 3}.uniform(Purpose::innovation, 4)));
  EXPECT_NE(x, (RandomSource{1, 2, 4}.uniform(Purpose::innovation, 4)));
  EXPECT_NE(x, (RandomSource{2, 2, 3}.uniform(Purpose::innovation, 4)));
  EXPECT_NE(x, (RandomSource{1 + (u64{1} << 32), 2, 3}.uniform(Purpose::innovation, 4)));
  EXPECT_NE(x, (RandomSource{1, 2 + (u64{1} << 32), 3}.uniform(Purpose::innovation, 4)));
}

TEST(RandomSource, UniformNeverReachesItsEnds) {
  EXPECT_GT(RandomSource::uniform_of(0, 0), 0.0);
  EXPECT_LT(RandomSource::uniform_of(~0u, ~0u), 1.0);
}

// Mean, variance, third and fourth moments, and the correlation of the two normals of a block are each within
// 5.2 standard errors: probability of a false alarm 5 x 2e-7 = 1e-6.
TEST(RandomSource, NormalsHaveTheMomentsOfAStandardNormal) {
  constexpr int n = 400000;
  const RandomSource source{7, 11, 13};
  double m1 = 0, m2 = 0, m3 = 0, m4 = 0, cross = 0, previous = 0;
  for (int i = 0; i < n; ++i) {
    const double z = source.normal(Purpose::innovation, static_cast<u32>(i));
    m1 += z / n, m2 += z * z / n, m3 += z * z * z / n, m4 += z * z * z * z / n;
    if (i % 2) cross += z * previous / (0.5 * n);
    previous = z;
  }
  const double root = std::sqrt(static_cast<double>(n));
  EXPECT_LT(std::abs(m1), 5.2 * 1 / root);
  EXPECT_LT(std::abs(m2 - 1), 5.2 * std::sqrt(2.0) / root);
  EXPECT_LT(std::abs(m3), 5.2 * std::sqrt(15.0) / root);
  EXPECT_LT(std::abs(m4 - 3), 5.2 * std::sqrt(96.0) / root);
  EXPECT_LT(std::abs(cross), 5.2 * std::sqrt(2.0) / root);
}

}  // namespace
}  // namespace emomc::device
