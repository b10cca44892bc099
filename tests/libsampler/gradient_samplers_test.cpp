// Tests complete runs of gradient samplers, with their warm-up.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>

#include "emomc/core/errors.hpp"
#include "emomc/sampler/diagnostics.hpp"
#include "keeper.hpp"
#include "trajectory_problems.hpp"

namespace emomc {
namespace {

using namespace testing;

// Keeps statistics and progress, too.
struct GradientKeeper : Keeper {
  std::vector<DrawStatistics> statistics;
  Progress last;
  void on_draws(const DrawBatch& d) override {
    Keeper::on_draws(d);
    if (d.statistics && !d.warmup)
      statistics.insert(statistics.end(), d.statistics,
                        d.statistics + std::ptrdiff_t{d.num_draws} * d.num_chains);
  }
  Continue on_progress(const Progress& p) override {
    last = p;
    return Keeper::on_progress(p);
  }
};

struct Sampling {
  std::unique_ptr<Device> device = make_host_device();
  TrajectoryProblem problem;
  FunctionEngine engine;
  ProposalSpec proposal;
  std::vector<ChainPlan> plans;
  RunOptions options;
  std::vector<double> starts;
  GradientKeeper keeper;
  RunResult result;

  Sampling(const std::string& kind, TrajectoryProblem of, std::size_t chains = 4,
           ProposalShape shape = ProposalShape::diagonal)
      : problem(std::move(of)), engine(*device, problem.target.layout(), problem.log_likelihood) {
    proposal.kind = kind;
    proposal.shape = shape;
    for (std::uint64_t c = 0; c < chains; ++c) plans.push_back({c, {0}, problem.beta, 0});
    starts.assign(chains * static_cast<std::size_t>(problem.target.dim()), 0.0);
    for (std::size_t i = 0; i < starts.size(); ++i) starts[i] = 0.3 * std::cos(static_cast<double>(7 * i));
    options.seed = 9;
  }
  void run(const SamplerState* resume = nullptr) {
    result = run_chains(engine, problem.target, proposal, plans, options, starts, keeper, resume);
  }
  std::vector<double> values_of(int element) const {
    std::vector<double> values;
    const auto dim = static_cast<std::size_t>(problem.target.dim());
    for (std::size_t i = static_cast<std::size_t>(element); i < keeper.theta.size(); i += dim)
      values.push_back(keeper.theta[i]);
    return values;
  }
  DrawsView view(const std::vector<double>& values) const {
    return {values.data(), values.size() / plans.size(), plans.size(),
            static_cast<std::ptrdiff_t>(plans.size()), 1};
  }
  double mean(double DrawStatistics::*what) const {
    double sum = 0;
    for (const auto& draw : keeper.statistics) sum += draw.*what;
    return sum / static_cast<double>(keeper.statistics.size());
  }
  /// Returns the mean over steps of the harmonic mean over chains of the acceptance by which chees adapts the
  /// step size.
  double mean_of_harmonic_means() const {
    double sum = 0;
    for (std::size_t first = 0; first < keeper.statistics.size(); first += plans.size()) {
      double inverses = 0;
      for (std::size_t c = 0; c < plans.size(); ++c)
        inverses += 1 / std::max(1e-3, keeper.statistics[first + c].acceptance);
      sum += static_cast<double>(plans.size()) / inverses;
    }
    return sum * static_cast<double>(plans.size()) / static_cast<double>(keeper.statistics.size());
  }
  double mean(int DrawStatistics::*what) const {
    double sum = 0;
    for (const auto& draw : keeper.statistics) sum += draw.*what;
    return sum / static_cast<double>(keeper.statistics.size());
  }
};

// Returns independent standard normal numbers.
TrajectoryProblem standard_normal(int n) {
  return {real_target(n, 1), [n](int, const double*, double* gradient) {
            if (gradient) std::fill_n(gradient, n, 0.0);
            return 0.0;
          }};
}

class GradientSampler : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Kinds, GradientSampler, ::testing::Values("mala", "hmc", "nuts", "chees"),
                         [](const auto& kind) { return kind.param; });

// There are 3 kinds, 3 shapes and 6 comparisons within 6.5 standard errors: rate of false alarms 54 x
// 8.1e-11.
TEST_P(GradientSampler, AdaptsToItsTargetAndSamplesACorrelatedNormal) {
  const double target = default_target_acceptance(GetParam());
  for (const auto shape : {ProposalShape::isotropic, ProposalShape::diagonal, ProposalShape::dense}) {
    // The harmonic mean of few chains' acceptances changes much from step to step.
    const std::size_t chains = GetParam() == "chees" ? 32 : 4;
    Sampling run(GetParam(), correlated_normal({}).problem, chains, shape);
    run.options.draws = GetParam() == "chees" ? 500 : 3000;
    run.options.thin = GetParam() == "mala" ? 10 : 1;
    run.run();
    const double acceptance =
        GetParam() == "chees" ? run.mean_of_harmonic_means() : run.mean(&DrawStatistics::acceptance);
    // Leapfrogs that are fitted to the covariance are accepted at their longest time, too.
    if (shape == ProposalShape::dense)
      EXPECT_GT(acceptance, 0.95);
    else
      EXPECT_NEAR(acceptance, target, 0.07);
    // The first mean is over all steps, and the second over the draws that are kept.
    EXPECT_NEAR(run.keeper.last.mean_acceptance, run.mean(&DrawStatistics::acceptance),
                run.options.thin == 1 ? 1e-9 : 0.01);
    EXPECT_LT(std::abs(run.result.adaptation_drift[0]), 0.5);
    const double sd[] = {1, 3, 0.5};
    for (int i = 0; i < 3; ++i) {
      const auto values = run.values_of(i);
      const DrawsView view = run.view(values);
      EXPECT_LT(std::abs(draws_mean(view)), 6.5 * mcse_mean(view)) << i;
      EXPECT_LT(std::abs(draws_sd(view) - sd[i]), 6.5 * mcse_sd(view)) << i;
      EXPECT_LT(mcse_mean(view), 0.1 * sd[i]) << i;
    }
    // The step size follows the metric: it is the longest one if the metric is the covariance, and near the
    // least sd otherwise.
    const double step_size = run.mean(&DrawStatistics::step_size);
    if (shape == ProposalShape::dense) {
      EXPECT_GT(step_size, 0.95 * device::kLongestFitted);
      EXPECT_LE(step_size, 1.0001 * device::kLongestFitted);
    } else if (shape == ProposalShape::isotropic) {
      EXPECT_LT(step_size, 0.9);
    }
  }
}

TEST_P(GradientSampler, DoesNotAdaptAfterWarmup) {
  Sampling run(GetParam(), correlated_normal({}).problem);
  run.options.warmup = 300;
  run.options.draws = 200;
  run.run();
  for (const auto& draw : run.keeper.statistics)
    EXPECT_EQ(draw.step_size, run.keeper.statistics[0].step_size);
}

TEST_P(GradientSampler, TellsHowDrawsCameAbout) {
  const ExactProblem exact = correlated_normal({});
  Sampling run(GetParam(), exact.problem, 3);
  run.options.warmup = 100;
  run.options.draws = 50;
  run.options.thin = 2;
  run.run();
  ASSERT_EQ(run.keeper.statistics.size(), 150u);
  for (std::size_t i = 0; i < run.keeper.statistics.size(); ++i) {
    const DrawStatistics& draw = run.keeper.statistics[i];
    EXPECT_GE(draw.acceptance, 0);
    EXPECT_LE(draw.acceptance, 1);
    EXPECT_GE(draw.num_leapfrogs, 1);
    EXPECT_LE(draw.num_leapfrogs, 1023);
    if (GetParam() == "nuts") {
      EXPECT_GE(draw.num_leapfrogs, (1 << draw.tree_depth) - 1);
      EXPECT_LT(draw.num_leapfrogs, 1 << (draw.tree_depth + 1));
    } else {
      EXPECT_EQ(draw.tree_depth, 0);
    }
    // The kinetic energy is not negative.
    EXPECT_GE(draw.energy, -(run.keeper.log_likelihood[i] + run.keeper.log_prior[i]));
  }
  EXPECT_EQ(run.result.trajectories.num_divergences, 0u);
  // All evaluations count except those of the starts.
  EXPECT_EQ(run.result.num_evaluations, static_cast<std::uint64_t>(run.engine.num_gradients) - 3);
  EXPECT_GT(run.result.trajectories.mean_leapfrogs, GetParam() == "mala" ? 0.9 : 1.5);

  Sampling walk("random_walk", exact.problem, 3);
  walk.run();
  EXPECT_TRUE(walk.keeper.statistics.empty());
}

// The density is Neal's funnel, centred, with an sd of 3 for the logarithm of a variance. Its neck is too
// narrow for any step size that suits the rest.
TEST_P(GradientSampler, DivergesInAFunnelAndNotInANormal) {
  constexpr int kBranches = 9;
  const auto funnel_density = [](int, const double* x, double* gradient) {
    double value = without_prior(1 + kBranches, x, gradient) - x[0] * x[0] / 18;
    if (gradient) gradient[0] -= x[0] / 9;
    const double precision = std::exp(-x[0]);
    for (int i = 1; i <= kBranches; ++i) {
      value -= 0.5 * x[i] * x[i] * precision + 0.5 * x[0];
      if (!gradient) continue;
      gradient[0] += 0.5 * x[i] * x[i] * precision - 0.5;
      gradient[i] -= x[i] * precision;
    }
    return value;
  };
  Sampling funnel(GetParam(), {real_target(1 + kBranches, kWide), funnel_density}, 8);
  funnel.options.draws = 2000;
  funnel.run();
  double divergent = 0;
  for (const auto& draw : funnel.keeper.statistics) divergent += draw.divergent;
  if (std::string(GetParam()) == "mala") {
    EXPECT_EQ(divergent, 0);
  } else {
    EXPECT_GT(divergent, 0);
  }
  EXPECT_EQ(static_cast<double>(funnel.result.trajectories.num_divergences), divergent);
  EXPECT_EQ(funnel.keeper.last.trajectories.num_divergences, funnel.result.trajectories.num_divergences);
  EXPECT_EQ(funnel.result.state.faults, std::vector<std::uint64_t>(8, 0));

  Sampling normal(GetParam(), standard_normal(1 + kBranches), 8);
  normal.options.draws = 2000;
  normal.run();
  EXPECT_EQ(normal.result.trajectories.num_divergences, 0u);
  EXPECT_EQ(normal.result.trajectories.deepest_share, 0);
}

TEST_P(GradientSampler, NeedsGradients) {
  const TrajectoryProblem problem = standard_normal(2);
  const auto device = make_host_device();
  FunctionEngine engine(*device, problem.target.layout(), [](const double*) { return 0.0; });
  Keeper keeper;
  try {
    run_chains(engine, problem.target, {GetParam()}, {{0, {0}, 1.0, 0}}, {}, std::vector<double>{0, 0},
               keeper);
    FAIL();
  } catch (const InputError& error) {
    const std::string text = error.what();
    EXPECT_EQ(
        text.find(
            "sampler.proposal.kind: " + GetParam() +
            " needs gradients, which the function engine does not have of this likelihood; allowed here: "
            "component_wise, random_walk"),
        0u)
        << text;
    EXPECT_EQ(text.find(GetParam(), text.find("allowed")), std::string::npos) << text;
  }
}

// A point beyond an edge is rejected: as a divergence if the density is zero, and as a fault if it is not a
// number.
TEST_P(GradientSampler, MinusInfinityDivergesAndNanIsAFault) {
  for (const double bad :
       {-std::numeric_limits<double>::infinity(), std::nan(""), std::numeric_limits<double>::infinity()}) {
    const auto half_line = [bad](int, const double* theta, double* gradient) {
      if (gradient) std::fill_n(gradient, 2, 0.0);
      return theta[0] < -0.5 ? bad : 0.0;
    };
    Sampling run(GetParam(), {real_target(2, 1), half_line}, 2);
    run.options.warmup = 0;
    run.options.draws = 1500;
    if (!(bad < 0)) {
      EXPECT_THROW(run.run(), DensityError);
    }
    run.keeper = {};
    run.options.max_nan_share = 1;
    run.run();
    for (const double x : run.values_of(0)) EXPECT_GE(x, -0.5);
    if (std::string(GetParam()) == "mala") {
      EXPECT_EQ(run.result.trajectories.num_divergences, 0u);
    } else {
      EXPECT_GT(run.result.trajectories.num_divergences, 100u);
    }
    if (bad < 0) {
      EXPECT_EQ(run.result.state.faults, (std::vector<std::uint64_t>{0, 0}));
    } else {
      EXPECT_GT(run.result.state.faults[0], 100u);
    }
  }
}

TEST_P(GradientSampler, AGradientThatIsNotFiniteIsAFault) {
  const auto log_likelihood = [](int, const double* theta, double* gradient) {
    if (gradient) std::fill_n(gradient, 2, theta[0] < -0.5 ? std::nan("") : 0.0);
    return 0.0;
  };
  Sampling run(GetParam(), {real_target(2, 1), log_likelihood}, 2);
  run.options.warmup = 0;
  run.options.draws = 1500;
  EXPECT_THROW(run.run(), DensityError);
  run.starts = {-1, 0, -1, 0};
  EXPECT_THROW(run.run(), DensityError);
}

TEST_P(GradientSampler, RunsWithAnyLengthOfWarmup) {
  for (const std::int64_t warmup : {0, 1, 5, 19, 20, 21, 40, 149, 151}) {
    Sampling run(GetParam(), correlated_normal({}).problem, 2, ProposalShape::dense);
    run.options.warmup = warmup;
    run.options.draws = 20;
    run.run();
    for (const auto& draw : run.keeper.statistics) {
      EXPECT_GT(draw.step_size, 1e-3) << warmup;
      EXPECT_LT(draw.step_size, 10) << warmup;
    }
  }
}

// A warm-up that is requested later continues with the adapted values, and a resumed run has the same draws.
TEST_P(GradientSampler, ALongerWarmupGoesOnFromAState) {
  struct Asker : GradientKeeper {
    int asked = 0;
    std::int64_t restarted_at = 0;
    Decision on_decision(std::int64_t) override {
      return restarted_at == 0 ? Decision::longer_warmup : Decision::more_draws;
    }
    void on_longer_warmup(std::int64_t end) override { restarted_at = end; }
  };
  Sampling run(GetParam(), correlated_normal({}).problem, 3, ProposalShape::dense);
  run.options.warmup = 60;
  run.options.draws = 30;
  run.options.segment_steps = 7;
  run.options.decisions = {10};
  const auto go = [&](DrawHandler& handler, const SamplerState* resume) {
    return run_chains(run.engine, run.problem.target, run.proposal, run.plans, run.options, run.starts,
                      handler, resume);
  };
  Asker whole;
  const RunResult expected = go(whole, nullptr);
  EXPECT_EQ(whole.restarted_at, 60 + 10 + 120);
  Asker first;
  first.stop_after = 120;  // in the second warm-up
  go(first, nullptr);
  Asker second;
  second.restarted_at = 1;
  const RunResult actual = go(second, &first.states.back());
  EXPECT_EQ(second.theta, std::vector<double>(whole.theta.begin() + 10 * 3 * 3, whole.theta.end()));
  EXPECT_EQ(actual.state.adaptation, expected.state.adaptation);
  EXPECT_EQ(actual.num_evaluations, expected.num_evaluations);
}

// Each group with its own priors and powers has the draws that it has alone.
TEST_P(GradientSampler, AGroupHasTheDrawsThatItHasAlone) {
  Sampling both(GetParam(), standard_normal(3), 4);
  both.options.warmup = 150;
  both.options.draws = 30;
  const std::vector<Target> targets{real_target(3, 1), real_target(3, 20)};
  for (std::size_t c : {2u, 3u}) both.plans[c].group = 1;
  const auto run = [&](const std::vector<ChainPlan>& plans, std::span<const Target> its,
                       const std::vector<double>& starts) {
    Keeper keeper;
    run_chains(both.engine, its, both.proposal, plans, both.options, starts, keeper);
    return keeper.theta;
  };
  const auto together = run(both.plans, targets, both.starts);
  for (std::size_t group : {0u, 1u}) {
    std::vector<ChainPlan> plans(both.plans.begin() + static_cast<std::ptrdiff_t>(2 * group),
                                 both.plans.begin() + static_cast<std::ptrdiff_t>(2 * group + 2));
    for (auto& plan : plans) plan.group = 0;
    const auto begin = both.starts.begin() + static_cast<std::ptrdiff_t>(6 * group);
    const auto alone = run(plans, {&targets[group], 1}, {begin, begin + 6});
    for (std::size_t draw = 0; draw < 30; ++draw)
      for (std::size_t i = 0; i < 6; ++i)
        ASSERT_EQ(alone[draw * 6 + i], together[draw * 12 + 6 * group + i]) << group << ", draw " << draw;
  }
}

// Effective draws per gradient of the means and squares of 100 independent normal coordinates.
struct Efficiency {
  double least_mean = 1e300, mean = 0, least_square = 1e300;
  double least_ess = 1e300;  ///< of the means, not per gradient
};
Efficiency efficiency_of(const Sampling& run) {
  Efficiency result;
  const double draws = static_cast<double>(run.keeper.statistics.size());
  const double gradients = run.result.trajectories.mean_leapfrogs * draws;
  for (int i = 0; i < 100; ++i) {
    auto values = run.values_of(i);
    const double ess = ess_mean(run.view(values));
    result.least_ess = std::min(result.least_ess, ess);
    result.least_mean = std::min(result.least_mean, ess / gradients);
    result.mean += ess / gradients / 100;
    for (double& value : values) value *= value;
    result.least_square = std::min(result.least_square, ess_mean(run.view(values)) / gradients);
  }
  std::cout << "effective draws a gradient: mean " << result.mean << ", least " << result.least_mean
            << ", of squares " << result.least_square << "; step size "
            << run.mean(&DrawStatistics::step_size) << ", acceptance "
            << run.mean(&DrawStatistics::acceptance) << ", gradients a draw "
            << run.result.trajectories.mean_leapfrogs << '\n';
  return result;
}

// These are Stan's figures for 100 independent normal coordinates: trees of 7 leapfrogs, an acceptance
// statistic of 0.8 to 0.9, and means with more effective draws than there are draws. An isotropic metric
// keeps the usual leapfrogs.
TEST(Nuts, IsAsEfficientAsStansForANormalDensity) {
  Sampling run("nuts", standard_normal(100), 4, ProposalShape::isotropic);
  run.proposal.target_acceptance = 0.8;
  run.options.draws = 2000;
  run.run();
  EXPECT_NEAR(run.mean(&DrawStatistics::acceptance), 0.82, 0.06);
  EXPECT_NEAR(run.mean(&DrawStatistics::num_leapfrogs), 7, 0.5);
  EXPECT_GT(efficiency_of(run).least_ess, 8000);
}

// Leapfrogs that are fitted to the learned metric are longer.
TEST(Nuts, NeedsFewerGradientsWithAMetric) {
  Sampling run("nuts", standard_normal(100), 4);
  run.options.draws = 2000;
  run.run();
  EXPECT_NEAR(run.mean(&DrawStatistics::num_leapfrogs), 3, 0.3);
  const Efficiency efficiency = efficiency_of(run);
  EXPECT_GT(efficiency.least_mean, 0.4);
  EXPECT_GT(efficiency.least_square, 0.06);
}

// With the usual leapfrogs of an isotropic metric, squares have 0.05 effective draws per gradient.
TEST(Hmc, NeedsFewGradientsWithAMetric) {
  Sampling run("hmc", standard_normal(100), 4);
  run.options.draws = 2000;
  run.run();
  EXPECT_LT(run.result.trajectories.mean_leapfrogs, 2);
  const Efficiency efficiency = efficiency_of(run);
  EXPECT_GT(efficiency.least_mean, 0.4);
  EXPECT_GT(efficiency.least_square, 0.2);
  Sampling plain("hmc", standard_normal(100), 4, ProposalShape::isotropic);
  plain.options.draws = 2000;
  plain.run();
  EXPECT_LT(efficiency_of(plain).least_square, 0.3 * efficiency.least_square);
}

}  // namespace
}  // namespace emomc
