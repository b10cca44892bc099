#include "ecdf_band.hpp"

#include <gtest/gtest.h>

#include <random>

namespace emomc {
namespace {

using testing::EcdfBand;
using testing::EcdfBands;
using testing::outside_band;

std::vector<int> counts_of(int n, int largest, std::mt19937_64& random, double power = 1) {
  std::vector<int> counts(static_cast<std::size_t>(largest) + 1, 0);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int i = 0; i < n; ++i)
    ++counts[static_cast<std::size_t>(std::pow(uniform(random), power) * (largest + 1))];
  return counts;
}

// With ranks of 0 or 1 and n = 4, the only limits are those of the number of zeros, which is binomial(4,
// 1/2).
TEST(EcdfBand, RatesAreThoseWorkedByHand) {
  const EcdfBand wide = EcdfBands(4, 1).band(0.124);
  EXPECT_EQ(wide.lower[0], 0);
  EXPECT_EQ(wide.upper[0], 4);
  EXPECT_NEAR(wide.false_alarm_rate, 0, 1e-14);
  const EcdfBand narrow = EcdfBands(4, 1).band(0.126);
  EXPECT_EQ(narrow.lower[0], 1);
  EXPECT_EQ(narrow.upper[0], 3);
  EXPECT_NEAR(narrow.false_alarm_rate, 2.0 / 16, 1e-14);
}

// A band with a rate of 5 % is simulated 20,000 times. The share that leaves the band is within 5.2 standard
// errors of the rate from the recursion (2e-7 for a normal error).
TEST(EcdfBand, RateIsThatOfSimulations) {
  constexpr int n = 100, largest = 31, simulations = 20000;
  const EcdfBand band = EcdfBands(n, largest).band(0.05);
  EXPECT_GT(band.false_alarm_rate, 0.03);
  EXPECT_LE(band.false_alarm_rate, 0.05);
  std::mt19937_64 random(5);
  int outside = 0;
  for (int i = 0; i < simulations; ++i) outside += outside_band(band, counts_of(n, largest, random)) > 0;
  const double rate = band.false_alarm_rate;
  EXPECT_NEAR(outside / static_cast<double>(simulations), rate,
              5.2 * std::sqrt(rate * (1 - rate) / simulations));
}

TEST(EcdfBand, RanksThatAreNotUniformLeaveIt) {
  std::mt19937_64 random(6);
  const EcdfBand band = EcdfBands(300, 31).band(1e-9);
  EXPECT_EQ(outside_band(band, counts_of(300, 31, random)), 0);
  EXPECT_GT(outside_band(band, counts_of(300, 31, random, 2.0)), 0);
  std::vector<int> ends(32, 0);
  for (std::size_t r = 0; r < 32; ++r) ends[r] = r == 0 || r == 31 ? 60 : 6;
  EXPECT_GT(outside_band(band, ends), 0);
}

}  // namespace
}  // namespace emomc
