// Tests that gradient samplers keep distributions from which exact draws are possible.
//
// A difference of independent chains is compared with 6.5 standard errors, which a normal error exceeds with
// probability 8.1e-11. There are fewer than 2,000 comparisons, so that the rate of false alarms is below 1e-6
// with a factor of six for the tails of means of 20,000 values.
#include "stationarity.hpp"

#include <gtest/gtest.h>

#include <iostream>

namespace emomc {
namespace {

using namespace testing;

constexpr double kBound = 6.5;
constexpr int kChains = 20000, kSteps = 3;

std::vector<ExactProblem> problems() {
  std::vector<ExactProblem> all{correlated_normal({0.45}), banana(), funnel(), heavy_tails(), constrained()};
  all.push_back(correlated_normal({0.6, ProposalShape::diagonal, {0.9, 2.7, 0.45}}));
  all.back().name += "_diagonal";
  // The factor is the Cholesky factor of the covariance with a correlation of 0.7.
  all.push_back(correlated_normal(
      {0.9, ProposalShape::dense, {}, {1, 0.7 * 3, 0, 0, std::sqrt(1 - 0.49) * 3, 0, 0, 0, 0.5}}));
  all.back().name += "_dense";
  // Leapfrogs that are fitted to the metric, which is not always near the covariance.
  const auto add_fitted = [&](ExactProblem fitted, const std::string& name, std::vector<double> sd) {
    fitted.name = name;
    fitted.metric = {fitted.metric.step_size, ProposalShape::diagonal, std::move(sd)};
    fitted.metric.is_fitted = true;
    all.push_back(fitted);
  };
  add_fitted(banana(), "banana_fitted", {0.8, 1.2});
  add_fitted(correlated_normal({0.6}), "diagonal_fitted", {0.9, 2.7, 0.45});
  add_fitted(correlated_normal({0.4}), "fitted_to_another", {0.5, 5, 0.3});
  const ExactProblem in_bounds = constrained();
  add_fitted(
      in_bounds, "constrained_fitted",
      std::vector<double>(static_cast<std::size_t>(in_bounds.problem.target.dim_unconstrained()), 0.8));
  ExactProblem tempered = correlated_normal({0.6, ProposalShape::diagonal, {1.8, 5.4, 0.9}});
  tempered.name = "tempered";
  tempered.problem.beta = 0.25;
  // The likelihood has the power beta, and therefore takes back only a quarter of the wide prior's log
  // density. The prior is twice as wide here, so that nothing of it is left.
  const auto draw = tempered.draw;
  tempered.problem.target = real_target(3, 2 * kWide);
  tempered.draw = [draw](const device::RandomSource& random, double* u) {
    draw(random, u);
    for (int i = 0; i < 3; ++i) u[i] *= 2;
  };
  all.push_back(tempered);
  return all;
}

class Stationary : public ::testing::TestWithParam<std::tuple<std::string, ExactProblem>> {};
INSTANTIATE_TEST_SUITE_P(Kinds, Stationary,
                         ::testing::Combine(::testing::Values("mala", "hmc", "nuts", "chees"),
                                            ::testing::ValuesIn(problems())),
                         [](const auto& parameters) {
                           return std::get<0>(parameters.param) + "_" + std::get<1>(parameters.param).name;
                         });

TEST_P(Stationary, DistributionIsKept) {
  const auto& [kind, exact] = GetParam();
  const Stationarity result = measure_stationarity(kind, exact, kChains, kSteps);
  std::cout << "largest |z| " << result.worst_z << ", acceptance " << result.acceptance << ", moved "
            << result.least_move << '\n';
  EXPECT_LT(result.worst_z, kBound);
  EXPECT_GT(result.acceptance, 0.3);
  EXPECT_LT(result.acceptance, 0.999);
  // The chains move far enough for errors to show. Few leapfrogs cross the longest direction.
  EXPECT_GT(result.least_move, kind == "mala" ? 0.04 : 0.3);
}

class WrongForce : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Kinds, WrongForce, ::testing::Values("mala", "hmc", "nuts", "chees"),
                         [](const auto& kind) { return kind.param; });

constexpr int kManyChains = 3 * kChains, kManySteps = 8;

// The densities decide about acceptance, and a leapfrog is reversible with any function of position as its
// force. The force here is a tenth too weak. (On a normal density, leapfrogs keep an energy with a slightly
// weaker force than their own, so that a stronger force would be accepted more often.)
TEST_P(WrongForce, ChangesTheAcceptanceAndNotTheDistribution) {
  const ExactProblem right = correlated_normal({0.3, ProposalShape::diagonal, {1, 3, 0.5}});
  ExactProblem wrong = right;
  wrong.problem.log_likelihood = [exact = right.problem.log_likelihood](int chain, const double* theta,
                                                                        double* gradient) {
    const double value = exact(chain, theta, gradient);
    for (int i = 0; gradient && i < 3; ++i) gradient[i] *= 0.9;
    return value;
  };
  const Stationarity by_wrong = measure_stationarity(GetParam(), wrong, kManyChains, kManySteps);
  const Stationarity by_right = measure_stationarity(GetParam(), right, kManyChains, kManySteps);
  EXPECT_LT(by_wrong.worst_z, kBound);
  EXPECT_LT(by_wrong.acceptance, by_right.acceptance - 0.01);
}

// This test shows that the test above detects errors: the density is tilted by 0.3 u_1 / sd, but the force is
// the right one.
TEST_P(WrongForce, ATiltedDensityIsCaught) {
  ExactProblem tilted = correlated_normal({0.3, ProposalShape::diagonal, {1, 3, 0.5}});
  tilted.problem.log_likelihood = [exact = tilted.problem.log_likelihood](int chain, const double* theta,
                                                                          double* gradient) {
    return exact(chain, theta, gradient) + 0.3 * theta[1] / 3;
  };
  EXPECT_GT(measure_stationarity(GetParam(), tilted, kManyChains, kManySteps).worst_z, kBound);
}

}  // namespace
}  // namespace emomc
