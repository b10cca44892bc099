#include "emomc/device/math.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "emomc/device/team.hpp"

namespace emomc::device {
namespace {

double ulps(double a, double b) {
  if (a == b) return 0;
  return std::abs(a - b) /
         (std::nextafter(std::abs(b), std::numeric_limits<double>::infinity()) - std::abs(b));
}

TEST(Math, LogAndExpAreWithinOneAndAHalfUlpOfTheLibrary) {
  double worst_log = 0, worst_exp = 0;
  for (int i = 1; i < 200000; ++i) {
    const double x = std::exp2(-60 + 120.0 * i / 200000) * 1.000123;
    worst_log = std::max(worst_log, ulps(device::log(x), std::log(x)));
    const double y = -700 + 1400.0 * i / 200000;
    worst_exp = std::max(worst_exp, ulps(device::exp(y), std::exp(y)));
  }
  EXPECT_LE(worst_log, 1.5);
  EXPECT_LE(worst_exp, 1.5);
}

TEST(Math, EdgesAreThoseOfTheLibrary) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(device::log(0.0), -inf);
  EXPECT_EQ(device::log(1.0), 0.0);
  EXPECT_EQ(device::log(inf), inf);
  EXPECT_TRUE(std::isnan(device::log(-1.0)));
  EXPECT_TRUE(std::isnan(device::log(std::nan(""))));
  EXPECT_EQ(ulps(device::log(5e-324), std::log(5e-324)), 0);
  EXPECT_EQ(device::exp(0.0), 1.0);
  EXPECT_EQ(device::exp(-inf), 0.0);
  EXPECT_EQ(device::exp(inf), inf);
  EXPECT_LE(ulps(device::exp(709.7), std::exp(709.7)), 1.5);
  EXPECT_TRUE(std::isnan(device::exp(std::nan(""))));
}

TEST(Math, Log1pKeepsSmallArguments) {
  for (double x : {1e-18, -1e-18, 1e-9, -1e-9, 1e-3, -0.5, 3.0})
    EXPECT_NEAR(device::log1p(x), std::log1p(x), 4e-16 * std::abs(std::log1p(x))) << x;
}

TEST(Math, SinesAndCosinesOfTurns) {
  for (int i = 0; i <= 4096; ++i) {
    const double u = i / 4096.0;
    const auto [s, c] = sincos_two_pi(u);
    EXPECT_NEAR(s, std::sin(2 * std::numbers::pi * u), 1e-15);
    EXPECT_NEAR(c, std::cos(2 * std::numbers::pi * u), 1e-15);
  }
  const auto [s, c] = sincos_two_pi(0.25);
  EXPECT_EQ(s, 1.0);
  EXPECT_EQ(c, 0.0);
}

// The order of summation is documented: strided lanes, then a tree. Multiples of 0.1 are not summed exactly,
// so that another order gives another result.
TEST(HostTeam, SumHasTheDocumentedOrder) {
  const auto f = [](int i) { return 0.1 * i + 1e10 * (i % 7); };
  for (int n : {0, 1, 2, 3, 5, 16, 17, 31, 32, 33, 127, 128, 129, 215, 1000}) {
    double lane[128] = {};
    for (int i = 0; i < n; ++i) lane[i % 128] += f(i);
    double group[4];
    for (int g = 0; g < 4; ++g) {
      double level[32];
      for (int i = 0; i < 32; ++i) level[i] = lane[32 * g + i];
      for (int stride : {16, 8, 4, 2, 1})
        for (int i = 0; i < stride; ++i) level[i] = level[i] + level[i + stride];
      group[g] = level[0];
    }
    EXPECT_EQ(HostTeam{}.sum(n, f), (group[0] + group[1]) + (group[2] + group[3])) << n;
  }
}

// An odd factor changes the rounding of each sum, so that a sum of the wrong numbers differs.
TEST(HostTeam, SumsAtOnceHaveTheBitsOfEachSum) {
  const HostTeam team;
  const auto f = [](int i) { return 0.1 * i + 1e10 * (i % 7); };
  const auto times = [f](double factor) { return [=](int i) { return factor * f(i); }; };
  for (int n : {0, 1, 2, 3, 16, 17, 31, 32, 33, 129, 1000}) {
    const TwoSums two = team.sum_two(n, [&](int i) { return TwoSums{f(i), times(3)(i)}; });
    EXPECT_EQ(two.a, team.sum(n, f)) << n;
    EXPECT_EQ(two.b, team.sum(n, times(3))) << n;
    const Sums<3> many = team.sum_many<3>(n, [&](int i) { return Sums<3>{f(i), times(3)(i), times(7)(i)}; });
    EXPECT_EQ(many.of[0], team.sum(n, f)) << n;
    EXPECT_EQ(many.of[1], team.sum(n, times(3))) << n;
    EXPECT_EQ(many.of[2], team.sum(n, times(7))) << n;
  }
  // A sum of nothing but -0 is 0, as if lanes began at 0.
  EXPECT_FALSE(std::signbit(team.sum(1, [](int) { return -0.0; })));
}

}  // namespace
}  // namespace emomc::device
