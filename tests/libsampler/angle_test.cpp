// Tests parameters that are angles: the transform from the plane, its density, and diagnostics of draws on
// both sides of pi.
#include "emomc/device/angle.hpp"

#include <gtest/gtest.h>

#include <boost/math/special_functions/bessel.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "closed_form.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/core/thread_pool.hpp"
#include "emomc/device/gradient.hpp"
#include "emomc/sampler/convergence.hpp"
#include "emomc/sampler/target.hpp"
#include "mixture_target.hpp"

namespace emomc {
namespace {

constexpr double kPi = std::numbers::pi;

Target angles(int count, double mean, double concentration) {
  ParameterLayout layout;
  layout.blocks.push_back({"mu", {count}, Support::circular, DataUnit::none, Influence::everything, -1, -1});
  layout.blocks.push_back({"x", {}, Support::real, DataUnit::none, Influence::everything, -1, -1});
  PriorSet prior;
  prior.blocks["mu"] = {PriorFamily::von_mises, {testing::number(mean), testing::number(concentration)}};
  prior.blocks["x"] = {PriorFamily::normal, {testing::number(0), testing::number(1)}};
  return Target(layout, prior, std::span<const double>());
}

TEST(Angle, IsThatOfTheMathLibrary) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> power(-300, 300);
  for (int i = 0; i < 200'000; ++i) {
    const double x = normal(random) * (i % 2 ? 1 : std::pow(10, power(random))),
                 y = normal(random) * (i % 4 > 1 ? 1 : std::pow(10, power(random)));
    const double expected = std::atan2(y, x);
    // Angles next to pi and to -pi are neighbours.
    const double apart = std::remainder(device::angle_of(x, y) - expected, 2 * kPi);
    ASSERT_LE(std::abs(apart), 4.5e-16 * std::abs(expected)) << x << ' ' << y;
  }
  EXPECT_EQ(device::angle_of(-1, 0), kPi);
  EXPECT_EQ(device::angle_of(-1, -0.0), kPi) << "-pi is outside the half-open interval";
  EXPECT_EQ(device::angle_of(-1, -1e-300), kPi);
  EXPECT_EQ(device::angle_of(0, 2), kPi / 2);
  EXPECT_EQ(device::angle_of(0, -2), -kPi / 2);
  EXPECT_EQ(device::angle_of(0, 0), 0);
}

TEST(Angle, DirectionsAndDifferencesAreThoseOfTheMathLibrary) {
  for (int i = -1000; i <= 1000; ++i) {
    const double a = i * kPi / 1000;
    const device::Direction d = device::direction_of(a);
    EXPECT_NEAR(d.x, std::cos(a), 6e-16);
    EXPECT_NEAR(d.y, std::sin(a), 6e-16);
    const device::FromMean f = device::from_mean(a, 0.7);
    EXPECT_NEAR(f.cosine_less_1, std::cos(a - 0.7) - 1, 9e-16);
    EXPECT_NEAR(f.sine, std::sin(a - 0.7), 9e-16);
  }
  EXPECT_NEAR(device::from_mean(0.7 + 1e-9, 0.7).cosine_less_1 / -0.5e-18, 1, 1e-6) << "no digits cancel";
}

TEST(Angle, TheDensityOnThePlaneIntegratesToOneAndHasThePriorsMarginal) {
  for (const double concentration : {0.0, 0.5, 8.0, 200.0}) {
    const Target target = angles(1, 3.0, concentration);
    double total = 0, cosine = 0;
    const double h = 0.01;
    std::vector<double> theta(2);
    for (double x = -4; x < 4; x += h)
      for (double y = -4; y < 4; y += h) {
        const std::vector<double> u{x + h / 2, y + h / 2, 0.3};
        const double log_jacobian = target.constrain(u, theta);
        const double density =
            std::exp(target.log_prior(theta) + log_jacobian + 0.5 * 0.09 + 0.5 * std::log(2 * kPi));
        total += h * h * density;
        cosine += h * h * density * std::cos(theta[0] - 3.0);
      }
    const double expected =
        boost::math::cyl_bessel_i(1, concentration) / boost::math::cyl_bessel_i(0, concentration);
    EXPECT_NEAR(total, 1, 1e-5) << concentration;
    EXPECT_NEAR(cosine, expected, 1e-5) << concentration;
  }
}

TEST(Angle, ComesBackFromItsCoordinates) {
  const Target target = angles(3, 0, 1);
  std::vector<double> theta{-3.1, 0.4, kPi, 0.2}, u(7), again(4);
  ASSERT_EQ(target.dim_unconstrained(), 7);
  target.unconstrain(theta, u);
  target.constrain(u, again);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(again[i], theta[i], 1e-15);
  theta[1] = 3.2;
  EXPECT_THROW(target.unconstrain(theta, u), InputError);
}

TEST(Angle, TheGradientIsThatOfDifferences) {
  const Target target = angles(2, -2.9, 3);
  const std::vector<double> slopes{0.7, -1.3, 0.4};  // slopes of a log likelihood that is linear in theta
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal;
  const auto table = target.table();
  const auto density = [&](const std::vector<double>& u) {
    std::vector<double> theta(3);
    const double log_jacobian = target.constrain(u, theta);
    return target.log_prior(theta) + log_jacobian + slopes[0] * theta[0] + slopes[1] * theta[1] +
           slopes[2] * theta[2];
  };
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::vector<double> u(5), theta(3), gradient(5),
        scratch(static_cast<std::size_t>(device::gradient_scratch(table)));
    for (double& x : u) x = normal(random);
    target.constrain(u, theta);
    device::gradient_of_density(device::HostTeam{}, table, u.data(), theta.data(), slopes.data(), 1.0,
                                scratch.data(), gradient.data());
    for (std::size_t j = 0; j < u.size(); ++j) {
      std::vector<double> up = u, down = u;
      up[j] += 1e-6;
      down[j] -= 1e-6;
      const double difference = (density(up) - density(down)) / 2e-6;
      EXPECT_NEAR(gradient[j], difference, 1e-5 * (1 + std::abs(difference))) << j;
    }
  }
}

TEST(Angle, APointAtTheOriginOrAtInfinityHasNoDensity) {
  const Target target = angles(1, 0, 1);
  std::vector<double> theta(2);
  for (const double x : {0.0, 1e200, std::numeric_limits<double>::infinity()})
    EXPECT_EQ(target.constrain(std::vector<double>{x, 0.0, 0.0}, theta),
              -std::numeric_limits<double>::infinity())
        << x;
}

TEST(Angle, PriorDrawsHaveTheMomentsOfTheirDensity) {
  constexpr int kDraws = 20'000;
  for (const double concentration : {0.0, 2.0, 50.0}) {
    const Target target = angles(1, 2.8, concentration);
    double cosine = 0, sine = 0;
    for (std::uint32_t i = 0; i < kDraws; ++i) {
      const double mu = target.draw_from_prior(5, i, 0)[0];
      ASSERT_LE(std::abs(mu), kPi);
      cosine += std::cos(mu - 2.8) / kDraws;
      sine += std::sin(mu - 2.8) / kDraws;
    }
    const double expected =
        boost::math::cyl_bessel_i(1, concentration) / boost::math::cyl_bessel_i(0, concentration);
    // The bound is five standard errors of means whose variances are at most 1 / 2 and decrease as 1 /
    // concentration.
    const double bar = 5 * std::sqrt(0.5 / kDraws) / std::sqrt(1 + concentration / 4);
    EXPECT_NEAR(cosine, expected, bar) << concentration;
    EXPECT_NEAR(sine, 0, 2 * bar) << concentration;
  }
}

TEST(Angle, LengthsAreDrawnFromTheirDensity) {
  constexpr std::uint32_t kDraws = 20'000;
  const Target target = angles(2, 0, 1);
  double mean = 0, square = 0, product = 0;
  for (std::uint32_t i = 0; i < kDraws; ++i) {
    std::vector<double> u(5);
    target.unconstrain(target.draw_from_prior(5, i, 0), u);
    const std::vector<double> before = u;
    target.draw_lengths(5, i, 0, u);
    EXPECT_EQ(u[4], before[4]);
    const double a = std::log(std::hypot(u[0], u[1])), b = std::log(std::hypot(u[2], u[3]));
    EXPECT_NEAR(std::atan2(u[1], u[0]), std::atan2(before[1], before[0]), 1e-12);
    mean += a / kDraws;
    square += a * a / kDraws;
    product += a * b / kDraws;
  }
  const double variance = device::kSpread * device::kSpread, error = 5 / std::sqrt(kDraws);
  EXPECT_NEAR(mean, 0, error * device::kSpread);
  EXPECT_NEAR(square, variance, error * variance * std::sqrt(2));
  EXPECT_NEAR(product, 0, error * variance);
}

// Half of the draws are just below pi and half just above -pi: an ordinary mean would be 0 and the sd pi.
TEST(Angle, SummariesAreAboutTheMeanDirection) {
  DrawSet draws;
  draws.layout.blocks.push_back({"mu", {}, Support::circular, DataUnit::none, Influence::everything, -1, -1});
  draws.num_log_densities = 0;
  draws.num_draws = 500;
  draws.chains = {"a", "b", "c", "d"};
  draws.add("mu");
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal(kPi, 0.1);
  for (double& x : draws.values) x = std::remainder(normal(random), 2 * kPi);
  ThreadPool threads(1);
  const DrawDiagnostics run = diagnose_draws(std::move(draws), Numbering::raw, false, threads);
  EXPECT_NEAR(std::abs(run.summaries[0].mean), kPi, 0.02);
  EXPECT_NEAR(run.summaries[0].sd, 0.1, 0.01);
  EXPECT_LT(run.summaries[0].rhat, 1.02);
}

}  // namespace
}  // namespace emomc
