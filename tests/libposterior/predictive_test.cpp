// Tests that replicates of data have the predictive distributions that are known in closed form. Bounds are
// 5.5 standard errors, which chance exceeds in 4 of 10^8 cases each.
#include "emomc/posterior/predictive.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "emomc/likelihood/standardize.hpp"
#include "emomc/posterior/priors.hpp"
#include "libposterior/equal_chains.hpp"

namespace emomc {
namespace {

using testing::kFaithful;
using testing::line;
using testing::refusal;

constexpr double kErrors = 5.5;

struct Moments {
  double mean, sd, fourth;  ///< the fourth central moment
};

/// Compares the mean and variance of independent `values` with those of a distribution.
void expect_moments(std::span<const double> values, const Moments& expected, const std::string& what) {
  const auto n = static_cast<double>(values.size());
  double mean = 0, variance = 0;
  for (const double x : values) mean += x / n;
  for (const double x : values) variance += (x - expected.mean) * (x - expected.mean) / n;
  const double square = expected.sd * expected.sd;
  EXPECT_NEAR(mean, expected.mean, kErrors * expected.sd / std::sqrt(n)) << what;
  EXPECT_NEAR(variance, square, kErrors * std::sqrt((expected.fourth - square * square) / n)) << what;
}
Moments normal(double mean, double sd) { return {mean, sd, 3 * sd * sd * sd * sd}; }

/// Returns the values of variable `v` and row `row` at all draws.
std::vector<double> of_row(const PredictiveDraws& drawn, std::size_t v, std::size_t row) {
  std::vector<double> values;
  const std::size_t count = drawn.num_chains * drawn.draws.size();
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(drawn.values[(v * count + i) * drawn.num_rows + row]);
  return values;
}

/// Returns draws of a run whose parameters are independent normal numbers with these means and sds.
DrawSet normal_draws(std::size_t num_chains, std::size_t num_draws,
                     const std::vector<std::pair<double, double>>& parameters) {
  DrawSet set;
  set.num_draws = num_draws;
  set.num_log_densities = 1;
  set.names = {"log_density"};
  set.chains.resize(num_chains);
  set.values.resize(num_chains * num_draws);
  std::mt19937_64 random(5);
  for (const auto& [mean, sd] : parameters) {
    set.names.push_back("p" + std::to_string(set.names.size()));
    std::normal_distribution<double> number;
    for (std::size_t i = 0; i < num_chains * num_draws; ++i) set.values.push_back(mean + sd * number(random));
  }
  return set;
}

ExpressionModel model_of(const std::string& log_density) {
  ExpressionModel model;
  model.likelihood.parameters = {parameter("m")};
  model.likelihood.log_density = {"log_density", log_density};
  model.priors = {{"m", priors::normal(0, 2)}};
  return model;
}

// The posterior of m is normal with mean 2 and sd 0.5, and rows have known sds.
TEST(Predictive, ReplicatesHaveTheConjugateDistribution) {
  const Table data = make_table({"y", "e"}, {1, 1, 5, 3});
  const RowSimulator simulator(model_of("normal_lpdf(y, m, e)").likelihood, data);
  EXPECT_EQ(simulator.variables(), std::vector<std::string>{"y"});
  const PredictiveDraws drawn = posterior_predictive(simulator, normal_draws(2, 50000, {{2, 0.5}}), 1);
  ASSERT_EQ(drawn.values.size(), 2u * 50000 * 2);
  const std::vector<double> first = of_row(drawn, 0, 0), second = of_row(drawn, 0, 1);
  expect_moments(first, normal(2, std::sqrt(0.25 + 1)), "row 0");
  expect_moments(second, normal(2, std::sqrt(0.25 + 9)), "row 1");
  // The rows of one replicate share the same m, and are therefore correlated.
  double covariance = 0;
  const auto n = static_cast<double>(first.size());
  for (std::size_t i = 0; i < first.size(); ++i) covariance += (first[i] - 2) * (second[i] - 2) / n;
  EXPECT_NEAR(covariance, 0.25, kErrors * std::sqrt((1.25 * 9.25 + 0.25 * 0.25) / n));
}

// For a rate with the prior gamma(3, 0.5), counts are negative binomial with r = 3 and p = 1/3.
TEST(Predictive, ReplicatesOfThePriorHaveTheConjugateDistribution) {
  ExpressionModel model = model_of("poisson_lpmf(n, m)");
  model.likelihood.parameters = {parameter("m", Support::positive)};
  model.likelihood.derived = {{"twice", {"derived", "2 * m"}}};
  model.priors = {{"m", priors::gamma(3, 0.5)}};
  const Posterior posterior(model, make_table({"n"}, {4, 7}));
  const PriorPredictive all = prior_predictive(posterior, 1, {.draws = 100000});
  EXPECT_EQ(all.prior.num_chains(), 1u);
  EXPECT_EQ(all.prior.names, (std::vector<std::string>{"m", "twice"}));
  ASSERT_EQ(all.predictive.draws.size(), 100000u);
  EXPECT_EQ(all.predictive.num_not_finite, 0u);
  const std::vector<double> rate(all.prior.values.begin(), all.prior.values.begin() + 100000);
  expect_moments(rate, {6, std::sqrt(12.0), (3 + 6 / 3.0) * 144}, "rate");
  EXPECT_EQ(all.prior.values[100000], 2 * rate[0]);
  const std::vector<double> counts = of_row(all.predictive, 0, 1);
  expect_moments(counts, {6, std::sqrt(18.0), (3 + 6 / 3.0 + 1.0 / 9 / (2.0 / 3 * 3)) * 18 * 18}, "counts");
  const double none = static_cast<double>(std::count(counts.begin(), counts.end(), 0.0)) / 1e5;
  EXPECT_NEAR(none, 1.0 / 27, kErrors * std::sqrt(1.0 / 27 / 1e5));
  EXPECT_EQ(prior_predictive(posterior, 1).predictive.draws.size(), PredictiveOptions::kPriorDraws);
}

// Draws contain full covariances, and not their Cholesky factors.
TEST(Predictive, ReplicatesOfAMixtureHaveItsMoments) {
  const std::size_t rows = 25000;
  const Table data = make_table({"u", "v"}, std::vector<double>(2 * rows, 1.0));
  const RowSimulator simulator(ModelSpec{"gaussian_mixture", 2, "full"}, data);
  EXPECT_EQ(simulator.variables(), data.columns);
  // The parameters are weights, means and lower triangles of covariances.
  const std::vector<double> theta{0.3, 0.7, 1, -2, 4, 3, 4, 1.5, 1, 0.5, -0.6, 2};
  std::vector<std::pair<double, double>> parameters;
  for (const double value : theta) parameters.emplace_back(value, 0);
  const PredictiveDraws drawn = posterior_predictive(simulator, normal_draws(2, 2, parameters), 1);
  const std::size_t n = 4 * rows;
  const auto column = [&](std::size_t v) { return std::span<const double>(drawn.values).subspan(v * n, n); };
  const auto of_component = [&](std::size_t k, std::size_t v) {
    return std::pair(theta[2 + 2 * k + v], theta[6 + 3 * k + (v == 0 ? 0 : 2)]);  // mean and variance
  };
  std::vector<double> means;
  for (std::size_t v = 0; v < 2; ++v) {
    double mean = 0, variance = 0, fourth = 0;
    for (std::size_t k = 0; k < 2; ++k) mean += theta[k] * of_component(k, v).first;
    for (std::size_t k = 0; k < 2; ++k) {
      const auto [m, square] = of_component(k, v);
      const double d = (m - mean) * (m - mean);
      variance += theta[k] * (square + d);
      fourth += theta[k] * (3 * square * square + 6 * square * d + d * d);
    }
    means.push_back(mean);
    expect_moments(column(v), {mean, std::sqrt(variance), fourth}, data.columns[v]);
  }
  double covariance = 0, expected = 0, square = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double product = (column(0)[i] - means[0]) * (column(1)[i] - means[1]);
    covariance += product / static_cast<double>(n);
    square += product * product / static_cast<double>(n);
  }
  for (std::size_t k = 0; k < 2; ++k)
    expected += theta[k] * (theta[6 + 3 * k + 1] +
                            (of_component(k, 0).first - means[0]) * (of_component(k, 1).first - means[1]));
  EXPECT_NEAR(covariance, expected,
              kErrors * std::sqrt((square - expected * expected) / static_cast<double>(n)));
}

// Default priors refer to standardised columns, but draws from them are in the data's own units.
TEST(Predictive, ReplicatesOfThePriorAreInTheDatasUnits) {
  const Table raw = read_table(kFaithful);
  const ColumnUnits units = column_units(raw.values, 2);
  Table standard = raw;
  standardize(units, standard.values);
  const GaussianMixture mixture{.components = 2, .covariance = Covariance::full};
  const PriorPredictive ours = prior_predictive(Posterior(mixture, raw), 3, {.draws = 50}),
                        other = prior_predictive(Posterior(mixture, standard), 3, {.draws = 50});
  ASSERT_EQ(ours.predictive.values.size(), 2u * 50 * 272);
  for (std::size_t i = 0; i < ours.predictive.values.size(); ++i) {
    const std::size_t v = i / (50 * 272);
    const double z = other.predictive.values[i];
    ASSERT_NEAR(ours.predictive.values[i], units.mean[v] + units.sd[v] * z,
                1e-9 * units.sd[v] * (1 + std::abs(z)));
  }
  const auto at = [](const PriorPredictive& p, const std::string& name) {
    const auto q = static_cast<std::size_t>(std::find(p.prior.names.begin(), p.prior.names.end(), name) -
                                            p.prior.names.begin());
    return p.prior.values.at(q * 50 + 7);
  };
  EXPECT_NEAR(at(ours, "means[1,0]"), units.mean[0] + units.sd[0] * at(other, "means[1,0]"), 1e-9);
  EXPECT_NEAR(at(ours, "covariances[1,1,0]"), units.sd[0] * units.sd[1] * at(other, "covariances[1,1,0]"),
              1e-8);
}

TEST(Predictive, AReplicateBelongsToItsDraw) {
  const Posterior posterior(line(), read_table(kFaithful));
  const Draws draws = sample(posterior, {.chains = 2, .draws = 40, .warmup = 100, .seed = 7});
  const PredictiveDraws all = posterior_predictive(posterior, draws);
  EXPECT_EQ(all.variables, std::vector<std::string>{"waiting"});
  EXPECT_FALSE(all.is_thinned());
  // The values do not depend on the number of threads, and those at fewer draws are the same.
  EXPECT_EQ(posterior_predictive(posterior, draws, {.threads = 1}).values, all.values);
  const PredictiveDraws some = posterior_predictive(posterior, draws, {.draws = 10});
  EXPECT_TRUE(some.is_thinned());
  EXPECT_EQ(some.num_draws_of_chain, 40u);
  ASSERT_EQ(some.draws.size(), 10u);
  for (std::size_t c = 0; c < 2; ++c)
    for (std::size_t k = 0; k < 10; ++k) {
      EXPECT_EQ(some.draws[k], 4 * k);
      for (std::size_t row = 0; row < 272; ++row)
        ASSERT_EQ(some.values[(c * 10 + k) * 272 + row], all.values[(c * 40 + 4 * k) * 272 + row]);
    }
  // The values stay the same when the run is continued.
  Draws longer = sample(posterior, {.chains = 2, .draws = 60, .warmup = 100, .seed = 7});
  const PredictiveDraws more = posterior_predictive(posterior, longer);
  for (std::size_t i = 0; i < 40u * 272; ++i)
    for (const std::size_t c : {0, 1}) ASSERT_EQ(more.values[c * 60 * 272 + i], all.values[c * 40 * 272 + i]);
  // Another seed gives other numbers. simulate() with the run's seed gives other numbers, too.
  const RowSimulator simulator = row_simulator(posterior.config(), posterior.data());
  const DrawSet& set = draws.run.draws;
  EXPECT_NE(posterior_predictive(simulator, set, 8).values, all.values);
  EXPECT_EQ(posterior_predictive(simulator, set, 7).values, all.values);
  std::vector<double> theta, made(272);
  for (std::size_t j = 0; j < 3; ++j) theta.push_back(set.values[(set.num_log_densities + j) * 80]);
  simulator.simulate(theta, 7, 0, made);
  for (std::size_t row = 0; row < 272; ++row) ASSERT_NE(made[row], all.values[row]);
}

TEST(Predictive, AReplicateHasTheParametersOfItsDraw) {
  const RowSimulator simulator(model_of("normal_lpdf(y, m, 1e-9)").likelihood, make_table({"y"}, {1, 2}));
  const DrawSet set = normal_draws(3, 10, {{0, 1}});
  const PredictiveDraws drawn = posterior_predictive(simulator, set, 1, {.draws = 5});
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t k = 0; k < 5; ++k)
      for (std::size_t row = 0; row < 2; ++row)
        EXPECT_NEAR(drawn.values[(c * 5 + k) * 2 + row], set.values[30 + c * 10 + 2 * k], 1e-7);
}

TEST(Predictive, OnlyColumnsOfTheDataAreVariables) {
  ExpressionModel model = model_of("log_mix(0.5, normal_lpdf(y, m, 1), normal_lpdf(y, -m, 1))");
  model.likelihood.simulate = {{"k", {"simulate.k", "bernoulli_rng(0.5)"}},
                               {"y", {"simulate.y", "normal_rng(if_else(k == 1, m, -m), 1e-6)"}}};
  const Table data = make_table({"y"}, {1, 2, 3});
  const RowSimulator simulator(model.likelihood, data);
  EXPECT_EQ(simulator.variables(), std::vector<std::string>{"y"});
  std::vector<double> rows(3);
  simulator.simulate(std::vector<double>{5}, 1, 0, rows);
  for (const double y : rows) EXPECT_NEAR(std::abs(y), 5, 1e-5);
  model.likelihood.simulate.pop_back();
  EXPECT_EQ(refusal([&] { RowSimulator(model.likelihood, data); }),
            "simulate: it draws k, none of which is a column of the data");
}

// Replicates are compared with the data number by number, so that they have to be in the same turn.
TEST(Predictive, AnglesAreInTheTurnOfTheData) {
  const ExpressionModel model =
      model_of("log_mix(0.5, von_mises_lpdf(y, m, 2), von_mises_lpdf(y, m + 1, 3))");
  struct Case {
    std::vector<double> data;
    double from;
  };
  for (const Case& c :
       {Case{{-3, 3, 0.5}, -M_PI}, {{0.1, 6.2, 3}, 0}, {{5, 8, 9}, 7 - M_PI}, {{0, 1, 2}, -M_PI}}) {
    const RowSimulator simulator(model.likelihood, make_table({"y"}, c.data));
    std::vector<double> rows(3);
    double least = 1e300, most = -1e300;
    for (std::uint32_t r = 0; r < 2000; ++r) {
      simulator.simulate(std::vector<double>{3}, 1, r, rows);
      for (const double y : rows) {
        least = std::min(least, y);
        most = std::max(most, y);
      }
    }
    // The density is above 0.001 in all directions, so that 6,000 angles come near both ends.
    EXPECT_GE(least, c.from);
    EXPECT_LT(most, c.from + 2 * M_PI);
    EXPECT_NEAR(least, c.from, 0.5);
    EXPECT_NEAR(most, c.from + 2 * M_PI, 0.5);
  }
  std::vector<double> rows(2);
  const RowSimulator apart(model.likelihood, make_table({"y"}, {-1, 6}));
  EXPECT_EQ(refusal([&] { apart.simulate(std::vector<double>{3}, 1, 0, rows); }),
            "column y: its angles, from -1 to 6, are more than a turn apart, so that draws of von_mises_rng "
            "cannot be compared with them; write all of them within 2 pi, as from -pi to pi");
}

TEST(Predictive, StandardisedColumnsAreReadSo) {
  ExpressionModel model = model_of("normal_lpdf(y, m * x, 1e-9)");
  model.likelihood.standardized = {"x"};
  const Table data = make_table({"x", "y"}, {1, 0, 2, 0, 6, 0});  // mean 3, and the mean of squares 14 / 3
  std::vector<double> rows(3);
  RowSimulator(model.likelihood, data).simulate(std::vector<double>{2}, 1, 0, rows);
  const double sd = std::sqrt(14.0 / 3);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(rows[i], 2 * (data.values[2 * i] - 3) / sd, 1e-7);
}

TEST(Predictive, ColumnsAreObservedOrGiven) {
  const std::vector<std::string> columns{"duration", "waiting"};
  EXPECT_EQ(observed_columns(line().likelihood, columns), std::vector<std::string>{"waiting"});
  ExpressionSpec other = line().likelihood;
  other.log_density.text = "-0.5 * ((waiting - a - b * duration) / s)^2 - log(s)";
  EXPECT_EQ(observed_columns(other, columns), columns);
  other.simulate = {{"waiting", {"simulate", "normal_rng(a + b * duration, s)"}}};
  EXPECT_EQ(observed_columns(other, columns), std::vector<std::string>{"waiting"});
}

// There is no Poisson distribution with a negative rate.
TEST(Predictive, ReplicatesThatAreNoNumbersAreCounted) {
  const Posterior posterior(model_of("poisson_lpmf(n, m)"), make_table({"n"}, {1, 2}));
  const PriorPredictive all = prior_predictive(posterior, 5, {.draws = 200});
  const auto negative =
      std::count_if(all.prior.values.begin(), all.prior.values.end(), [](double m) { return m < 0; });
  EXPECT_GT(negative, 50);
  EXPECT_EQ(all.predictive.num_not_finite, static_cast<std::size_t>(negative));
}

TEST(Predictive, WhatCannotBeIsRefused) {
  const Table rows = make_table({"y"}, std::vector<double>(200000, 1.0));
  const RowSimulator simulator(ModelSpec{"gaussian_mixture", 1, "diagonal"}, rows);
  const DrawSet set = normal_draws(4, 1000, {{1, 0}, {0, 0}, {1, 0}});
  EXPECT_EQ(refusal([&] { posterior_predictive(simulator, set, 1, {.draws = 0}); }),
            "predictive draws: 0 of each chain is out of range; allowed: 1 or more");
  EXPECT_EQ(refusal([&] { posterior_predictive(simulator, set, 1, {.draws = 1000}); }),
            "predictive draws: 1000 of each of 4 chains with 200000 rows of 1 column take 6.4 GB; allowed: "
            "at most 156 "
            "of each chain");
  // By default there are as many replicates as take 160 MB.
  EXPECT_EQ(posterior_predictive(simulator, set, 1).draws.size(), 25u);
  EXPECT_EQ(refusal([&] {
              RowSimulator(ModelSpec{"student_t_mixture", 2, "diagonal"}, rows);
            }),
            "model student_t_mixture: rows can be simulated of Gaussian components only");
  const Posterior posterior(line(), read_table(kFaithful));
  const Posterior other(model_of("normal_lpdf(waiting, m, 1)"), read_table(kFaithful));
  const Draws draws = sample(posterior, {.chains = 2, .draws = 5, .warmup = 20});
  EXPECT_EQ(refusal([&] { posterior_predictive(other, draws); }),
            "the draws have other parameters than the posterior");
}

}  // namespace
}  // namespace emomc
