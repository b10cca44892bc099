// Tests the numbering of components in draws of an unknown model.
#include "emomc/posterior/relabel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "libposterior/equal_chains.hpp"

namespace emomc {
namespace {

constexpr std::size_t kDraws = 300, kFeatures = 2;
constexpr int kComponents = 3;

/// Returns draws of three components. Each feature alone separates only one component from the others, but
/// both features together separate all three.
std::vector<double> features_of(const std::vector<int>& order) {
  const double centres[kComponents][kFeatures] = {{0, 0}, {1, 7}, {8, 1}};
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::vector<double> features(kDraws * kComponents * kFeatures);
  for (std::size_t i = 0; i < kDraws; ++i) {
    double draw[kComponents][kFeatures];
    for (auto& component : draw)
      for (double& x : component) x = normal(random);
    for (int k = 0; k < kComponents; ++k)
      for (std::size_t f = 0; f < kFeatures; ++f) {
        const auto at = static_cast<std::size_t>(order[i * kComponents + static_cast<std::size_t>(k)]);
        features[(i * kComponents + static_cast<std::size_t>(k)) * kFeatures + f] =
            centres[at][f] + draw[at][f];
      }
  }
  return features;
}

std::vector<int> orders(bool shuffled) {
  std::mt19937_64 random(2);
  std::vector<int> order(kDraws * kComponents);
  for (std::size_t i = 0; i < kDraws; ++i) {
    const auto first = order.begin() + static_cast<std::ptrdiff_t>(i * kComponents);
    std::iota(first, first + kComponents, 0);
    if (shuffled) std::shuffle(first, first + kComponents, random);
  }
  return order;
}

TEST(MatchFeatures, FindsTheComponentsOfEachDraw) {
  const std::vector<int> order = orders(true);
  const MatchedFeatures found = match_features(features_of(order), kDraws, kComponents, kFeatures);
  EXPECT_TRUE(found.converged);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < kDraws; ++i)
    for (std::size_t k = 0; k < kComponents; ++k) {
      const int component = found.permutation[i * kComponents + k];
      wrong += order[i * kComponents + static_cast<std::size_t>(component)] != static_cast<int>(k);
    }
  // In a draw with two components exchanged, both differences of neighbours have the wrong sign, 7 / sqrt(2)
  // sds away.
  EXPECT_LE(wrong, 4u);
}

TEST(MatchFeatures, DoesNotDependOnTheNumbersThatDrawsHad) {
  const std::vector<int> one = orders(false), other = orders(true);
  const std::vector<double> a = features_of(one), b = features_of(other);
  const MatchedFeatures x = match_features(a, kDraws, kComponents, kFeatures),
                        y = match_features(b, kDraws, kComponents, kFeatures);
  for (std::size_t i = 0; i < kDraws * kComponents; ++i) {
    const std::size_t draw = i / kComponents;
    const auto of = [&](const std::vector<int>& order, const MatchedFeatures& found) {
      return order[draw * kComponents + static_cast<std::size_t>(found.permutation[i])];
    };
    EXPECT_EQ(of(one, x), of(other, y));
  }
  EXPECT_NEAR(x.cost, y.cost, 1e-9 * std::abs(x.cost));
}

TEST(MatchFeatures, RefusesWhatItCannotMatch) {
  std::vector<double> features{1, 2, 3, 4};
  EXPECT_EQ(testing::refusal([&] { match_features(features, 3, 2, 1); }),
            "4 features; allowed: draws x components x features, at least one of each");
  features[2] = NAN;
  EXPECT_EQ(testing::refusal([&] { match_features(features, 2, 2, 1); }), "features: a number is not finite");
}

}  // namespace
}  // namespace emomc
