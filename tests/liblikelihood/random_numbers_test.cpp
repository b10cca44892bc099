// Tests that random numbers of likelihood.simulate have the densities that their names state.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "emomc/likelihood/expression.hpp"

namespace emomc {
namespace {

constexpr int kDraws = 100000;

/// Returns draws of `rng`, one for each row.
std::vector<double> draws_of(const std::string& rng) {
  ExpressionSpec spec;
  spec.parameters = {{"a", "", Support::real, {}}};
  spec.log_density = {"", "a * x"};
  spec.simulate = {{"y", {"", rng}}};
  const Expression expression(spec, {"x", "y"});
  const std::vector<double> rows(kDraws * expression.used_columns().size(), 1.0), theta{0};
  std::vector<double> draws(kDraws);
  expression.simulate(theta.data(), rows, 20261126, 0, draws.data());
  return draws;
}

struct Distribution {
  std::string name, arguments;
  double from, to;  ///< almost all draws are between these numbers
  bool is_count = false;
};

std::vector<Distribution> distributions() {
  return {{"normal", "1, 2", -19, 21},
          {"student_t", "4, 1, 2", -200, 200},
          {"cauchy", "1, 2", -3000, 3000},
          {"double_exponential", "1, 2", -60, 60},
          {"logistic", "1, 2", -60, 60},
          {"gumbel", "1, 2", -10, 60},
          {"lognormal", "0.5, 0.7", 0, 100},
          {"exponential", "0.5", 0, 60},
          {"gamma", "2.5, 0.5", 0, 80},
          {"inv_gamma", "3, 2", 0, 200},
          {"chi_square", "3", 0, 70},
          {"weibull", "1.5, 2", 0, 20},
          {"pareto", "2, 3", 2, 1000},
          {"rayleigh", "2", 0, 20},
          {"beta", "2, 3", 0, 1},
          {"uniform", "-1, 3", -1, 3},
          {"von_mises", "2.5, 2", -M_PI, M_PI},
          {"skew_normal", "1, 2, 3", -10, 15},
          {"poisson", "3.5", 0, 40, true},
          {"poisson_log", "1.5", 0, 40, true},
          {"neg_binomial", "2, 0.5", 0, 120, true},
          {"neg_binomial_2", "4, 2", 0, 120, true},
          {"neg_binomial_2_log", "1.2, 2", 0, 120, true},
          {"bernoulli", "0.3", 0, 1, true},
          {"bernoulli_logit", "0.4", 0, 1, true},
          {"binomial", "12, 0.3", 0, 12, true},
          {"binomial_logit", "12, -0.4", 0, 12, true},
          {"beta_binomial", "12, 2, 3", 0, 12, true},
          {"categorical", "[0.2, 0.5, 0.3]", 0, 2, true},
          {"categorical_logit", "[0.4, -1, 2]", 0, 2, true},
          {"ordered_logistic", "0.7, [-1, 0.5, 2]", 0, 3, true}};
}

double density(const Distribution& d, double y) {
  char variable[32];
  std::snprintf(variable, sizeof variable, "%.17g", y);
  return std::exp(
      value_of_expression(d.name + (d.is_count ? "_lpmf(" : "_lpdf(") + variable + ", " + d.arguments + ")"));
}

// The numbers of draws in cells of equal probability, or at each count, are compared with the density's by
// chi-square, in the normal approximation of Wilson and Hilferty. z = 5.7 is exceeded with probability 6e-9,
// so that the 31 tests together have a false-alarm rate below 1e-6.
TEST(RandomNumbers, HaveTheDensitiesOfTheirNames) {
  for (const Distribution& d : distributions()) {
    const std::vector<double> draws = draws_of(d.name + "_rng(" + d.arguments + ")");
    std::vector<double> expected, ends;  // probability and upper end of each cell
    if (d.is_count) {
      double gathered = 0;
      for (double n = d.from; n <= d.to; ++n) {
        gathered += density(d, n);
        if (gathered * kDraws < 10 && n < d.to) continue;
        expected.push_back(gathered);
        ends.push_back(n + 0.5);
        gathered = 0;
      }
    } else {
      // The distribution function is computed by Simpson's rule on a grid that is finer towards the middle.
      constexpr int kGrid = 6000, kCells = 50;
      const double middle = [&] {
        std::vector<double> sorted = draws;
        std::nth_element(sorted.begin(), sorted.begin() + kDraws / 2, sorted.end());
        return std::clamp(sorted[kDraws / 2], d.from, d.to);
      }();
      const auto at = [&](int i) {
        const double u = 2.0 * i / kGrid - 1;
        return middle + u * u * u * (u < 0 ? middle - d.from : d.to - middle);
      };
      double total = 0, before = 0;
      for (int i = 0; i < kGrid; ++i) {
        const double left = at(i), right = at(i + 1), width = right - left;
        // The rule is open, because a density may be infinite or jump at an end.
        total += width / 3 *
                 (2 * density(d, left + width / 4) - density(d, left + width / 2) +
                  2 * density(d, right - width / 4));
        if (total - before < 1.0 / kCells && i + 1 < kGrid) continue;
        expected.push_back(total - before);
        ends.push_back(right);
        before = total;
      }
      EXPECT_NEAR(total, 1, 2e-3) << d.name;
    }
    ends.back() = std::numeric_limits<double>::infinity();
    double sum = 0;
    for (double p : expected) sum += p;
    expected.back() += 1 - sum;
    std::vector<double> counts(expected.size(), 0.0);
    for (double y : draws) {
      ASSERT_FALSE(std::isnan(y)) << d.name;
      ++counts[static_cast<std::size_t>(std::lower_bound(ends.begin(), ends.end(), y) - ends.begin())];
    }
    double chi_square = 0;
    for (std::size_t c = 0; c < counts.size(); ++c) {
      const double mean = expected[c] * kDraws;
      chi_square += (counts[c] - mean) * (counts[c] - mean) / mean;
    }
    const auto freedom = static_cast<double>(counts.size() - 1);
    const double z =
        (std::cbrt(chi_square / freedom) - (1 - 2 / (9 * freedom))) / std::sqrt(2 / (9 * freedom));
    EXPECT_GE(freedom, 1) << d.name;
    EXPECT_LT(z, 5.7) << d.name << ": chi-square " << chi_square << " of " << freedom;
  }
}

TEST(RandomNumbers, AnglesAreFromMinusPiToPi) {
  for (const char* arguments : {"3.1, 2", "-3.1, 0", "100, 1", "-1e4, 1e7", "3.14159265358979312, 1e15"})
    for (const double y : draws_of(std::string("von_mises_rng(") + arguments + ")"))
      ASSERT_TRUE(y >= -M_PI && y < M_PI) << arguments << ": " << y;
  for (const char* arguments : {"0, -1", "1 / 0, 1", "sqrt(-1), 1"})
    EXPECT_TRUE(std::isnan(draws_of(std::string("von_mises_rng(") + arguments + ")")[0])) << arguments;
}

TEST(RandomNumbers, EveryDistributionIsTested) {
  std::map<std::string, int> tested;
  for (const Distribution& d : distributions()) ++tested[d.name + "_rng"];
  for (const std::string& function : expression_functions()) {
    const std::string name = function.substr(0, function.find('('));
    if (!name.ends_with("_rng")) continue;
    EXPECT_EQ(tested[name], 1) << name;
  }
}

}  // namespace
}  // namespace emomc
