// Tests the evidence by stepping stones and thermodynamic integration in cases where it is known.
#include "emomc/sampler/evidence.hpp"

#include <gtest/gtest.h>

#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "emomc/core/errors.hpp"
#include "tempering_problems.hpp"

namespace emomc {
namespace {

using testing::KnownEvidence;
using testing::normal_means;
using testing::poisson_rate;
using testing::run_tempered;
using testing::share;
using testing::TemperedRun;

// Expects a plausible sum of squares of `count` standardised errors, with a false-alarm rate of 1e-6 for both
// bounds together.
void expect_calibrated(double sum_of_squares, double count) {
  const boost::math::chi_squared expected(count);
  EXPECT_GT(sum_of_squares, boost::math::quantile(expected, 0.5e-6));
  EXPECT_LT(sum_of_squares, boost::math::quantile(boost::math::complement(expected, 0.5e-6)));
}

// Returns independent draws of the log likelihood of a normal mean at each power.
RungDraws exact_draws(const std::vector<double>& betas, double n, double mean, double s,
                      std::size_t num_draws, std::uint64_t seed) {
  RungDraws draws;
  draws.betas = draws.exchanges.betas = betas;
  draws.exchanges.swap_rates.assign(betas.size() - 1, 0.5);
  draws.exchanges.round_trips = 1000;
  draws.num_chains = 2;
  draws.num_draws = num_draws;
  draws.acceptance.assign(betas.size(), 0.5);
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  for (const double beta : betas)
    for (std::size_t i = 0; i < 2 * num_draws; ++i) {
      const double precision = beta * n + 1 / (s * s);
      const double theta = beta * n * mean / precision + normal(random) / std::sqrt(precision);
      draws.log_likelihood.push_back(-0.5 * n * (theta - mean) * (theta - mean));
    }
  return draws;
}

double exact_evidence(double n, double mean, double s) {
  return -0.5 * std::log1p(n * s * s) - 0.5 * mean * mean / (s * s + 1 / n);
}

TEST(Evidence, OfIndependentDrawsIsUnbiasedAndCalibrated) {
  const std::vector<double> betas{1, 0.6, 0.35, 0.2, 0.1, 0.05, 0.02, 0.006, 0};
  const double expected = exact_evidence(20, 1.5, 2);
  double stones = 0, integral = 0;
  constexpr int kRuns = 60;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    const Evidence e = estimate_evidence(exact_draws(betas, 20, 1.5, 2, 1000, seed));
    const double z = (e.stepping_stones.value - expected) / e.stepping_stones.standard_error;
    EXPECT_LT(std::abs(z), 5.5);
    stones += z * z;
    const double y = (e.thermodynamic.value - expected) / e.thermodynamic.standard_error;
    integral += y * y;
    EXPECT_LT(e.lower - 0.1, expected);
    EXPECT_GT(e.upper + 0.1, expected);
    EXPECT_LT(e.stepping_stones.standard_error, 0.1);
  }
  expect_calibrated(stones, kRuns);
  // The rule of the integral has an additional error, which these powers make small.
  EXPECT_LT(integral / kRuns, 3);
}

// With few rungs the rule is coarse. The stated error must be right nevertheless, and small with many rungs.
TEST(Evidence, TheErrorOfTheRuleOfTheIntegralIsStated) {
  const std::vector<std::vector<double>> ladders{
      {1, 0}, {1, 0.2, 0}, {1, 0.5, 0.05, 0}, {1, 0.3, 0.05, 0.004, 0}, {1, 0.6, 0.3, 0.1, 0.03, 0.005, 0}};
  std::uint64_t seed = 0;
  for (const auto& betas : ladders)
    for (const double n : {3.0, 50.0, 1000.0})
      for (const double s : {0.5, 4.0}) {
        const Evidence e = estimate_evidence(exact_draws(betas, n, s, s, 2000, ++seed));
        const double expected = exact_evidence(n, s, s), error = 5 * e.thermodynamic.standard_error;
        EXPECT_NEAR(e.thermodynamic.value, expected, error + e.rule_error) << seed;
        EXPECT_LE(e.rule_error, 0.5 * (e.upper - e.lower) + 1e-9) << seed;
      }
  std::vector<double> many;
  for (int k = 0; k < 40; ++k) many.push_back(std::pow(1 - k / 39.0, 5));
  const Evidence e = estimate_evidence(exact_draws(many, 50, 2, 2, 500, 1));
  EXPECT_LT(e.rule_error, 0.03);
  EXPECT_NEAR(e.thermodynamic.value, exact_evidence(50, 2, 2),
              5 * e.thermodynamic.standard_error + e.rule_error);
}

TEST(Evidence, ARefusalNamesWhatIsMissing) {
  EXPECT_THROW(estimate_evidence(exact_draws({1, 0.5, 0.1}, 20, 1.5, 2, 1000, 1)), InputError);
  EXPECT_THROW(estimate_evidence(exact_draws({1, 0.5, 0}, 20, 1.5, 2, 50, 1)), InputError);
}

TEST(Evidence, RungsThatHardlyExchangePointsAreDoubted) {
  RungDraws draws = exact_draws({1, 0.5, 0.1, 0.01, 0}, 5, 0.5, 1, 1000, 1);
  EXPECT_TRUE(estimate_evidence(draws).doubts.empty());
  draws.exchanges.swap_rates[1] = 0.03;
  EXPECT_EQ(estimate_evidence(draws).doubts.size(), 1u);
  draws.exchanges.round_trips = 0;
  EXPECT_EQ(estimate_evidence(draws).doubts.size(), 2u);
}

TEST(Evidence, ProbabilitiesOfModelsAreThoseOfBayes) {
  const auto p = model_probabilities({-1000, -1000 + std::log(3.0)}, {2, 1});
  EXPECT_NEAR(p[0], 0.4, 1e-12);
  EXPECT_NEAR(p[1], 0.6, 1e-12);
}

RunOptions options_of(std::uint64_t seed) {
  RunOptions options;
  options.warmup = 500;
  options.draws = 1000;
  options.seed = seed;
  options.tempering.rungs = 10;
  return options;
}

std::vector<KnownEvidence> ten_models() {
  return {normal_means(1, 20, 3, "component_wise"),
          normal_means(2, 5, 1, "component_wise"),
          normal_means(4, 50, 2, "component_wise"),
          normal_means(2, 200, 10, "nuts"),
          normal_means(6, 10, 1, "nuts"),
          poisson_rate(10, 23, 2, 1),
          poisson_rate(50, 400, 1, 0.1),
          poisson_rate(4, 2, 3, 2),
          share(30, 11, 1, 1),
          share(200, 190, 2, 5)};
}

TEST(Evidence, OfTenConjugateModelsIsWithinItsErrors) {
  double sum_of_squares = 0, count = 0;
  for (const KnownEvidence& model : ten_models())
    for (const std::uint64_t seed : {1, 2}) {
      const TemperedRun run = run_tempered(model, options_of(seed));
      const Evidence e = estimate_evidence(run.keeper.rungs(run.result.state));
      const double z = (e.stepping_stones.value - model.log_evidence) / e.stepping_stones.standard_error;
      EXPECT_LT(std::abs(z), 4.5) << model.name << ": " << e.stepping_stones.value << " +- "
                                  << e.stepping_stones.standard_error << ", expected " << model.log_evidence;
      EXPECT_LT(e.stepping_stones.standard_error, 0.2) << model.name;
      EXPECT_NEAR(e.thermodynamic.value, model.log_evidence,
                  4.5 * e.thermodynamic.standard_error + e.rule_error)
          << model.name;
      EXPECT_LE(e.lower, model.log_evidence + 4.5 * e.thermodynamic.standard_error) << model.name;
      EXPECT_GE(e.upper, model.log_evidence - 4.5 * e.thermodynamic.standard_error) << model.name;
      sum_of_squares += z * z;
      count += 1;
    }
  expect_calibrated(sum_of_squares, count);
}

// Half of the prior has no likelihood: its draws are not points of the rung, but are counted.
TEST(Evidence, CountsTheShareOfThePriorThatHasADensity) {
  KnownEvidence half = normal_means(1, 5, 1, "component_wise");
  half.start = {0.5};
  half.log_likelihood = [](int, const double* x, double*) {
    return x[0] > 0 ? -2 * x[0] : -std::numeric_limits<double>::infinity();
  };
  // This is the integral of exp(-2 x) over the positive half of a standard normal density.
  const double expected = std::log(std::exp(2.0) * 0.5 * std::erfc(2 / std::sqrt(2.0)));
  const TemperedRun run = run_tempered(half, options_of(3));
  const Evidence e = estimate_evidence(run.keeper.rungs(run.result.state));
  EXPECT_NEAR(e.finite_share, 0.5, 0.05);
  EXPECT_NEAR(e.stepping_stones.value, expected, 4.5 * e.stepping_stones.standard_error);
  EXPECT_LT(e.stepping_stones.standard_error, 0.1);
}

}  // namespace
}  // namespace emomc
