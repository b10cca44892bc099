#include "emomc/sampler/empty_components.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "emomc/likelihood/engines.hpp"

namespace emomc {
namespace {

ArrayArgument number(double x) { return {{}, {x}, false}; }

constexpr double kPriorSd = 5, kAlpha = 0.7;
const std::vector<double> kRows{-0.3, 0.2, 0.9, -1.4, 0.1, 1.3, -0.6, 0.4, -0.2, 0.5};

// The priors are for one column and K components of sd 1, with means normal(0, 5) and weights Dirichlet(0.7).
PriorSet prior_of(const std::string& order = "") {
  PriorSet prior;
  prior.blocks["weights"] = {PriorFamily::dirichlet, {number(kAlpha)}};
  prior.blocks["means"] = {PriorFamily::normal, {number(0), number(kPriorSd)}};
  prior.blocks["scales"] = {PriorFamily::fixed, {number(1)}};
  prior.order = order;
  return prior;
}

Target target_of(int K, const PriorSet& prior = prior_of()) {
  const std::vector<double> sd{1.0};
  return Target(model_layout({"gaussian_mixture", K}, 1), prior, sd);
}

// Returns the log of the integral over m of prod N(x_i; m, 1) N(m; 0, kPriorSd).
double log_evidence_of_one_group(const std::vector<double>& x) {
  double sum = 0, squares = 0;
  for (const double value : x) {
    sum += value;
    squares += value * value;
  }
  const auto n = static_cast<double>(x.size());
  const double precision = n + 1 / (kPriorSd * kPriorSd);
  return -0.5 * n * std::log(2 * std::numbers::pi) - 0.5 * squares + 0.5 * sum * sum / precision -
         std::log(kPriorSd) - 0.5 * std::log(precision);
}

class EmptyComponents : public ::testing::Test {
 protected:
  const DataSet data = DataSet::single_segment(1, kRows);
  std::unique_ptr<Device> device = make_device(Backend::cpu);
  const double num_rows = static_cast<double>(kRows.size());

  std::unique_ptr<LikelihoodEngine> engine_of(int K) {
    return make_engine(Backend::cpu, {"gaussian_mixture", K}, Precision::float64, data, *device, 1);
  }
  // Returns the optimum of one component.
  Optimum one_component() {
    const Target target = target_of(1);
    const auto engine = engine_of(1);
    const Optima optima =
        find_optima(target, *engine, std::vector<std::vector<double>>{{1.0, 0.1, 1.0}}, num_rows);
    EXPECT_EQ(optima.found.size(), 1u);
    return optima.found.at(0);
  }
};

// The rows' allocation to components is integrated out in closed form. With all rows in one of K components,
// the allocation's probability is that of Polya's urn, and the evidence is that of one normal group.
// Laplace's approximation is exact for the mean, and the weights do not enter it.
TEST_F(EmptyComponents, MassIsThatOfTheAllocation) {
  const Optimum fewer = one_component();
  for (const int K : {2, 3, 5}) {
    const Target target = target_of(K);
    const auto engine = engine_of(K);
    const auto alpha = concentration_for_empty(target);
    ASSERT_TRUE(alpha);
    EXPECT_DOUBLE_EQ(*alpha, kAlpha);
    const auto optimum = with_empty_components(target, *engine, fewer, 1, *alpha, num_rows, 1, 0);
    ASSERT_TRUE(optimum);
    EXPECT_EQ(optimum->num_empty, K - 1);
    const double log_urn = std::lgamma(K * kAlpha) - std::lgamma(K * kAlpha + num_rows) +
                           std::lgamma(kAlpha + num_rows) - std::lgamma(kAlpha);
    EXPECT_NEAR(optimum->log_mass,
                log_urn + log_evidence_of_one_group(kRows) - std::lgamma(static_cast<double>(K)), 1e-3)
        << K;
    EXPECT_NEAR(
        log_mass_of_empty(K, 1, kAlpha, num_rows, true) - log_mass_of_empty(K, 1, kAlpha, num_rows, false),
        std::lgamma(K + 1.0), 1e-12);
  }
}

TEST_F(EmptyComponents, FactorIsTheIntegralOverTheWeights) {
  // The weights are uniform. The first two of three have the total W ~ Beta(2, 1), so that E[W^N] = 2 / (N +
  // 2). The first one alone is Beta(1, 2), so that E[W^N] = 2 / ((N + 1) (N + 2)), and its two empty
  // companions can be exchanged.
  for (const double n : {1.0, 40.0, 1e6}) {
    EXPECT_NEAR(log_mass_of_empty(3, 2, 1, n, false), std::log(2 / (n + 2)), 1e-8);
    EXPECT_NEAR(log_mass_of_empty(3, 1, 1, n, false), std::log(1 / ((n + 1) * (n + 2))), 1e-8);
  }
}

TEST_F(EmptyComponents, PointHasTheComponentsOfTheSmallerMixture) {
  const Target target = target_of(3, prior_of("means"));
  const auto engine = engine_of(3);
  const Optimum fewer = one_component();
  const auto optimum = with_empty_components(target, *engine, fewer, 1, kAlpha, num_rows, 7, 0);
  ASSERT_TRUE(optimum);
  const auto& theta = optimum->theta;
  EXPECT_LT(theta[3], theta[4]);
  EXPECT_LT(theta[4], theta[5]);
  int occupied = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    if (theta[k] < 0.5) {
      EXPECT_NEAR(theta[k], kAlpha / (3 * kAlpha + num_rows), 1e-12);
      continue;
    }
    ++occupied;
    EXPECT_NEAR(theta[3 + k], fewer.theta[1], 1e-9);
  }
  EXPECT_EQ(occupied, 1);
  EXPECT_NEAR(theta[0] + theta[1] + theta[2], 1, 1e-12);
  EXPECT_TRUE(std::isfinite(optimum->log_likelihood));
}

TEST_F(EmptyComponents, ModeContainsFarComponentsAndNotOneOfFewRows) {
  const Target target = target_of(2);
  const auto engine = engine_of(2);
  const auto optimum = with_empty_components(target, *engine, one_component(), 1, kAlpha, num_rows, 3, 0);
  ASSERT_TRUE(optimum);
  EmptyMode mode(target, *engine, *optimum, kAlpha, num_rows, 3);
  EXPECT_GE(mode.recognised(), 0.5);
  EXPECT_LE(mode.recognised(), 1);
  // The values are weights, means and scales. A mean of 20 is four sds of the prior away.
  EXPECT_TRUE(mode.contains(std::vector<double>{0.95, 0.05, 0.1, 20, 1, 1}));
  EXPECT_TRUE(mode.contains(std::vector<double>{0.05, 0.95, -20, 0.1, 1, 1}));
  EXPECT_FALSE(mode.contains(std::vector<double>{0.95, 0.05, 0.1, 0.3, 1, 1}))
      << "it has its share of the rows";
  EXPECT_FALSE(mode.contains(std::vector<double>{0.5, 0.5, 0.1, 20, 1, 1}))
      << "its weight is that of five rows";
}

// Empty components can be integrated out only if all components have the same prior.
TEST_F(EmptyComponents, AreNotSoughtUnderOtherPriors) {
  EXPECT_TRUE(concentration_for_empty(target_of(2)));
  EXPECT_TRUE(concentration_for_empty(target_of(2, prior_of("means"))));
  EXPECT_FALSE(concentration_for_empty(target_of(1)));
  PriorSet differ = prior_of();
  differ.blocks["means"] = {PriorFamily::normal, {ArrayArgument{{2, 1}, {-1, 1}, false}, number(1)}};
  EXPECT_FALSE(concentration_for_empty(target_of(2, differ)));
  PriorSet unequal = prior_of();
  unequal.blocks["weights"] = {PriorFamily::dirichlet, {ArrayArgument{{2}, {1, 2}, false}}};
  EXPECT_FALSE(concentration_for_empty(target_of(2, unequal)));
  PriorSet fixed = prior_of();
  fixed.blocks["weights"] = {PriorFamily::fixed, {ArrayArgument{{2}, {0.5, 0.5}, false}}};
  EXPECT_FALSE(concentration_for_empty(target_of(2, fixed)));
}

}  // namespace
}  // namespace emomc
