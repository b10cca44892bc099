// Tests likelihoods of the user's own on every engine: compares their values with formulas in this file, and
// their posteriors with quadrature.
#include "emomc/likelihood/density_model.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "../../docs/examples/poisson_regression.hpp"
#include "decay_density.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/likelihood/engines.hpp"
#include "emomc/sampler/diagnostics.hpp"
#include "keeper.hpp"
#include "liblikelihood/random_mixture.hpp"
#include "mixture_target.hpp"

namespace emomc {
namespace {

const std::string kHeader = EMOMC_SOURCE_DIR "/docs/examples/poisson_regression.hpp";

std::shared_ptr<const RowModel> model() {
  static const auto shared = std::make_shared<DensityModel<PoissonRegression>>(kHeader);
  return shared;
}

/// Returns a model of the same header that is compiled with a gradient.
std::shared_ptr<const RowModel> compiled_model() {
  static const auto shared = compile_density(kHeader, "PoissonRegression");
  return shared;
}

/// Returns rows of x1, x2, y and log(y!).
DataSet counts(std::size_t num_rows) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  std::vector<double> rows;
  for (std::size_t i = 0; i < num_rows; ++i) {
    const double x1 = normal(random), x2 = normal(random);
    const double y = std::poisson_distribution<int>(std::exp(0.5 + 0.3 * x1 - 0.2 * x2))(random);
    rows.insert(rows.end(), {x1, x2, y, std::lgamma(y + 1)});
  }
  return DataSet::single_segment(4, rows);
}

double log_poisson(const double* row, const Eigen::Vector3d& theta) {
  const double mean = std::exp(theta[0] + theta[1] * row[0] + theta[2] * row[1]);
  return row[2] * std::log(mean) - mean - std::lgamma(row[2] + 1);
}

constexpr std::size_t kChains = 8;

std::vector<ChainPlan> chains(std::size_t count) {
  std::vector<ChainPlan> plans;
  for (std::uint64_t c = 0; c < count; ++c) plans.push_back({c, {0}, 1.0, 0});
  return plans;
}

/// Returns options with which the posteriors below have an ESS of some thousands.
RunOptions long_run() {
  RunOptions options;
  options.warmup = 1000;
  options.draws = 4000;
  options.thin = 5;
  options.seed = 4;
  return options;
}

/// Returns a view of the values of kChains chains, one chain after the other.
DrawsView by_chain(const std::vector<double>& values) {
  const std::size_t draws = values.size() / kChains;
  return {values.data(), draws, kChains, 1, static_cast<std::ptrdiff_t>(draws)};
}

class UserDensity : public ::testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    if (GetParam() == Backend::cuda && !testing::has_gpu()) GTEST_SKIP() << "no GPU";
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, UserDensity,
                         ::testing::Values(Backend::reference, Backend::cpu, Backend::cuda),
                         [](const auto& backend) {
                           return backend.param == Backend::reference ? "reference"
                                  : backend.param == Backend::cpu     ? "cpu"
                                                                      : "cuda";
                         });

TEST_P(UserDensity, RowsSegmentsAndChainsHaveTheValuesOfTheFormula) {
  DataSet data = counts(5000);
  data.segments = {{0, 1}, {1, 2999}, {3000, 2000}};
  const Eigen::Vector3d theta(0.4, 0.35, -0.1);
  std::vector<double> expected, sums(3, 0.0);
  for (std::size_t s = 0; s < 3; ++s)
    for (std::size_t i = 0; i < data.segments[s].num_rows; ++i) {
      expected.push_back(log_poisson(&data.values[4 * (data.segments[s].first_row + i)], theta));
      sums[s] += expected.back();
    }
  const auto device = make_device(GetParam());
  for (const auto& [precision, tolerance] :
       {std::pair{Precision::float64, 1e-12}, {Precision::mixed, 3e-6}}) {
    const auto engine = make_engine(GetParam(), model(), precision, data, *device);
    std::vector<double> rows(data.num_rows), segments(3);
    engine->evaluate_rows(theta.data(), rows.data());
    for (std::size_t i = 0; i < rows.size(); ++i)
      ASSERT_NEAR(rows[i], expected[i], tolerance * (1 + std::abs(expected[i]))) << "row " << i;
    engine->sums_by_segment(theta.data(), 1, segments.data());
    for (std::size_t s = 0; s < 3; ++s)
      EXPECT_NEAR(segments[s], sums[s], tolerance * (1 + std::abs(sums[s]))) << "segment " << s;
    // The chains read different segments.
    const std::vector<ChainPlan> plans{{0, {0, 1, 2}, 1, 0}, {1, {2}, 1, 0}, {2, {}, 1, 0}};
    engine->allocate(plans, ComponentCaches::on);
    DeviceArray<double> points(*device, 9), values(*device, 3);
    std::vector<double> all;
    for (int c = 0; c < 3; ++c) all.insert(all.end(), theta.data(), theta.data() + 3);
    points.upload(all);
    engine->evaluate({3, 3, 3, points.data(), values.data()}, {nullptr, 3});
    const std::vector<double> chains = values.download();
    EXPECT_NEAR(chains[0], sums[0] + sums[1] + sums[2], tolerance * std::abs(chains[0]));
    EXPECT_NEAR(chains[1], sums[2], tolerance * std::abs(chains[1]));
    EXPECT_EQ(chains[2], 0);
  }
}

TEST_P(UserDensity, ACompiledHeaderHasTheValuesAndTheGradientOfTheFormula) {
  const DataSet data = counts(3000);
  const Eigen::Vector3d theta(0.4, 0.35, -0.1);
  double value = 0;
  Eigen::Vector3d gradient = Eigen::Vector3d::Zero();
  for (std::size_t i = 0; i < data.num_rows; ++i) {
    const double* row = &data.values[4 * i];
    const Eigen::Vector3d x(1, row[0], row[1]);
    value += log_poisson(row, theta);
    gradient += (row[2] - std::exp(x.dot(theta))) * x;
  }
  ASSERT_EQ(compiled_model()->why_no_gradient(), "");
  ASSERT_EQ(compiled_model()->layout().blocks.size(), 2u);
  EXPECT_EQ(compiled_model()->layout().blocks[1].shape, model()->layout().blocks[1].shape);
  const auto device = make_device(GetParam());
  const auto engine = make_engine(GetParam(), compiled_model(), Precision::float64, data, *device);
  engine->allocate(std::vector<ChainPlan>{{0, {0}, 1, 0}}, ComponentCaches::off);
  engine->allocate_gradients();
  DeviceArray<double> point(*device, 3), slopes(*device, 3), log_likelihood(*device, 1);
  point.upload(std::vector<double>(theta.data(), theta.data() + 3));
  engine->evaluate_with_gradient({1, 3, 3, point.data(), log_likelihood.data()}, {slopes.data(), 3},
                                 {nullptr, 1});
  EXPECT_NEAR(log_likelihood.download()[0], value, 1e-12 * std::abs(value));
  for (int j = 0; j < 3; ++j)
    EXPECT_NEAR(slopes.download()[static_cast<std::size_t>(j)], gradient[j], 1e-9) << j;
}

TEST(DensityModel, ATypeThatAHeaderDoesNotDefineIsNamed) {
  try {
    compile_density(kHeader, "Poison");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("Poison"), std::string::npos) << error.what();
  }
}

TEST_P(UserDensity, DataOfAnotherWidthAreRefused) {
  const auto device = make_device(GetParam());
  try {
    make_engine(GetParam(), model(), Precision::float64, DataSet::single_segment(3, {1, 2, 3}), *device);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "the data have 3 columns; the likelihood takes 4");
  }
}

struct Posterior {
  Eigen::Vector3d mode, mean, sd;
};

/// Computes moments by a product of Gauss-Hermite rules about the mode, with 13 points each in the directions
/// of the Hessian.
Posterior by_quadrature(const DataSet& data, double prior_sd) {
  const auto log_posterior = [&](const Eigen::Vector3d& theta) {
    double sum = -0.5 * theta.squaredNorm() / (prior_sd * prior_sd);
    for (std::size_t i = 0; i < data.num_rows; ++i) sum += log_poisson(&data.values[4 * i], theta);
    return sum;
  };
  Posterior p;
  p.mode.setZero();
  Eigen::Matrix3d hessian;
  for (int step = 0; step < 30; ++step) {
    Eigen::Vector3d gradient = -p.mode / (prior_sd * prior_sd);
    hessian = Eigen::Matrix3d::Identity() / (prior_sd * prior_sd);
    for (std::size_t i = 0; i < data.num_rows; ++i) {
      const double* row = &data.values[4 * i];
      const Eigen::Vector3d x(1, row[0], row[1]);
      const double mean = std::exp(x.dot(p.mode));
      gradient += (row[2] - mean) * x;
      hessian += mean * x * x.transpose();
    }
    p.mode += hessian.ldlt().solve(gradient);
  }
  // By Golub and Welsch, nodes are eigenvalues of the Jacobi matrix of the Hermite polynomials (weight
  // exp(-z^2 / 2)).
  constexpr int kPoints = 13;
  Eigen::MatrixXd jacobi = Eigen::MatrixXd::Zero(kPoints, kPoints);
  for (int i = 1; i < kPoints; ++i) jacobi(i, i - 1) = jacobi(i - 1, i) = std::sqrt(i);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> rule(jacobi);
  const Eigen::Matrix3d root = hessian.llt().matrixU().solve(Eigen::Matrix3d::Identity());
  const double at_mode = log_posterior(p.mode);
  double total = 0;
  Eigen::Vector3d first = Eigen::Vector3d::Zero(), second = Eigen::Vector3d::Zero();
  for (int i = 0; i < kPoints; ++i)
    for (int j = 0; j < kPoints; ++j)
      for (int k = 0; k < kPoints; ++k) {
        const Eigen::Vector3d z(rule.eigenvalues()[i], rule.eigenvalues()[j], rule.eigenvalues()[k]);
        const Eigen::Vector3d theta = p.mode + root * z;
        const auto weight = [&](int n) { return rule.eigenvectors()(0, n) * rule.eigenvectors()(0, n); };
        const double w = weight(i) * weight(j) * weight(k) *
                         std::exp(log_posterior(theta) - at_mode + 0.5 * z.squaredNorm());
        total += w;
        first += w * theta;
        second += w * (theta - p.mode).cwiseAbs2();
      }
  p.mean = first / total;
  p.sd = (second / total - (p.mean - p.mode).cwiseAbs2()).cwiseSqrt();
  return p;
}

// The Markov chain error of a mean is at most sd / sqrt(ESS). Six of these errors for 6 quantities are
// exceeded with a probability below 1e-7.
TEST_P(UserDensity, ThePosteriorIsThatOfQuadrature) {
  constexpr double kPriorSd = 10;
  const DataSet data = counts(300);
  const Posterior expected = by_quadrature(data, kPriorSd);
  const PriorSpec wide{PriorFamily::normal, {{{}, {0}}, {{}, {kPriorSd}}}};
  const Target target(model()->layout(), {{{"a", wide}, {"b", wide}}}, std::vector<double>(4, 1.0));
  for (const char* kind : {"random_walk", "component_wise", "crank_nicolson", "nuts"}) {
    SCOPED_TRACE(kind);
    const auto device = make_device(GetParam());
    const auto used = kind == std::string("nuts") ? compiled_model() : model();
    const auto engine = make_engine(GetParam(), used, Precision::float64, data, *device);
    testing::Keeper keeper;
    run_chains(*engine, target, {kind}, chains(kChains), long_run(), std::vector<double>(24, 0.0), keeper);
    const std::size_t draws = keeper.theta.size() / 3;
    for (int j = 0; j < 3; ++j) {
      std::vector<double> values, squares;
      for (std::size_t c = 0; c < 8; ++c)
        for (std::size_t i = c; i < draws; i += 8)
          values.push_back(keeper.theta[3 * i + static_cast<std::size_t>(j)]);
      for (double x : values) squares.push_back((x - expected.mean[j]) * (x - expected.mean[j]));
      double mean = 0, variance = 0;
      for (double x : values) mean += x / static_cast<double>(draws);
      for (double x : squares) variance += x / static_cast<double>(draws);
      const double ess = ess_mean(by_chain(values)), of_squares = ess_mean(by_chain(squares));
      EXPECT_GT(ess, 400);
      EXPECT_NEAR(mean, expected.mean[j], 6 * expected.sd[j] / std::sqrt(ess)) << "parameter " << j;
      const double sd_of_squares = std::sqrt(2.0) * expected.sd[j] * expected.sd[j];
      EXPECT_NEAR(variance, expected.sd[j] * expected.sd[j], 6 * sd_of_squares / std::sqrt(of_squares))
          << "parameter " << j;
    }
  }
}

// The bits do not depend on batch, threads and form, as with every engine.
TEST_P(UserDensity, ResidentAndLaunchedStepsHaveTheSameBits) {
  const DataSet data = counts(3000);
  const PriorSpec wide{PriorFamily::normal, {{{}, {0}}, {{}, {10}}}};
  const Target target(model()->layout(), {{{"a", wide}, {"b", wide}}}, std::vector<double>(4, 1.0));
  for (const std::size_t count : {1u, 4u, 200u}) {
    std::vector<double> draws[2];
    for (const bool resident : {true, false}) {
      RunOptions options;
      options.warmup = 50;
      options.draws = 20;
      options.seed = 11;
      if (!resident) options.kernels = StepKernels::launched;
      const auto device = make_device(GetParam());
      const auto engine = make_engine(GetParam(), model(), Precision::float64, data, *device);
      testing::Keeper keeper;
      const RunResult result = run_chains(*engine, target, {"component_wise"}, chains(count), options,
                                          std::vector<double>(3 * count, 0.1), keeper);
      if (GetParam() == Backend::cuda) {
        EXPECT_EQ(result.stepping.starts_with("many steps in one kernel"), resident) << result.stepping;
      }
      draws[resident] = keeper.theta;
    }
    ASSERT_EQ(draws[0].size(), draws[1].size());
    EXPECT_EQ(std::memcmp(draws[0].data(), draws[1].data(), draws[0].size() * sizeof(double)), 0)
        << count << " chains";
    if (GetParam() == Backend::reference) break;
  }
}

DataSet decay_times(std::size_t num_rows) {
  std::mt19937_64 random(5);
  std::vector<double> times;
  while (times.size() < num_rows)
    if (const double x = std::exponential_distribution<double>(0.25)(random); x < 10) times.push_back(x);
  return DataSet::single_segment(1, times);
}

double log_decay(double x, double tau) { return -x / tau - std::log(tau) - std::log1p(-std::exp(-10 / tau)); }

std::shared_ptr<const RowModel> decay() {
  static const auto shared =
      std::make_shared<DensityModel<Decay>>(EMOMC_SOURCE_DIR "/tests/libsampler/decay_density.hpp");
  return shared;
}

// This likelihood has prepare(), with a term that all rows share, and points where it is not defined.
TEST_P(UserDensity, WhatIsPreparedIsAddedToEachRow) {
  const DataSet data = decay_times(3000);
  const auto device = make_device(GetParam());
  for (const auto& [precision, tolerance] :
       {std::pair{Precision::float64, 1e-12}, {Precision::mixed, 1e-6}}) {
    const auto engine = make_engine(GetParam(), decay(), precision, data, *device);
    for (const double tau : {0.3, 4.0, 50.0}) {
      double expected = 0, value = 0;
      for (double x : data.values) expected += log_decay(x, tau);
      engine->sums_by_segment(&tau, 1, &value);
      EXPECT_NEAR(value, expected, tolerance * std::abs(expected)) << tau;
      std::vector<double> rows(data.num_rows);
      engine->evaluate_rows(&tau, rows.data());
      EXPECT_NEAR(rows[7], log_decay(data.values[7], tau), tolerance * (10 + std::abs(rows[7])));
    }
    for (const double bad : {-1.0, std::numeric_limits<double>::quiet_NaN()}) {
      double value = 0;
      engine->sums_by_segment(&bad, 1, &value);
      EXPECT_TRUE(std::isnan(value)) << bad;
    }
  }
}

// tau is lognormal about a sampled location, so that log tau has the prior N(0, 1 + 1/4). One block of
// component_wise does not change the likelihood. The bound is 6 standard errors, as above.
TEST_P(UserDensity, ALikelihoodWithASampledPriorArgumentHasItsPosterior) {
  const DataSet data = decay_times(40);
  const auto log_posterior = [&](double tau) {
    double sum = -0.5 * std::log(tau) * std::log(tau) / 1.25 - std::log(tau);
    for (double x : data.values) sum += log_decay(x, tau);
    return sum;
  };
  // The integral is a sum of trapezoids over log tau.
  double total = 0, first = 0, second = 0;
  for (double u = -1; u < 6; u += 1e-3) {
    const double tau = std::exp(u), weight = tau * std::exp(log_posterior(tau) - log_posterior(4));
    total += weight;
    first += weight * u;
    second += weight * u * u;
  }
  const double mean = first / total, sd = std::sqrt(second / total - mean * mean);
  PriorSet prior;
  prior.blocks = {{"tau", {PriorFamily::lognormal, {{{}, {}, true}, {{}, {0.5}}}}},
                  {"tau.meanlog", {PriorFamily::normal, {{{}, {0}}, {{}, {1}}}}}};
  const Target target(decay()->layout(), prior, std::vector<double>(1, 1.0));
  for (const char* kind : {"component_wise", "random_walk"}) {
    SCOPED_TRACE(kind);
    const auto device = make_device(GetParam());
    const auto engine = make_engine(GetParam(), decay(), Precision::float64, data, *device);
    testing::Keeper keeper;
    std::vector<double> starts;
    for (int c = 0; c < 8; ++c) starts.insert(starts.end(), {3.0 + c, 0.5});
    run_chains(*engine, target, {kind}, chains(kChains), long_run(), starts, keeper);
    const std::size_t draws = keeper.theta.size() / 2;
    std::vector<double> logs;
    double sum = 0;
    for (std::size_t c = 0; c < 8; ++c)
      for (std::size_t i = c; i < draws; i += 8) sum += logs.emplace_back(std::log(keeper.theta[2 * i]));
    const double ess = ess_mean(by_chain(logs));
    EXPECT_GT(ess, 400);
    EXPECT_NEAR(sum / static_cast<double>(draws), mean, 6 * sd / std::sqrt(ess));
  }
}

TEST(DensityModel, AHeaderThatCannotBeReadIsNamed) {
  try {
    DensityModel<PoissonRegression> none("no/such/header.hpp");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "no/such/header.hpp: the header of a likelihood cannot be read");
  }
}

}  // namespace
}  // namespace emomc
