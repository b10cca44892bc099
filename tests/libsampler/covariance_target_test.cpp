// Tests covariances diag(s) R diag(s) with LKJ priors, and priors whose arguments are sampled, too.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numbers>
#include <numeric>

#include "emomc/core/errors.hpp"
#include "emomc/device/normal_tail.hpp"
#include "emomc/likelihood/engines.hpp"
#include "emomc/likelihood/parameter_file.hpp"
#include "emomc/sampler/diagnostics.hpp"
#include "function_engine.hpp"
#include "keeper.hpp"
#include "mixture_target.hpp"

namespace emomc {
namespace {

using testing::number;
const std::vector<double> kUnitSd(16, 1.0);
const ArrayArgument kSampled{{}, {}, true};

PriorSet covariance_prior(double eta = 2.5) {
  PriorSet prior = testing::mixture_prior();
  prior.blocks["correlations"] = {PriorFamily::lkj, {number(eta)}};
  return prior;
}

// Returns priors of means and scales from common distributions whose arguments are sampled.
PriorSet hierarchical_prior(double eta = 2.5) {
  PriorSet prior = covariance_prior(eta);
  prior.blocks["means"] = {PriorFamily::normal, {kSampled, kSampled}};
  prior.blocks["means.mean"] = {PriorFamily::normal, {number(0.3), number(2)}};
  prior.blocks["means.sd"] = {PriorFamily::half_normal, {number(1.5)}};
  prior.blocks["scales"] = {PriorFamily::lognormal, {kSampled, number(0.7)}};
  prior.blocks["scales.meanlog"] = {PriorFamily::normal, {number(-0.2), number(1)}};
  return prior;
}

Target target_of(const std::string& covariance, int K, int d, const PriorSet& prior) {
  return Target(model_layout({"gaussian_mixture", K, covariance}, d), prior, kUnitSd);
}

std::vector<double> some_point(const Target& target, double size = 1) {
  std::vector<double> u(static_cast<std::size_t>(target.dim_unconstrained()));
  for (std::size_t i = 0; i < u.size(); ++i) u[i] = size * std::sin(1.0 + 2.7 * static_cast<double>(i));
  return u;
}

// Returns the coordinates of theta on which priors are densities: scales and correlations of a covariance,
// and all weights but the last.
std::vector<double> prior_coordinates(const Target& target, const std::vector<double>& theta) {
  std::vector<double> result;
  for (std::size_t b = 0; b < target.layout().blocks.size(); ++b) {
    const ParameterBlock& block = target.layout().blocks[b];
    const double* values = theta.data() + target.layout().offset(b);
    if (block.support != Support::covariance) {
      const int count = block.support == Support::simplex ? block.size() - 1 : block.size();
      result.insert(result.end(), values, values + count);
      continue;
    }
    const int d = block.matrix_dim();
    for (int k = 0; k < block.size() / (d * (d + 1) / 2); ++k) {
      Eigen::MatrixXd L = Eigen::MatrixXd::Zero(d, d);
      for (int i = 0; i < d; ++i)
        for (int j = 0; j <= i; ++j) L(i, j) = *values++;
      const Eigen::MatrixXd sigma = L * L.transpose();
      for (int i = 0; i < d; ++i) {
        result.push_back(std::sqrt(sigma(i, i)));
        for (int j = 0; j < i; ++j) result.push_back(sigma(i, j) / std::sqrt(sigma(i, i) * sigma(j, j)));
      }
    }
  }
  return result;
}

TEST(CovarianceTarget, JacobiansAreThoseOfFiniteDifferences) {
  for (const char* covariance : {"full", "tied"})
    for (const auto& [K, d] : {std::pair{1, 1}, {2, 2}, {2, 3}, {1, 5}})
      for (const bool hierarchical : {false, true}) {
        const Target target =
            target_of(covariance, K, d, hierarchical ? hierarchical_prior() : covariance_prior());
        std::vector<double> u = some_point(target, 1.5), theta(static_cast<std::size_t>(target.dim()));
        const double log_jacobian = target.constrain(u, theta);
        const auto n = static_cast<Eigen::Index>(u.size());
        ASSERT_EQ(prior_coordinates(target, theta).size(), u.size());
        Eigen::MatrixXd jacobian(n, n);
        for (Eigen::Index j = 0; j < n; ++j) {
          const double h = 1e-5, keep = u[static_cast<std::size_t>(j)];
          const auto at = [&](double x) {
            u[static_cast<std::size_t>(j)] = x;
            target.constrain(u, theta);
            const auto c = prior_coordinates(target, theta);
            return Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(c.data(), n));
          };
          jacobian.col(j) = (at(keep + h) - at(keep - h)) / (2 * h);
          u[static_cast<std::size_t>(j)] = keep;
        }
        EXPECT_NEAR(log_jacobian, std::log(std::abs(jacobian.determinant())), 2e-7)
            << covariance << " " << K << " x " << d;
      }
}

TEST(CovarianceTarget, UnconstrainInvertsConstrain) {
  for (const char* covariance : {"full", "tied"}) {
    const Target target = target_of(covariance, 3, 4, hierarchical_prior());
    const std::vector<double> u = some_point(target, 2);
    std::vector<double> theta(static_cast<std::size_t>(target.dim())), back(u.size());
    target.constrain(u, theta);
    target.unconstrain(theta, back);
    for (std::size_t i = 0; i < u.size(); ++i) EXPECT_NEAR(back[i], u[i], 1e-10) << i;
  }
}

TEST(CovarianceTarget, TheStepsDensityIsThatOfTheta) {
  for (const char* covariance : {"full", "tied"})
    for (const bool hierarchical : {false, true}) {
      const Target target =
          target_of(covariance, 2, 4, hierarchical ? hierarchical_prior() : covariance_prior());
      std::vector<double> theta(static_cast<std::size_t>(target.dim()));
      const auto densities = target.constrain_with_prior(some_point(target), theta);
      EXPECT_NEAR(densities.log_prior, target.log_prior(theta), 1e-11 * std::abs(densities.log_prior));
    }
}

TEST(CovarianceTarget, DensitiesAreThoseOfScipy) {
  std::ifstream file(EMOMC_SOURCE_DIR "/tests/libsampler/data/hierarchical.json");
  const auto cases = nlohmann::json::parse(file);
  ASSERT_EQ(cases.size(), 5u);
  for (const auto& entry : cases) {
    const auto& parameters = entry["parameters"];
    const int K = static_cast<int>(parameters["weights"].size());
    const int d = static_cast<int>(parameters["means"][0].size());
    PriorSet prior = hierarchical_prior(entry["eta"]);
    if (entry["kind"] == "tied") {
      prior.blocks["means"] = {PriorFamily::student_t, {number(4), kSampled, kSampled}};
      prior.blocks.erase("means.sd");
      prior.blocks["means.scale"] = {PriorFamily::lognormal, {number(0), number(1)}};
      prior.blocks["scales"] = {PriorFamily::half_normal, {kSampled}};
      prior.blocks.erase("scales.meanlog");
      prior.blocks["scales.sd"] = {PriorFamily::exponential, {number(2)}};
    }
    const Target target = target_of(entry["kind"], K, d, prior);
    const auto theta = parse_parameters(parameters.dump(), "case", target.layout());
    EXPECT_NEAR(target.log_prior(theta), entry["log_density"], 1e-8) << entry.dump();
  }
}

TEST(CovarianceTarget, NormalTailsAreThoseOfErfc) {
  for (int i = 0; i < 445; ++i) {
    const double z = -40 + 0.173 * i;
    const double expected = z < 0 ? std::log1p(-0.5 * std::erfc(-z / std::numbers::sqrt2))
                                  : std::log(0.5 * std::erfc(z / std::numbers::sqrt2));
    EXPECT_NEAR(device::log_normal_tail(z), expected, 1e-15 * (4 + z * z) * std::abs(expected) + 1e-300) << z;
  }
}

// The correlations of LKJ(eta) in d dimensions are distributed as 2 Beta(b, b) - 1 with b = eta - 1 + d / 2,
// with variance 1 / (2 b + 1). The bounds are 5.5 standard errors, which gives a false alarm for 4e-8 of all
// seeds each.
TEST(CovarianceTarget, DrawsFromThePriorHaveItsMoments) {
  constexpr int draws = 20000;
  for (const double eta : {0.6, 1.0, 3.0}) {
    const int d = 4;
    const Target target = target_of("tied", 1, d, covariance_prior(eta));
    Eigen::MatrixXd squares = Eigen::MatrixXd::Zero(d, d);
    for (std::uint32_t i = 0; i < draws; ++i) {
      const auto c = prior_coordinates(target, target.draw_from_prior(4, i, 0));
      std::size_t at = d;  // after the means
      for (int row = 0; row < d; ++row) {
        ++at;
        for (int j = 0; j < row; ++j, ++at) squares(row, j) += c[at] * c[at] / draws;
      }
    }
    const double b = eta - 1 + 0.5 * d, variance = 1 / (2 * b + 1);
    const double fourth = 3 / ((2 * b + 1) * (2 * b + 3));
    for (int row = 0; row < d; ++row)
      for (int j = 0; j < row; ++j)
        EXPECT_NEAR(squares(row, j), variance, 5.5 * std::sqrt((fourth - variance * variance) / draws));
  }
  const Target hierarchical = target_of("full", 2, 3, hierarchical_prior());
  for (std::uint32_t i = 0; i < 50; ++i)
    EXPECT_TRUE(std::isfinite(hierarchical.log_prior(hierarchical.draw_from_prior(1, i, 0))));
}

// A run without data samples the prior. This tests transforms, Jacobians and densities together. The bounds
// are 6 Monte Carlo standard errors, which gives a false alarm for 2e-9 of all seeds each.
TEST(CovarianceTarget, RunsWithoutDataSampleThePrior) {
  const double eta = 1.5;
  const int d = 3;
  PriorSet prior = hierarchical_prior(eta);
  prior.blocks["weights"] = {PriorFamily::dirichlet, {number(1)}};
  const Target target = target_of("tied", 1, d, prior);
  const auto device = make_host_device();
  testing::FunctionEngine engine(*device, model_layout({"gaussian_mixture", 1, "tied"}, d),
                                 [](const double*) { return 0.0; });
  testing::Keeper keeper;
  RunOptions options;
  options.warmup = 2000;
  options.draws = 20000;
  options.seed = 8;
  std::vector<ChainPlan> plans;
  std::vector<double> starts;
  for (std::uint64_t c = 0; c < 8; ++c) {
    plans.push_back({c, {}, 1.0, 0});
    const auto start = target.draw_from_prior(9, static_cast<std::uint32_t>(c), 0);
    starts.insert(starts.end(), start.begin(), start.end());
  }
  run_chains(engine, target, {}, plans, options, starts, keeper);
  const auto dim = static_cast<std::size_t>(target.dim());
  std::vector<std::vector<double>> coordinates;
  for (std::size_t i = 0; i < keeper.theta.size(); i += dim) {
    auto c = prior_coordinates(target, {keeper.theta.begin() + static_cast<std::ptrdiff_t>(i),
                                        keeper.theta.begin() + static_cast<std::ptrdiff_t>(i + dim)});
    coordinates.push_back(std::move(c));
  }
  // The coordinates have the order of prior_coordinates: means [3], then s_0, s_1, r_10, s_2, r_20, r_21,
  // then means.mean [3], means.sd [3], scales.meanlog [3].
  const auto expect_mean = [&](const char* what, double expected, const auto& value) {
    std::vector<double> x;
    for (const auto& c : coordinates) x.push_back(value(c));
    const DrawsView view{x.data(), 20000, 8, 8, 1};
    const double mean = std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
    EXPECT_NEAR(mean, expected, 6 * mcse_mean(view)) << what << ", ESS " << ess_mean(view);
    EXPECT_GT(ess_bulk(view), 400) << what;
  };
  const double variance = 1 / (2 * eta + d - 1);
  for (const std::size_t r : {5u, 7u, 8u})
    expect_mean("a squared correlation", variance, [r](const auto& c) { return c[r] * c[r]; });
  expect_mean("a mean's mean", 0.3, [](const auto& c) { return c[9]; });
  expect_mean("its square", 0.09 + 4, [](const auto& c) { return c[9] * c[9]; });
  expect_mean("a mean's sd, squared", 2.25, [](const auto& c) { return c[12] * c[12]; });
  expect_mean("a mean's distance", 2.25, [](const auto& c) { return (c[0] - c[9]) * (c[0] - c[9]); });
  expect_mean("a meanlog", -0.2, [](const auto& c) { return c[15]; });
}

TEST(CovarianceTarget, FixedPartsStayWhereTheyAre) {
  PriorSet prior = covariance_prior();
  prior.blocks["correlations"] = {PriorFamily::fixed, {{{2, 2}, {1, 0.5, 0.5, 1}}}};
  Target target = target_of("tied", 1, 2, prior);
  EXPECT_EQ(target.dim_unconstrained(), 2 + 2);
  prior.blocks["scales"] = {PriorFamily::fixed, {{{2}, {2, 3}}}};
  target = target_of("tied", 1, 2, prior);
  EXPECT_EQ(target.dim_unconstrained(), 2);
  std::vector<double> theta(static_cast<std::size_t>(target.dim()));
  target.constrain(std::vector<double>{0.1, 0.2}, theta);
  to_written(target.layout(), theta);
  EXPECT_NEAR(theta[3], 4, 1e-15);
  EXPECT_NEAR(theta[4], 3, 1e-15);
  EXPECT_NEAR(theta[5], 9, 1e-15);
  prior.blocks["correlations"] = {PriorFamily::fixed, {{{2, 2}, {1, 1.5, 1.5, 1}}}};
  EXPECT_THROW(target_of("tied", 1, 2, prior), InputError);
}

TEST(CovarianceTarget, ArgumentsOfSomeFamiliesOnlyAreSampled) {
  PriorSet prior = covariance_prior();
  prior.blocks["scales"] = {PriorFamily::gamma, {number(2), kSampled}};
  prior.blocks["scales.rate"] = {PriorFamily::half_normal, {number(1)}};
  EXPECT_THROW(target_of("full", 2, 2, prior), InputError);
  prior.blocks["scales"] = {PriorFamily::exponential, {kSampled}};
  EXPECT_NO_THROW(target_of("full", 2, 2, prior));
  prior.blocks.erase("scales.rate");
  EXPECT_THROW(target_of("full", 2, 2, prior), InputError);
}

TEST(CovarianceTarget, MoveInsideReachesTheSupport) {
  PriorSet prior = covariance_prior();
  prior.order = "means";
  const Target target = target_of("full", 2, 2, prior);
  std::vector<double> theta{0.5, 0.5, 3, 0, -1, 0, 0.01, 0, 0, 0.5, 0.1, 0.7};
  EXPECT_FALSE(std::isfinite(target.log_prior(theta)));
  target.move_inside(theta);
  EXPECT_TRUE(std::isfinite(target.log_prior(theta)));
  EXPECT_EQ(theta[2], -1);
  EXPECT_NEAR(theta[6], 0.5, 1e-15);  // scale of the component that was first
}

TEST(CovarianceTarget, WrittenMatricesReadBack) {
  const ParameterLayout layout = model_layout({"gaussian_mixture", 2, "full"}, 3);
  const Target target = target_of("full", 2, 3, covariance_prior());
  std::vector<double> theta(static_cast<std::size_t>(target.dim()));
  target.constrain(some_point(target), theta);
  const auto back = parse_parameters(parameters_to_json(layout, theta), "written", layout);
  for (std::size_t i = 0; i < theta.size(); ++i)
    EXPECT_NEAR(back[i], theta[i], 1e-13 * (1 + std::abs(theta[i])));
  const auto names = element_names(layout);
  EXPECT_EQ(names.size(), theta.size());
  EXPECT_EQ(names[8], "covariances[0,0,0]");
  EXPECT_EQ(names[9], "covariances[0,1,0]");
  EXPECT_EQ(names.back(), "covariances[1,2,2]");
}

}  // namespace
}  // namespace emomc
