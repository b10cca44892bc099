// Compares leave-one-out with R's loo on its own example (data/make_loo.R).
#include "emomc/sampler/cross_validation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

namespace emomc {
namespace {

using nlohmann::json;
using Vector = std::vector<double>;

class CrossValidation : public ::testing::Test {
 protected:
  json expected = json::parse(std::ifstream(EMOMC_SOURCE_DIR "/tests/libsampler/data/loo_example.json"));
  std::vector<Vector> by_observation;  ///< log likelihoods of each observation, over draws

  void SetUp() override {
    for (const auto& draw : expected["log_likelihood"]) {
      by_observation.resize(draw.size());
      for (std::size_t i = 0; i < draw.size(); ++i) by_observation[i].push_back(draw[i]);
    }
    ASSERT_EQ(by_observation.size(), 32u);
  }
  static void near(double ours, const json& theirs) {
    const double value = theirs;
    EXPECT_NEAR(ours, value, 1e-6 * std::max(1.0, std::abs(value)));
  }
};

TEST_F(CrossValidation, IsThatOfRsLoo) {
  Vector elpd, p, elpd_waic;
  for (std::size_t i = 0; i < by_observation.size(); ++i) {
    const LeftOut out = leave_out(by_observation[i]);
    near(out.pareto_k, expected["pareto_k"][i]);
    near(out.elpd, expected["elpd_loo_pointwise"][i]);
    near(out.p, expected["p_loo_pointwise"][i]);
    const Waic information = waic(by_observation[i]);
    near(information.elpd, expected["elpd_waic_pointwise"][i]);
    near(information.p, expected["p_waic_pointwise"][i]);
    elpd.push_back(out.elpd);
    p.push_back(out.p);
    elpd_waic.push_back(information.elpd);
  }
  near(total(elpd).value, expected["elpd_loo"]);
  near(total(elpd).standard_error, expected["se_elpd_loo"]);
  near(total(p).value, expected["p_loo"]);
  near(total(p).standard_error, expected["se_p_loo"]);
  near(total(elpd_waic).value, expected["elpd_waic"]);
  near(total(elpd_waic).standard_error, expected["se_elpd_waic"]);
}

// The log likelihoods of a group are summed before the group is left out (data/make_loo_groups.py).
TEST_F(CrossValidation, GroupsThatAreLeftOutAreThoseOfArviZ) {
  const json groups = json::parse(std::ifstream(EMOMC_SOURCE_DIR "/tests/libsampler/data/loo_groups.json"));
  std::vector<Vector> sums(7, Vector(by_observation[0].size()));
  for (std::size_t i = 0; i < by_observation.size(); ++i)
    for (std::size_t s = 0; s < by_observation[i].size(); ++s)
      sums[groups["groups"][i].get<std::size_t>()][s] += by_observation[i][s];
  Vector elpd, p;
  for (std::size_t g = 0; g < sums.size(); ++g) {
    const LeftOut out = leave_out(sums[g]);
    near(out.pareto_k, groups["pareto_k"][g]);
    near(out.elpd, groups["elpd_loo_pointwise"][g]);
    elpd.push_back(out.elpd);
    p.push_back(out.p);
  }
  near(total(elpd).value, groups["elpd_loo"]);
  near(total(p).value, groups["p_loo"]);
}

TEST_F(CrossValidation, SmoothedWeightsAreThoseOfRsLoo) {
  for (std::size_t c = 0; c < expected["chosen"].size(); ++c) {
    Vector ratios = by_observation[expected["chosen"][c]];
    for (double& x : ratios) x = -x;
    const ParetoSmoothed smoothed = pareto_smooth(ratios);
    for (std::size_t s = 0; s < ratios.size(); ++s)
      near(smoothed.log_weights[s], expected["log_weights"][c][s]);
  }
}

TEST_F(CrossValidation, DifferencesOfModelsAreThoseOfRsLoo) {
  Vector difference;
  for (std::size_t i = 0; i < by_observation.size(); ++i) {
    Vector other = by_observation[i];
    for (std::size_t s = 0; s < other.size(); ++s)
      other[s] += 0.3 * std::sin(static_cast<double>(s + 1)) - 0.2 + 0.5 * static_cast<double>(i) / 31;
    difference.push_back(leave_out(by_observation[i]).elpd - leave_out(other).elpd);
  }
  // loo_compare reports the difference for the worse model.
  const Estimate estimate = total(difference);
  EXPECT_NEAR(-std::abs(estimate.value), expected["difference"].get<double>(), 1e-6);
  EXPECT_NEAR(estimate.standard_error, expected["se_difference"].get<double>(), 1e-6);
}

TEST(ParetoSmoothing, FewOrEqualDrawsHaveNoPareto) {
  EXPECT_TRUE(std::isinf(pareto_smooth(Vector{1, 2, 3}).pareto_k));
  const ParetoSmoothed equal = pareto_smooth(Vector(100, -3.0));
  EXPECT_TRUE(std::isinf(equal.pareto_k));
  for (double w : equal.log_weights) EXPECT_NEAR(w, -std::log(100.0), 1e-12);
}

}  // namespace
}  // namespace emomc
