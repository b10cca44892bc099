// Compares EM with scikit-learn from the same starts, and tests properties that every fit must have.
#include "emomc/likelihood/mixture_fit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "emomc/core/errors.hpp"
#include "emomc/likelihood/parameter_file.hpp"
#include "random_mixture.hpp"

namespace emomc {
namespace {

using testing::Evaluator;

class Fit : public ::testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    if (GetParam() == Backend::cuda && !testing::has_gpu()) GTEST_SKIP() << "no GPU";
  }
  FitResult fit(const ModelSpec& model, const DataSet& data, const std::vector<double>& start,
                const FitOptions& options = {}, int threads = 0) const {
    const auto device = make_device(GetParam());
    return make_fitter(GetParam(), model, data, *device, threads)->fit(start, options);
  }
};

INSTANTIATE_TEST_SUITE_P(Backends, Fit, ::testing::Values(Backend::cpu, Backend::cuda),
                         [](const auto& backend) {
                           return std::string(backend.param == Backend::cpu ? "cpu" : "cuda");
                         });

TEST_P(Fit, ReachesScikitLearnsLogLikelihood) {
  std::ifstream file(EMOMC_SOURCE_DIR "/tests/liblikelihood/data/fit.json");
  const auto cases = nlohmann::json::parse(file);
  ASSERT_EQ(cases.size(), 7u);
  for (const auto& entry : cases) {
    std::vector<double> values;
    for (const auto& row : entry["rows"])
      for (double x : row) values.push_back(x);
    const auto data = DataSet::single_segment(static_cast<int>(entry["rows"][0].size()), values);
    const std::string start = entry["start"].dump();
    const ModelSpec model = model_of_parameters(start, "start", "gaussian_mixture");
    const auto theta = parse_parameters(start, "start", model_layout(model, data.dim));
    FitOptions options;
    options.max_rounds = 2;
    const double two = entry["two_rounds"], converged = entry["converged"];
    EXPECT_NEAR(fit(model, data, theta, options).log_likelihood, two, 1e-10 * std::abs(two))
        << model.covariance;
    options.max_rounds = 20000;
    options.tolerance = 1e-14;
    const FitResult result = fit(model, data, theta, options);
    EXPECT_TRUE(result.converged);
    EXPECT_NEAR(result.log_likelihood, converged, 1e-8 * std::abs(converged)) << model.covariance;
    // The reported log likelihood is that of the reference engine.
    EXPECT_NEAR(Evaluator(Backend::reference, model, Precision::float64, data)(result.theta)[0],
                result.log_likelihood, 1e-11 * std::abs(converged));
  }
}

TEST_P(Fit, EachRoundRaisesTheLogLikelihood) {
  for (const std::string covariance : {"spherical", "diagonal", "tied", "full"}) {
    auto p = testing::random_problem(4, 3, 2000, 3);
    const ModelSpec model{"gaussian_mixture", 4, covariance};
    std::vector<double> theta(p.theta.begin(), p.theta.begin() + 4 + 12);
    for (double& mean : theta) mean += 0.1;
    for (int k = 0; k < 4; ++k) theta[static_cast<std::size_t>(k)] = 0.25;
    const auto layout = model_layout(model, 3);
    while (theta.size() < static_cast<std::size_t>(layout.dim())) {
      if (covariance == "spherical" || covariance == "diagonal") {
        theta.push_back(2);
      } else {
        theta.insert(theta.end(), {2, 0, 2, 0, 0, 2});
      }
    }
    FitOptions one;
    one.max_rounds = 1;
    double before = -INFINITY;
    for (int round = 0; round < 30; ++round) {
      const FitResult result = fit(model, p.data, theta, one);
      EXPECT_GE(result.log_likelihood, before) << covariance << ", round " << round;
      before = result.log_likelihood;
      theta = result.theta;
    }
  }
}

// A round that lowers the objective much, or makes it NaN, does not end a fit as converged.
TEST_P(Fit, AFallOfTheObjectiveIsNoConvergence) {
  const ModelSpec model{"gaussian_mixture", 1};
  const auto data = DataSet::single_segment(1, {-1, 0, 1, 2, 3});
  const std::vector<double> start{1, 1, 1.5};
  for (const double scale : {15.0, static_cast<double>(NAN)}) {
    FitOptions options;
    options.raise = [scale](std::span<const double> theta, const auto&) {
      std::vector<double> worse(theta.begin(), theta.end());
      worse[2] = scale;
      return worse;
    };
    const FitResult result = fit(model, data, start, options);
    EXPECT_FALSE(result.converged) << scale;
    EXPECT_EQ(result.theta, start) << scale;
    EXPECT_EQ(result.rounds, 1) << scale;
  }
}

TEST_P(Fit, TwoGaussiansAreAtAStationaryPoint) {
  const ModelSpec model{"two_gaussian", 2};
  const std::vector<double> truth{0.7, 0.3, 0.8, 2.2};
  const auto data = DataSet::single_segment(1, simulate_rows(model, 1, truth, 20000, 3));
  FitOptions options;
  options.tolerance = 1e-14;
  const FitResult result = fit(model, data, {0.5, 0, 0.5, 3}, options);
  Evaluator reference(Backend::reference, model, Precision::float64, data);
  for (std::size_t i = 0; i < 4; ++i) {
    const double h = 1e-4;
    auto above = result.theta, below = result.theta;
    above[i] += h;
    below[i] -= h;
    // The fit is within 2e-2 posterior sds of the maximum: slope over curvature, in units of 1 /
    // sqrt(curvature).
    const double up = reference(above)[0], down = reference(below)[0], here = result.log_likelihood;
    const double slope = (up - down) / (2 * h), bend = -(up - 2 * here + down) / (h * h);
    EXPECT_GT(bend, 0);
    EXPECT_LT(std::abs(slope) / std::sqrt(bend), 2e-2) << i;
  }
}

// Three rows are equal: without a floor of the scales the likelihood has no maximum.
TEST_P(Fit, ScalesAreHeldAboveTheirFloor) {
  std::vector<double> values{1, 1, 1, 5, 6, 7, 8, 9};
  const auto data = DataSet::single_segment(1, values);
  FitOptions options;
  options.smallest_scale = {0.05};
  for (const std::string covariance : {"diagonal", "full"}) {
    const FitResult result = fit({"gaussian_mixture", 2, covariance}, data, {0.5, 0.5, 1, 7, 1, 1}, options);
    EXPECT_TRUE(std::isfinite(result.log_likelihood));
    EXPECT_GE(result.theta[4], 0.05 * (1 - 1e-12)) << covariance;
    EXPECT_LT(result.theta[4], 0.1) << covariance;
  }
}

TEST_P(Fit, BitsDoNotDependOnThreads) {
  const auto p = testing::random_problem(5, 4, 7000, 8);
  const ModelSpec model{"gaussian_mixture", 5};
  FitOptions options;
  options.max_rounds = 20;
  const auto one = fit(model, p.data, p.theta, options, 1);
  for (int threads : {2, 3}) EXPECT_EQ(fit(model, p.data, p.theta, options, threads).theta, one.theta);
}

TEST_P(Fit, AStartWithoutADensityIsRefused) {
  const auto p = testing::random_problem(2, 2, 100, 8);
  auto theta = p.theta;
  theta[2] = std::nan("");
  EXPECT_THROW(fit({"gaussian_mixture", 2}, p.data, theta), InputError);
}

}  // namespace
}  // namespace emomc
