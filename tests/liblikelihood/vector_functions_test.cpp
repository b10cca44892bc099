// Compares the functions without branches with those of libcore, which other tests compare with values from
// outside.
#include "emomc/device/vector_functions.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "emomc/device/special_functions.hpp"

namespace emomc {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Returns arguments of all sizes, and those at which a function changes its form.
std::vector<double> arguments() {
  std::vector<double> all{0.0,
                          -0.0,
                          1,
                          -1,
                          0.5,
                          -0.5,
                          2,
                          -2,
                          1e-300,
                          5e-324,
                          2.2250738585072014e-308,
                          1e300,
                          -1e300,
                          kInfinity,
                          -kInfinity,
                          NAN,
                          709.78,
                          709.79,
                          -708.39,
                          -708.4,
                          700,
                          -745,
                          0.7071067811865475,
                          0.7071067811865476,
                          1.4142135623730951,
                          1 - 1e-16,
                          1 + 3e-16,
                          36.7,
                          -36.7,
                          1e-17,
                          -1e-17};
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(-300, 300), near(-3, 3), wide(-750, 750);
  for (int i = 0; i < 20000; ++i) {
    all.push_back((i % 2 ? 1 : -1) * std::pow(10.0, exponent(random)));
    all.push_back(near(random));
    all.push_back(wide(random));
  }
  return all;
}

template <class F, class G>
void expect_equal(const char* name, const F& ours, const G& exact, double ulps) {
  double worst = 0;
  for (double x : arguments()) {
    const double value = ours(x), expected = exact(x);
    constexpr double kNothing = 0x1p-1021;  // below this, a result may be 0 instead
    if (std::isnan(expected) || std::isinf(expected) || std::abs(expected) < kNothing) {
      ASSERT_TRUE(std::isnan(expected) ? std::isnan(value)
                                       : value == expected || std::abs(value - expected) < kNothing)
          << name << "(" << x << ") is " << value << ", not " << expected;
      continue;
    }
    worst = std::max(worst, std::abs(value / expected - 1) * 0x1p52);
    ASSERT_LE(std::abs(value - expected), ulps * 0x1p-52 * std::abs(expected)) << name << "(" << x << ")";
  }
  EXPECT_GT(worst, 0.01) << name << ": these are the same functions";
}

TEST(VectorFunctions, HaveTheValuesOfTheFunctionsWithBranches) {
  namespace v = device::vector;
  namespace d = device;
  expect_equal(
      "exp", [](double x) { return v::exp(x); },
      [](double x) {
        const double y = std::exp(x);
        return y < std::numeric_limits<double>::min() ? 0.0 : y;  // no subnormal results
      },
      2);
  expect_equal(
      "log", [](double x) { return v::log(x); }, [](double x) { return std::log(x); }, 2);
  expect_equal(
      "log1p", [](double x) { return v::log1p(x); }, [](double x) { return std::log1p(x); }, 3);
  expect_equal(
      "log1m", [](double x) { return v::log1m(x); }, [](double x) { return d::log1m(x); }, 4);
  expect_equal(
      "log1p_exp", [](double x) { return v::log1p_exp(x); }, [](double x) { return d::log1p_exp(x); }, 4);
  expect_equal(
      "inv_logit", [](double x) { return v::inv_logit(x); }, [](double x) { return d::inv_logit(x); }, 4);
  expect_equal(
      "log_inv_logit", [](double x) { return v::log_inv_logit(x); },
      [](double x) { return d::log_inv_logit(x); }, 4);
  expect_equal(
      "log1m_inv_logit", [](double x) { return v::log1m_inv_logit(x); },
      [](double x) { return d::log1m_inv_logit(x); }, 4);
}

template <class F, class G>
void expect_equal_in_float32(const char* name, const F& ours, const G& exact, double ulps) {
  double worst = 0;
  for (double argument : arguments()) {
    const auto x = static_cast<float>(argument);
    const double value = ours(x), expected = exact(static_cast<double>(x));
    const auto rounded = static_cast<float>(expected);
    constexpr float kNothing = 0x1p-125f;  // below this, a result may be 0 instead
    if (std::isnan(rounded) || std::isinf(rounded) || std::abs(rounded) < kNothing) {
      if (std::isnan(rounded)) {
        ASSERT_TRUE(std::isnan(value)) << name << "(" << x << ") is " << value;
      } else {
        // At the ends of the range the result may be the last number, or infinity or 0, depending on the
        // rounding.
        const bool is_right = std::isinf(rounded) ? value / std::copysign(1.0, expected) > 3.3e38
                                                  : std::abs(value) < kNothing * 1.0001;
        ASSERT_TRUE(is_right) << name << "(" << x << ") is " << value;
      }
      continue;
    }
    worst = std::max(worst, std::abs(value / expected - 1) * 0x1p23);
    ASSERT_LE(std::abs(value - expected), ulps * 0x1p-23 * std::abs(expected)) << name << "(" << x << ")";
  }
  EXPECT_GT(worst, 0.01) << name << ": these are the same functions";
}

TEST(VectorFunctions, HaveTheValuesInFloat32) {
  namespace v = device::vector;
  namespace d = device;
  expect_equal_in_float32(
      "exp", [](float x) { return v::exp(x); }, [](double x) { return std::exp(x); }, 4);
  expect_equal_in_float32(
      "log", [](float x) { return v::log(x); }, [](double x) { return std::log(x); }, 4);
  expect_equal_in_float32(
      "log1p_exp", [](float x) { return v::log1p_exp(x); }, [](double x) { return d::log1p_exp(x); }, 4);
  expect_equal_in_float32(
      "inv_logit", [](float x) { return v::inv_logit(x); }, [](double x) { return d::inv_logit(x); }, 4);
  expect_equal_in_float32(
      "log_inv_logit", [](float x) { return v::log_inv_logit(x); },
      [](double x) { return d::log_inv_logit(x); }, 4);
  expect_equal_in_float32(
      "log1m_inv_logit", [](float x) { return v::log1m_inv_logit(x); },
      [](double x) { return d::log1m_inv_logit(x); }, 4);
}

TEST(VectorFunctions, ASumOfExponentialsHasNoEnds) {
  const std::vector<double> ends{0.0, 1, -1, 1e300, -1e300, 800, -800, kInfinity, -kInfinity, NAN};
  for (double a : ends)
    for (double b : ends) {
      const double value = device::vector::log_sum_exp(a, b), expected = device::log_sum_exp(a, b);
      if (std::isfinite(expected))
        EXPECT_NEAR(value, expected, 1e-15 * (1 + std::abs(expected))) << a << ", " << b;
      else
        EXPECT_TRUE(std::isnan(expected) ? std::isnan(value) : value == expected)
            << a << ", " << b << ": " << value;
    }
}

}  // namespace
}  // namespace emomc
