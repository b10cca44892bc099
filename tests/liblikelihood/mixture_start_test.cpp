#include "emomc/likelihood/mixture_start.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "random_mixture.hpp"

namespace emomc {
namespace {

double log_likelihood(const testing::MixtureProblem& p, const std::vector<double>& theta) {
  return testing::Evaluator(Backend::cpu, {"gaussian_mixture", p.K}, Precision::float64, p.data)(theta)[0];
}

TEST(MixtureStarts, EmReachesTheTruthsLikelihood) {
  const auto p = testing::random_problem(4, 3, 4000, 51, 6);
  const MixtureStarts starts(p.data, 4, 7);
  const double truth = log_likelihood(p, p.theta);
  for (std::uint32_t chain = 0; chain < 4; ++chain) {
    const double kmeans = log_likelihood(p, starts.kmeans(chain));
    const double em = log_likelihood(p, starts.em(chain));
    EXPECT_GT(em, kmeans);
    // The maximum lies about half the number of parameters above the truth.
    EXPECT_GT(em, truth);
    EXPECT_LT(em, truth + 4 * 28);
    EXPECT_GT(kmeans, truth - 0.2 * std::abs(truth));
  }
}

TEST(MixtureStarts, AreFunctionsOfSeedChainAndAttempt) {
  const auto p = testing::random_problem(3, 2, 500, 52);
  const MixtureStarts a(p.data, 3, 7), b(p.data, 3, 7), c(p.data, 3, 8);
  EXPECT_EQ(a.kmeans(5, 2), b.kmeans(5, 2));
  EXPECT_NE(a.kmeans(5, 2), c.kmeans(5, 2));
}

TEST(MixtureStarts, CopeWithFewAndEqualRows) {
  const DataSet data = DataSet::single_segment(1, {1, 1, 1, 1, 2});
  const auto theta = MixtureStarts(data, 4, 1).kmeans(0);
  double sum = 0;
  for (int k = 0; k < 4; ++k) sum += theta[static_cast<std::size_t>(k)];
  EXPECT_NEAR(sum, 1, 1e-12);
  for (double x : theta) EXPECT_TRUE(std::isfinite(x));
  for (std::size_t i = 8; i < 12; ++i) EXPECT_GT(theta[i], 0);
}

TEST(MixtureStarts, LabelsAreTakenFromAReference) {
  const ParameterLayout layout = model_layout({"gaussian_mixture", 3}, 2);
  const std::vector<double> reference{0.2, 0.3, 0.5, 0, 0, 5, 5, 9, 9, 1, 1, 2, 2, 3, 3};
  const std::vector<double> shuffled{0.5, 0.2, 0.3, 9.1, 9, 0.1, 0, 5, 5.2, 3, 3, 1, 1, 2, 2};
  const auto order = order_like(layout, reference, shuffled);
  EXPECT_EQ(order, (std::vector<int>{1, 2, 0}));
  const auto sorted = permute_components(layout, order, shuffled);
  EXPECT_EQ(sorted, (std::vector<double>{0.2, 0.3, 0.5, 0.1, 0, 5, 5.2, 9.1, 9, 1, 1, 2, 2, 3, 3}));
}

// Two components in two columns with scales (1, 2) and (3, 4), weights 1/4 and 3/4.
TEST(MixtureStarts, ADiagonalMixtureFitsInEveryLayout) {
  const std::vector<double> diagonal{0.25, 0.75, 0, 1, 2, 3, 1, 2, 3, 4};
  const auto converted = [&](const char* covariance) {
    return in_layout(model_layout({"gaussian_mixture", 2, covariance}, 2), diagonal);
  };
  const auto tail = [](const std::vector<double>& theta) {
    return std::vector<double>(theta.begin() + 6, theta.end());
  };
  EXPECT_EQ(converted("diagonal"), diagonal);
  EXPECT_EQ(tail(converted("spherical")), (std::vector<double>{std::sqrt(2.5), std::sqrt(12.5)}));
  EXPECT_EQ(tail(converted("full")), (std::vector<double>{1, 0, 2, 3, 0, 4}));
  EXPECT_EQ(tail(converted("tied")),
            (std::vector<double>{std::sqrt(0.25 + 0.75 * 9), 0, std::sqrt(1 + 0.75 * 16)}));
}

}  // namespace
}  // namespace emomc
