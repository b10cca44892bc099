#include "emomc/speech/fusion.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "emomc/device/random.hpp"

namespace emomc {
namespace {

constexpr int kClasses = 3;
constexpr std::size_t kRows = 400;

struct TwoClassifiers {
  std::vector<double> first, second;
  std::vector<int> truth;
};

// Labels are drawn from the normalised product of the two classifiers' probabilities to the powers a and b.
TwoClassifiers drawn_at(double a, double b, std::uint64_t seed) {
  TwoClassifiers two;
  for (std::size_t row = 0; row < kRows; ++row) {
    const device::RandomSource random{seed, row, 1};
    std::vector<double> x, y;
    for (std::uint32_t k = 0; k < kClasses; ++k) {
      x.push_back(1.5 * random.normal(device::Purpose::start, k));
      y.push_back(1.5 * random.normal(device::Purpose::start, k + kClasses));
    }
    const auto log_p = fused_log_probability({a, b, 0}, x, y, kClasses);
    double rest = random.uniform(device::Purpose::acceptance, 0);
    int label = 0;
    while (label < kClasses - 1 && (rest -= std::exp(log_p[static_cast<std::size_t>(label)])) > 0) ++label;
    const auto normal_x = fused_log_probability({1, 0, 0}, x, y, kClasses),
               normal_y = fused_log_probability({0, 1, 0}, x, y, kClasses);
    two.first.insert(two.first.end(), normal_x.begin(), normal_x.end());
    two.second.insert(two.second.end(), normal_y.begin(), normal_y.end());
    two.truth.push_back(label);
  }
  return two;
}

double loss_at(double a, double b, const TwoClassifiers& two) {
  const auto p = fused_log_probability({a, b, 0}, two.first, two.second, kClasses);
  double sum = 0;
  for (std::size_t row = 0; row < kRows; ++row)
    sum -= p[row * kClasses + static_cast<std::size_t>(two.truth[row])];
  return sum / kRows;
}

TEST(Fusion, IsTheNormalisedProduct) {
  const std::vector<double> first{std::log(0.5), std::log(0.25), std::log(0.25)},
      second{std::log(0.1), std::log(0.1), std::log(0.8)};
  const auto p = fused_log_probability({1, 0.5, 0}, first, second, kClasses);
  const double a = 0.5 * std::sqrt(0.1), b = 0.25 * std::sqrt(0.1), c = 0.25 * std::sqrt(0.8);
  EXPECT_NEAR(std::exp(p[0]), a / (a + b + c), 1e-12);
  EXPECT_NEAR(std::exp(p[1]), b / (a + b + c), 1e-12);
  EXPECT_NEAR(std::exp(p[2]), c / (a + b + c), 1e-12);
}

// The standard error of each weight is about 0.08 here; the bound is five standard errors.
TEST(Fusion, FindsTheWeightsThatLabelsWereDrawnAt) {
  for (const auto& [a, b] : {std::pair{1.0, 0.5}, {0.3, 1.2}, {0.0, 0.8}}) {
    const TwoClassifiers two = drawn_at(a, b, 5);
    const FusionWeights found = learn_fusion(two.first, two.second, two.truth, kClasses);
    EXPECT_NEAR(found.first, a, 0.4);
    EXPECT_NEAR(found.second, b, 0.4);
    EXPECT_NEAR(found.log_loss, loss_at(found.first, found.second, two), 1e-12);
    for (const double da : {-0.02, 0.0, 0.02})
      for (const double db : {-0.02, 0.0, 0.02}) {
        const double first = std::max(0.0, found.first + da), second = std::max(0.0, found.second + db);
        EXPECT_GE(loss_at(first, second, two), found.log_loss - 1e-7);
      }
  }
}

TEST(Fusion, TakesImpossibleClasses) {
  const double none = -std::numeric_limits<double>::infinity();
  const auto p = fused_log_probability({0, 1, 0}, std::vector<double>{none, 0, none},
                                       std::vector<double>{std::log(0.2), std::log(0.3), std::log(0.5)}, 3);
  EXPECT_NEAR(std::exp(p[0]), 0.2, 1e-12);
}

TEST(Fusion, RefusesOtherSizes) {
  const std::vector<double> three(3, std::log(1.0 / 3)), six(6, std::log(1.0 / 3));
  EXPECT_THROW(fused_log_probability({}, three, six, 3), std::invalid_argument);
  EXPECT_THROW(learn_fusion(six, six, std::vector<int>{0}, 3), std::invalid_argument);
  EXPECT_THROW(learn_fusion({}, {}, {}, 3), std::invalid_argument);
}

}  // namespace
}  // namespace emomc
