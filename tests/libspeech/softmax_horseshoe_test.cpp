#include "softmax_horseshoe.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "rotated_rows.hpp"
#include "synthetic_voice.hpp"

namespace emomc {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using nlohmann::json;

json outside() {
  std::ifstream file(EMOMC_SOURCE_DIR "/tests/libspeech/data/horseshoe.json");
  return json::parse(file);
}

// Returns the rows of data/make_horseshoe.py.
SoftmaxProblem problem_of(const json& about) {
  SoftmaxProblem problem;
  problem.num_classes = about["classes"];
  const int rows = about["rows"], columns = about["columns"];
  problem.x = MatrixXd::Ones(rows, columns + 1);
  problem.row_weight = VectorXd::Ones(rows);
  testing::Noise noise;
  for (int i = 0; i < rows; ++i) {
    const int truth = i % problem.num_classes;
    problem.truth.push_back(truth);
    for (int j = 0; j < columns; ++j) problem.x(i, j) = 3 * noise.next();
    problem.x(i, 0) += 0.8 * (truth - 0.5 * (problem.num_classes - 1));
    if (truth == 1) problem.row_weight(i) = 1.5;
  }
  return problem;
}

HorseshoePrior prior_of(const json& about) { return {about["global_scale"], about["slab_scale"]}; }

VectorXd some_point(Eigen::Index size, double spread) {
  testing::Noise noise;
  VectorXd point(size);
  for (Eigen::Index i = 0; i < size; ++i) point(i) = spread * noise.next();
  return point;
}

TEST(SoftmaxHorseshoe, DensityAndGradientAreThoseOfJax) {
  const json about = outside()["densities"];
  const SoftmaxProblem problem = problem_of(about);
  const HorseshoeDensity density(problem, prior_of(about));
  const auto size = static_cast<Eigen::Index>(about["points"][0]["gradient"].size());
  ASSERT_EQ(density.dim(), size);
  const auto count = static_cast<Eigen::Index>(about["points"].size());
  MatrixXd points(size, count), gradient;
  VectorXd value;
  testing::Noise noise;
  for (Eigen::Index i = 0; i < count; ++i)
    for (Eigen::Index j = 0; j < size; ++j)
      points(j, i) = about["points"][static_cast<std::size_t>(i)]["spread"].get<double>() * noise.next();
  density.evaluate(points, value, gradient);
  for (Eigen::Index i = 0; i < count; ++i) {
    const json& wanted = about["points"][static_cast<std::size_t>(i)];
    // The two densities differ by a constant.
    const double change =
        wanted["log_density"].get<double>() - about["points"][0]["log_density"].get<double>();
    EXPECT_NEAR(value(i) - value(0), change, 1e-9 * std::abs(wanted["log_density"].get<double>())) << i;
    const auto slopes = wanted["gradient"].get<std::vector<double>>();
    const double length = Eigen::Map<const VectorXd>(slopes.data(), size).norm();
    for (Eigen::Index j = 0; j < size; ++j) {
      const double slope = slopes[static_cast<std::size_t>(j)];
      EXPECT_NEAR(gradient(j, i), slope, 1e-9 * std::max(std::abs(slope), 1e-3 * length)) << i << " " << j;
    }
  }
}

TEST(SoftmaxHorseshoe, GradientIsTheSlopeOfTheDensity) {
  const json about = outside()["densities"];
  const SoftmaxProblem problem = problem_of(about);
  const HorseshoeDensity density(problem, prior_of(about));
  MatrixXd points(density.dim(), 2), gradient, unused;
  points.col(0) = some_point(density.dim(), 1);
  points.col(1) = some_point(density.dim(), 5);
  VectorXd value, above, below;
  density.evaluate(points, value, gradient);
  const double step = 1e-5;
  for (Eigen::Index j = 0; j < density.dim(); ++j) {
    MatrixXd moved = points;
    moved.row(j).array() += step;
    density.evaluate(moved, above, unused);
    moved.row(j).array() -= 2 * step;
    density.evaluate(moved, below, unused);
    for (int i = 0; i < 2; ++i)
      EXPECT_NEAR(gradient(j, i), (above(i) - below(i)) / (2 * step), 1e-6 * (1 + std::abs(gradient(j, i))));
  }
}

// Far from the mode the density is finite, and its slope points back.
TEST(SoftmaxHorseshoe, IsDefinedWhereScalesOverflow) {
  const json about = outside()["densities"];
  const SoftmaxProblem problem = problem_of(about);
  const HorseshoeDensity density(problem, prior_of(about));
  for (const double far : {-400.0, 400.0}) {
    MatrixXd point = some_point(density.dim(), 1), gradient;
    VectorXd value;
    point(density.dim() - 2) = far;  // log tau
    density.evaluate(point, value, gradient);
    EXPECT_TRUE(std::isfinite(value(0))) << far;
    EXPECT_TRUE(gradient.allFinite()) << far;
    EXPECT_LT(gradient(density.dim() - 2) * far, 0);
  }
}

// The numbering of classes has no meaning: the density stays the same if classes and, accordingly, contrasts
// change places.
TEST(SoftmaxHorseshoe, DoesNotDependOnTheOrderOfClasses) {
  const json about = outside()["densities"];
  const SoftmaxProblem problem = problem_of(about);
  const std::vector<int> place{2, 0, 3, 1};
  SoftmaxProblem turned = problem;
  MatrixXd permutation = MatrixXd::Zero(4, 4);
  for (int k = 0; k < 4; ++k) permutation(place[static_cast<std::size_t>(k)], k) = 1;
  for (int& truth : turned.truth) truth = place[static_cast<std::size_t>(truth)];
  const MatrixXd turn = contrasts(4).transpose() * permutation.transpose() * contrasts(4);
  const HorseshoeDensity density(problem, prior_of(about)), other(turned, prior_of(about));
  const VectorXd point = some_point(density.dim(), 3);
  VectorXd turned_point = point;
  const Eigen::Index d = problem.x.cols();
  Eigen::Map<MatrixXd>(turned_point.data(), d, 3) = Eigen::Map<const MatrixXd>(point.data(), d, 3) * turn;
  VectorXd value, turned_value;
  MatrixXd unused;
  density.evaluate(point, value, unused);
  other.evaluate(turned_point, turned_value, unused);
  EXPECT_NEAR(value(0), turned_value(0), 1e-10 * std::abs(value(0)));
}

// There are 200 rows, three classes, and 40 columns of which 4 are expected to matter: tau0 = 4 / 36 sqrt(3 /
// 200).
TEST(SoftmaxHorseshoe, GlobalScaleIsThatOfTheExpectedNumberOfColumns) {
  SoftmaxProblem problem;
  problem.num_classes = 3;
  problem.x = MatrixXd::Ones(200, 41);
  const HorseshoePrior prior = horseshoe_prior(problem, 0.1, 0.5, 0.25);
  EXPECT_NEAR(prior.global_scale, 4 * 4.0 / 36 * std::sqrt(3.0 / 200), 1e-12);
  EXPECT_NEAR(prior.slab_scale, 2, 1e-12);
}

// The moments are compared with those of NumPyro's NUTS. Chains are independent, so that the mean of their
// means has the standard error sd / sqrt(chains). With 31 degrees of freedom a t of 7.3 is exceeded with a
// probability of 3.3e-8, which gives 1e-6 for the 29 quantities. The reference's own error is added.
TEST(SoftmaxHorseshoe, PosteriorIsThatOfNumPyro) {
  const json about = outside()["posterior"];
  const SoftmaxProblem problem = problem_of(about);
  const HorseshoeDensity density(problem, prior_of(about));
  HmcSampling sampling;
  sampling.num_chains = 32;
  sampling.warmup = 400;
  sampling.draws = 1500;
  sampling.seed = 3;
  const Eigen::Index columns = problem.x.cols() - 1;
  const MatrixXd of_class = contrasts(problem.num_classes).transpose();
  std::map<std::string, std::vector<double>> means;
  const auto add = [&](const std::string& name, int chain, double value) {
    means[name].resize(32, 0.0);
    means[name][static_cast<std::size_t>(chain)] += value / sampling.draws;
  };
  const double acceptance = sample_horseshoe(density, sampling, [&](int chain, int, const MatrixXd& point) {
    const MatrixXd weights = density.weights(point.col(0)) * of_class;
    for (Eigen::Index j = 0; j <= columns; ++j)
      for (Eigen::Index k = 0; k < weights.cols(); ++k)
        add("weight " + std::to_string(j) + " " + std::to_string(k), chain, weights(j, k));
    const VectorXd sds = density.weight_sds(point.col(0));
    for (Eigen::Index j = 0; j < columns; ++j) add("log sd " + std::to_string(j), chain, std::log(sds(j)));
    add("log tau", chain, std::log(about["global_scale"].get<double>()) + point(density.dim() - 2, 0));
    add("log c", chain, std::log(about["slab_scale"].get<double>()) + point(density.dim() - 1, 0));
  });
  EXPECT_GT(acceptance, 0.6);
  ASSERT_EQ(means.size(), about["quantities"].size());
  for (const auto& [name, of_chains] : means) {
    const Eigen::Map<const Eigen::ArrayXd> chains(of_chains.data(), 32);
    const json& wanted = about["quantities"].at(name);
    const double error = std::sqrt((chains - chains.mean()).square().sum() / 31 / 32),
                 outside_error = wanted["mcse"];
    EXPECT_LT(error, 0.1 * wanted["sd"].get<double>()) << name;  // else the test would be too weak
    EXPECT_NEAR(chains.mean(), wanted["mean"].get<double>(), 7.3 * std::hypot(error, outside_error)) << name;
  }
}

// There are 200 rows of 40 columns, of which three matter. The weights of the other columns must be smaller
// than those of the ridge with any of its sds, and the log loss on 2,000 new rows must be smaller, too.
struct Recovery {
  SoftmaxProblem train, test;
};

Recovery recovery(std::uint32_t seed) {
  constexpr int kColumns = 40, kClasses = 3, kTrain = 200, kTest = 2000;
  testing::Noise noise;
  for (std::uint32_t i = 0; i < 1000 * seed; ++i) noise.next();
  const auto normal = [&] {  // nearly normal numbers of variance 1
    double x = 0;
    for (int i = 0; i < 12; ++i) x += noise.next();
    return x;
  };
  MatrixXd weights = MatrixXd::Zero(kColumns + 1, kClasses - 1);
  weights(0, 0) = weights(1, 1) = 1.5;
  weights(2, 0) = weights(2, 1) = -1;
  Recovery result;
  for (const auto& [problem, rows] : {std::pair{&result.train, kTrain}, {&result.test, kTest}}) {
    problem->num_classes = kClasses;
    problem->x = MatrixXd::Ones(rows, kColumns + 1);
    problem->row_weight = VectorXd::Ones(rows);
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < kColumns; ++j)
        problem->x(i, j) = normal() / std::sqrt(static_cast<double>(kColumns));
      const Eigen::RowVectorXd logits = std::sqrt(static_cast<double>(kColumns)) * problem->x.row(i) *
                                        weights * contrasts(kClasses).transpose();
      double left = (noise.next() + 0.5) * logits.array().exp().sum();
      int truth = 0;
      while (truth < kClasses - 1 && (left -= std::exp(logits(truth))) > 0) ++truth;
      problem->truth.push_back(truth);
    }
  }
  return result;
}

double log_loss(const SoftmaxProblem& test, const SoftmaxDraws& draws) {
  MatrixXd mean = MatrixXd::Zero(test.x.rows(), test.num_classes);
  const SoftmaxDensity density(test);
  for (const MatrixXd& weights : draws.weights)
    mean += density.probabilities(weights) / static_cast<double>(draws.weights.size());
  double sum = 0;
  for (Eigen::Index i = 0; i < mean.rows(); ++i)
    sum -= std::log(mean(i, test.truth[static_cast<std::size_t>(i)]));
  return sum / static_cast<double>(mean.rows());
}

// Returns the root mean square of the weights of columns `first` to `last`, for standardised columns.
double size_of(const SoftmaxDraws& draws, Eigen::Index first, Eigen::Index last) {
  double sum = 0;
  for (const MatrixXd& weights : draws.weights)
    sum += weights.middleRows(first, last - first + 1).array().square().mean() /
           static_cast<double>(draws.weights.size());
  return std::sqrt(sum / 40);
}

// With 14 seeds the difference of the log loss from the best ridge's was -0.106 to -0.168, with a standard
// deviation of 0.017. Relevant weights were 9 to 20 times the others, and the ratio of others to relevant
// ones was 0.24 to 0.44 times the ridge's least. A difference above -0.03 is six standard deviations away
// from the mean.
TEST(SoftmaxHorseshoe, FindsTheColumnsThatMatter) {
  for (const std::uint32_t seed : {1u, 2u}) {
    const Recovery data = recovery(seed);
    HmcSampling sampling;
    sampling.warmup = 300;
    sampling.draws = 300;
    sampling.seed = seed;
    const SoftmaxDraws horseshoe =
        sample_horseshoe(data.train, horseshoe_prior(data.train, 0.1, 0.5, 1 / std::sqrt(40.0)), sampling);
    const double others = size_of(horseshoe, 3, 39), relevant = size_of(horseshoe, 0, 2),
                 loss = log_loss(data.test, horseshoe);
    EXPECT_GT(relevant, 6 * others);
    double least = 10;
    for (const double sd : {1.0, 2.0, 4.0, 8.0}) {
      SoftmaxProblem problem = data.train;
      problem.precision = 1 / (sd * sd);
      const SoftmaxDraws ridge = sample_softmax(
          problem, softmax_mode(problem, MatrixXd::Zero(problem.x.cols(), 2)), {4, 100, 100, 1, seed, 0});
      EXPECT_LT(others / relevant, 0.7 * size_of(ridge, 3, 39) / size_of(ridge, 0, 2)) << sd;
      least = std::min(least, log_loss(data.test, ridge));
    }
    EXPECT_LT(loss, least - 0.03) << seed;
  }
}

TEST(SoftmaxHorseshoe, DrawsDependOnSeedAndStreamAlone) {
  const json about = outside()["posterior"];
  const SoftmaxProblem problem = problem_of(about);
  HmcSampling sampling{2, 40, 10, 1, 4, 0};
  const auto draws = [&] { return sample_horseshoe(problem, prior_of(about), sampling).weights; };
  const auto first = draws();
  EXPECT_EQ(first, draws());
  sampling.stream = 1;
  EXPECT_NE(first[0], draws()[0]);
  sampling.stream = 0;
  sampling.seed = 5;
  EXPECT_NE(first[0], draws()[0]);
}

// Columns keep their places and their prior: x = table / sqrt(p), and no part of a row is outside.
TEST(RotatedRows, UnrotatedOnesAreTheTable) {
  const FunctionalTable table{
      {"a", "b", "c", "d"}, {{"1", "x", "e"}, {"2", "x", "f"}}, {1, 2, 0, -4, 0, 6, 8, 0}, {}};
  const RotatedRows rows = unrotated_rows(table);
  EXPECT_EQ(rows.x, (MatrixXd{{0.5, 1, 0, -2, 1}, {0, 3, 4, 0, 1}}));
  const OtherRows others = rotate_others(table.values, rows.axes);
  EXPECT_EQ(others.x, rows.x);
  EXPECT_LT(others.outside.maxCoeff(), 1e-7);
}

}  // namespace
}  // namespace emomc
