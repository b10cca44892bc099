#include "prior_sd_weights.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <stdexcept>

namespace emomc {
namespace {

using Eigen::MatrixXd;

// A bootstrap of one speaker is that speaker, so that the weights are those of the densities.
TEST(PriorSdWeights, OfOneSpeakerAreItsDensities) {
  const auto weights = posterior_weights(MatrixXd{{-1000, -1000 + std::log(0.25), -1000 + std::log(0.5)}});
  ASSERT_EQ(weights.size(), 3u);
  EXPECT_NEAR(weights[0], 4.0 / 7, 1e-12);
  EXPECT_NEAR(weights[1], 1.0 / 7, 1e-12);
  EXPECT_NEAR(weights[2], 2.0 / 7, 1e-12);
}

TEST(PriorSdWeights, BelowTheLeastAreZero) {
  EXPECT_EQ(posterior_weights(MatrixXd{{std::log(0.04), 0}}), (std::vector<double>{0, 1}));
  const auto weights = posterior_weights(MatrixXd{{std::log(0.04), 0, std::log(0.08)}});
  EXPECT_EQ(weights[0], 0);
  EXPECT_NEAR(weights[1], 1 / 1.08, 1e-12);
  EXPECT_NEAR(weights[2], 0.08 / 1.08, 1e-12);
}

// No posterior of thirty reaches kLeastPosteriorWeight.
TEST(PriorSdWeights, KeepTheLargestInAnyCase) {
  const auto equal = posterior_weights(MatrixXd::Constant(3, 30, -7));
  for (const double weight : equal) EXPECT_NEAR(weight, 1.0 / 30, 1e-12);
  MatrixXd one_larger = MatrixXd::Constant(1, 30, -7);
  one_larger(0, 11) += 0.01;
  std::vector<double> only(30, 0.0);
  only[11] = 1;
  EXPECT_EQ(posterior_weights(one_larger), only);
}

// The shares u and 1 - u of two speakers are uniform on (0, 1). The first posterior is by far the better one
// where 3 u > 1 - u, which has the probability 3/4. Of 1,000 bootstraps, the share has a standard error of
// 0.0137; the test allows 3.65 of these.
TEST(PriorSdWeights, AreMeansOverBootstrapsOfSpeakers) {
  const auto weights = posterior_weights(MatrixXd{{3e6, 0}, {0, 1e6}});
  EXPECT_NEAR(weights[0], 0.75, 0.05);
  EXPECT_NEAR(weights[0] + weights[1], 1, 1e-12);
  // Without bootstraps, the first posterior would have the whole weight here.
  const auto close = posterior_weights(MatrixXd{{1.1e6, 0}, {0, 1e6}});
  EXPECT_NEAR(close[0], 1.1 / 2.1, 0.058);
}

TEST(PriorSdWeights, AreEqualForEqualPosteriors) {
  MatrixXd log_density = MatrixXd::Random(6, 2) * 5;
  log_density.col(1) = log_density.col(0);
  EXPECT_EQ(posterior_weights(log_density), (std::vector<double>{0.5, 0.5}));
  EXPECT_EQ(posterior_weights(MatrixXd{{-3}, {-8}}), (std::vector<double>{1}));
}

// A constant that is added to all log densities of a speaker, such as that of the number of recordings, has
// no effect.
TEST(PriorSdWeights, DependOnDifferencesOnly) {
  MatrixXd log_density{{-30, -31, -32}, {-12, -11, -13}, {-70, -70.5, -69}};
  const auto before = posterior_weights(log_density);
  log_density.row(1).array() -= 250;
  const auto after = posterior_weights(log_density);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(before[i], after[i], 1e-9);
  EXPECT_NEAR(std::accumulate(before.begin(), before.end(), 0.0), 1, 1e-12);
}

TEST(PriorSdWeights, RefuseNothingAndNaN) {
  EXPECT_THROW(posterior_weights(MatrixXd(0, 2)), std::invalid_argument);
  EXPECT_THROW(posterior_weights(MatrixXd(2, 0)), std::invalid_argument);
  EXPECT_THROW(posterior_weights(MatrixXd{{1, std::nan("")}}), std::invalid_argument);
}

}  // namespace
}  // namespace emomc
