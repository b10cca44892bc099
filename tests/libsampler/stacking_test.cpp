// Compares stacking weights with an outside optimiser and with results computed by hand, and tests the
// borders of the problem.
#include "emomc/sampler/stacking.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

#include "emomc/core/errors.hpp"

namespace emomc {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// make_stacking.py made the problems and solved them with SciPy.
TEST(Stacking, WeightsAreThoseOfAnOutsideOptimiser) {
  std::ifstream file(EMOMC_SOURCE_DIR "/tests/libsampler/data/stacking.json");
  ASSERT_TRUE(file);
  const auto problems = nlohmann::json::parse(file)["problems"];
  ASSERT_GE(problems.size(), 6u);
  for (const auto& problem : problems) {
    const std::string name = problem["name"];
    const std::size_t num_models = problem["weights"].size();
    const StackingWeights found = stacking_weights(problem["elpd"].get<std::vector<double>>(), num_models,
                                                   problem["concentration"].get<double>());
    for (std::size_t k = 0; k < num_models; ++k)
      EXPECT_NEAR(found.weights[k], problem["weights"][k].get<double>(), 1e-6) << name << ", model " << k;
    EXPECT_NEAR(found.elpd, problem["score"].get<double>(), 1e-7) << name;
    EXPECT_LT(found.gap, 1e-7) << name;
  }
}

TEST(Stacking, TwoModelsThatPredictDifferentPointsShareByHand) {
  // The first model predicts two of three points and the second model one, so that w = (2/3, 1/3).
  const std::vector<double> elpd{0, -kInfinity, 0, -kInfinity, -kInfinity, 0};
  const StackingWeights found = stacking_weights(elpd, 2, 1);
  EXPECT_NEAR(found.weights[0], 2.0 / 3, 1e-9);
  EXPECT_NEAR(found.elpd, 2 * std::log(2.0 / 3) + std::log(1.0 / 3), 1e-9);
  // A model that is worse everywhere has no weight.
  const StackingWeights worse = stacking_weights(std::vector<double>{0, -1, -3, -4}, 2, 1);
  EXPECT_NEAR(worse.weights[0], 1, 1e-9);
  EXPECT_NEAR(worse.elpd, -3, 1e-9);
}

TEST(Stacking, ModelsThatPredictAlikeHaveEqualWeights) {
  std::vector<double> elpd;
  for (int i = 0; i < 50; ++i)
    for (int k = 0; k < 4; ++k) elpd.push_back(-0.1 * i - (k == 3 ? 0.5 : 0));
  const StackingWeights found = stacking_weights(elpd, 4);
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(found.weights[static_cast<std::size_t>(k)], 1.0 / 3, 1e-4);
  EXPECT_LT(found.weights[3], 1e-4);
  EXPECT_EQ(stacking_weights(std::vector<double>{-1, -2}, 1).weights, (std::vector<double>{1}));
}

// The gap bounds the possible further gain, so that no values from outside are needed.
TEST(Stacking, RandomProblemsAreSolved) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  for (std::size_t t = 0; t < 120; ++t) {
    const std::size_t num_models = 1 + t % 12, num_points = 1 + 7 * t % 90;
    const double scale = std::pow(10.0, static_cast<double>(t % 7) - 3);
    std::vector<double> elpd(num_models * num_points);
    for (double& x : elpd) x = scale * normal(random) - 5;
    for (const double concentration : {1.0, kStackingConcentration, 2.0}) {
      const StackingWeights found = stacking_weights(elpd, num_models, concentration);
      EXPECT_LT(found.gap, 1e-7) << t << ", " << concentration;
      EXPECT_NEAR(std::accumulate(found.weights.begin(), found.weights.end(), 0.0), 1, 1e-12);
      for (const double w : found.weights) EXPECT_GE(w, 0);
    }
  }
}

TEST(Stacking, RefusesWhatHasNoWeights) {
  EXPECT_THROW(stacking_weights({}, 2), InputError);
  EXPECT_THROW(stacking_weights(std::vector<double>{1, 2, 3}, 2), InputError);
  EXPECT_THROW(stacking_weights(std::vector<double>{1, std::nan("")}, 2), InputError);
  EXPECT_THROW(stacking_weights(std::vector<double>{1, kInfinity}, 2), InputError);
  EXPECT_THROW(stacking_weights(std::vector<double>{1, 2, -kInfinity, -kInfinity}, 2), InputError);
  EXPECT_THROW(stacking_weights(std::vector<double>{1, 2}, 2, 0.9), InputError);
}

}  // namespace
}  // namespace emomc
