#include "softmax_model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "synthetic_voice.hpp"

namespace emomc {
namespace {

using Eigen::MatrixXd;

// Returns the rows of data/make_softmax.py.
SoftmaxProblem problem_of(double precision) {
  SoftmaxProblem problem;
  problem.num_classes = 4;
  problem.precision = precision;
  problem.x = MatrixXd::Ones(40, 4);
  problem.row_weight = Eigen::VectorXd::Ones(40);
  testing::Noise noise;
  for (int i = 0; i < 40; ++i) {
    problem.truth.push_back(i % 4);
    for (int j = 0; j < 3; ++j) problem.x(i, j) = 4 * noise.next();
    problem.x(i, 0) += 0.7 * (i % 4 - 1.5);
    if (i % 4 == 2) problem.row_weight(i) = 1.5;
  }
  return problem;
}

TEST(SoftmaxModel, ContrastsAreOrthonormalAndSumToZero) {
  for (const int classes : {2, 3, 7}) {
    const MatrixXd c = contrasts(classes);
    EXPECT_LT((c.transpose() * c - MatrixXd::Identity(classes - 1, classes - 1)).norm(), 1e-14);
    EXPECT_LT(c.colwise().sum().norm(), 1e-14);
  }
}

TEST(SoftmaxModel, ModeIsThatOfSciPy) {
  std::ifstream file(EMOMC_SOURCE_DIR "/tests/libspeech/data/softmax.json");
  const auto reference = nlohmann::json::parse(file);
  for (const auto& one : reference["modes"]) {
    const SoftmaxProblem problem = problem_of(one["precision"].get<double>());
    const MatrixXd mode = softmax_mode(problem, MatrixXd::Zero(4, 3)) * contrasts(4).transpose();
    for (int j = 0; j < 4; ++j)
      for (int k = 0; k < 4; ++k) EXPECT_NEAR(mode(j, k), one["weights"][j][k].get<double>(), 1e-5);
  }
}

TEST(SoftmaxModel, GradientIsTheSlopeOfTheDensity) {
  const SoftmaxProblem problem = problem_of(0.3);
  const SoftmaxDensity density(problem);
  MatrixXd weights(4, 6), gradient, unused;  // two sets of weights
  testing::Noise noise;
  for (int i = 0; i < weights.size(); ++i) weights.data()[i] = noise.next();
  Eigen::VectorXd value, above, below;
  density.evaluate(weights, value, gradient);
  ASSERT_EQ(value.size(), 2);
  for (int i = 0; i < weights.size(); ++i) {
    const double kept = weights.data()[i], step = 1e-5;
    weights.data()[i] = kept + step;
    density.evaluate(weights, above, unused);
    weights.data()[i] = kept - step;
    density.evaluate(weights, below, unused);
    weights.data()[i] = kept;
    const int set = i / 12;
    EXPECT_NEAR(gradient.data()[i], (above(set) - below(set)) / (2 * step), 1e-6);
    EXPECT_EQ(above(1 - set), value(1 - set));
  }
}

TEST(SoftmaxModel, CurvatureIsTheSlopeOfTheGradient) {
  const SoftmaxProblem problem = problem_of(0.3);
  const SoftmaxDensity density(problem);
  MatrixXd at(4, 3), direction(4, 3), above, below;
  testing::Noise noise;
  for (int i = 0; i < 12; ++i) at.data()[i] = noise.next();
  for (int i = 0; i < 12; ++i) direction.data()[i] = noise.next();
  Eigen::VectorXd value;
  const double step = 1e-5;
  density.evaluate(at + step * direction, value, above);
  density.evaluate(at - step * direction, value, below);
  const MatrixXd product = density.curvature_times(density.probabilities(at), direction);
  EXPECT_LT((product + (above - below) / (2 * step)).norm(), 1e-7);
}

// With two classes, one column and an intercept, the parameters of the posterior form a plane, over which the
// reference integrates.
class SoftmaxPosterior : public ::testing::TestWithParam<double> {};

TEST_P(SoftmaxPosterior, HasTheMomentsOfAnIntegralOverThePlane) {
  SoftmaxProblem problem;
  problem.num_classes = 2;
  problem.precision = 0.2;
  problem.x = MatrixXd::Ones(12, 2);
  problem.row_weight = Eigen::VectorXd::Ones(12);
  testing::Noise noise;
  for (int i = 0; i < 12; ++i) {
    problem.truth.push_back(i % 2);
    problem.x(i, 0) = 3 * noise.next() + i % 2;
  }
  const SoftmaxDensity density(problem);
  const MatrixXd mode = softmax_mode(problem, MatrixXd::Zero(2, 1));
  Eigen::VectorXd highest;
  MatrixXd unused;
  density.evaluate(mode, highest, unused);
  Eigen::Array2d mean = Eigen::Array2d::Zero(), square = Eigen::Array2d::Zero();
  double total = 0;
  const double temperature = GetParam(), width = std::sqrt(temperature);
  for (int a = -300; a <= 300; ++a)
    for (int b = -300; b <= 300; ++b) {
      const MatrixXd point = mode + width * MatrixXd{{0.05 * a}, {0.05 * b}};
      Eigen::VectorXd value;
      density.evaluate(point, value, unused);
      const double p = std::exp((value(0) - highest(0)) / temperature);
      total += p;
      mean += p * point.col(0).array();
      square += p * point.col(0).array().square();
    }
  mean /= total;
  const Eigen::Array2d sd = (square / total - mean.square()).sqrt();
  HmcSampling sampling;
  sampling.num_chains = 8;
  sampling.draws = 4000;
  sampling.temperature = temperature;
  sampling.seed = 5;
  const SoftmaxDraws draws = sample_softmax(problem, mode, sampling);
  ASSERT_EQ(draws.weights.size(), 32000u);
  Eigen::Array2d drawn_mean = Eigen::Array2d::Zero(), drawn_square = Eigen::Array2d::Zero();
  for (const MatrixXd& weights : draws.weights) {
    drawn_mean += weights.col(0).array() / 32000;
    drawn_square += weights.col(0).array().square() / 32000;
  }
  const Eigen::Array2d drawn_sd = (drawn_square - drawn_mean.square()).sqrt();
  // There are at least 5,000 effective draws. The bound on a mean is five standard errors, 5 / sqrt(5000)
  // sds. The same bound is used for an sd, whose standard error is sd / sqrt(2 n) for a normal distribution,
  // and here at most twice that.
  for (int i = 0; i < 2; ++i) {
    EXPECT_NEAR(drawn_mean(i), mean(i), 5 * sd(i) / std::sqrt(5000.0));
    EXPECT_NEAR(drawn_sd(i), sd(i), 5 * sd(i) / std::sqrt(5000.0));
  }
  EXPECT_GT(draws.acceptance, 0.6);
}

INSTANTIATE_TEST_SUITE_P(Temperatures, SoftmaxPosterior, ::testing::Values(1.0, 0.0625));

TEST(SoftmaxModel, DrawsDependOnSeedAndStreamAlone) {
  const SoftmaxProblem problem = problem_of(0.3);
  const MatrixXd mode = softmax_mode(problem, MatrixXd::Zero(4, 3));
  HmcSampling sampling;
  sampling.warmup = 20;
  sampling.draws = 10;
  const SoftmaxDraws one = sample_softmax(problem, mode, sampling),
                     again = sample_softmax(problem, mode, sampling);
  EXPECT_EQ(one.weights, again.weights);
  sampling.stream = 1;
  EXPECT_NE(sample_softmax(problem, mode, sampling).weights[0], one.weights[0]);
  sampling.stream = 0;
  sampling.seed = 1;
  EXPECT_NE(sample_softmax(problem, mode, sampling).weights[0], one.weights[0]);
}

}  // namespace
}  // namespace emomc
