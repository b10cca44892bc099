#include "emomc/sampler/run_chains.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "emomc/core/errors.hpp"
#include "fake_async_device.hpp"
#include "function_engine.hpp"
#include "keeper.hpp"
#include "mixture_target.hpp"

namespace emomc {
namespace {

using testing::FakeAsyncDevice;
using testing::FunctionEngine;
using testing::Keeper;
using testing::mixture_layout;
using testing::mixture_prior;
using testing::number;

const std::vector<double> kUnitSd(8, 1.0);

// Returns a log likelihood that is not a sum over rows and depends on every parameter.
double bumpy(const double* theta) {
  double sum = 0;
  for (int i = 0; i < 10; ++i)
    sum -= 0.3 * (theta[i] - 0.1 * i) * (theta[i] - 0.1 * i) + 0.1 * std::cos(3 * theta[i]);
  return sum;
}

double bumpy_with_gradient(int, const double* theta, double* gradient) {
  for (int i = 0; gradient && i < 10; ++i)
    gradient[i] = -0.6 * (theta[i] - 0.1 * i) + 0.3 * std::sin(3 * theta[i]);
  return bumpy(theta);
}

struct Problem {
  Target target{mixture_layout(2, 2), mixture_prior(), kUnitSd};
  ProposalSpec proposal;
  std::vector<ChainPlan> plans;
  RunOptions options;
  std::vector<double> starts;
  std::vector<double> one_start{0.3, 0.7, 0.1, 0.2, 0.3, 0.4, 1, 1.1, 0.9, 1.2};

  Problem() {
    for (std::uint64_t c = 0; c < 3; ++c) {
      plans.push_back({c, {0}, 1.0, 0});
      starts.insert(starts.end(), one_start.begin(), one_start.end());
    }
    options.warmup = 150;
    options.draws = 40;
    options.thin = 3;
    options.seed = 17;
  }
  RunResult run(Device& device, DrawHandler& handler, const SamplerState* resume = nullptr) const {
    FunctionEngine engine(device, target.layout(), bumpy_with_gradient);
    return run_chains(engine, target, proposal, plans, options, starts, handler, resume);
  }
};

// A step of an ensemble moves each chain once, in two blocks.
TEST(RunChains, EvaluationsAreThoseOfTheEngine) {
  const auto device = make_host_device();
  for (const char* kind : {"component_wise", "random_walk", "stretch", "differential_evolution"}) {
    Problem problem;
    problem.proposal.kind = kind;
    for (std::uint64_t c = 3; c < 20; ++c) {
      problem.plans.push_back({c, {0}, 1.0, 0});
      for (const double x : problem.one_start)
        problem.starts.push_back(x * (1 + 0.01 * static_cast<double>(c) * (x < 0.7)));
      problem.starts[c * 10 + 1] = 1 - problem.starts[c * 10];  // weights sum to 1
    }
    std::uint64_t calls = 0;
    FunctionEngine engine(*device, problem.target.layout(), [&](const double* theta) {
      ++calls;
      return bumpy(theta);
    });
    Keeper keeper;
    const RunResult result = run_chains(engine, problem.target, problem.proposal, problem.plans,
                                        problem.options, problem.starts, keeper);
    EXPECT_EQ(result.num_evaluations + 20, calls) << kind;  // each start is evaluated, too
  }
}

TEST(RunChains, KeepsTheDrawsThatWereAskedForAtTheirSteps) {
  const auto device = make_host_device();
  const Problem problem;
  Keeper keeper;
  const RunResult result = problem.run(*device, keeper);
  ASSERT_EQ(keeper.steps.size(), 40u);
  for (std::size_t i = 0; i < 40; ++i) EXPECT_EQ(keeper.steps[i], 150 + 3 * static_cast<std::int64_t>(i + 1));
  EXPECT_EQ(keeper.theta.size(), 40u * 3 * 10);
  EXPECT_EQ(result.state.step, 270);
  EXPECT_EQ(result.num_evaluations, 270u * 3 * 5);
  // The state is the last draw, and the values stored with a draw belong to it.
  for (std::size_t c = 0; c < 3; ++c) {
    const double* last = keeper.theta.data() + (39 * 3 + c) * 10;
    EXPECT_EQ(result.state.log_likelihood[c], bumpy(last));
    EXPECT_EQ(keeper.log_likelihood[39 * 3 + c], bumpy(last));
    EXPECT_EQ(keeper.log_prior[39 * 3 + c], problem.target.log_prior({last, 10}));
    EXPECT_EQ(result.state.proposed[c * 5], 120u);
  }
}

TEST(RunChains, DrawsDoNotDependOnSegmentLengthOrOnAnAsynchronousDevice) {
  const auto host = make_host_device();
  for (const char* kind : {"random_walk", "component_wise", "mala", "hmc", "nuts", "chees"}) {
    Problem problem;
    problem.proposal.kind = kind;
    Keeper expected;
    problem.run(*host, expected);
    for (std::int64_t segment : {1, 2, 7, 64, 100000}) {
      problem.options.segment_steps = segment;
      Keeper keeper;
      problem.run(*host, keeper);
      EXPECT_EQ(keeper.theta, expected.theta) << kind << ", segments of " << segment;
      EXPECT_EQ(keeper.steps, expected.steps);
      FakeAsyncDevice later(std::chrono::microseconds(segment == 1 ? 0 : 50));
      Keeper asynchronous;
      problem.run(later, asynchronous);
      EXPECT_EQ(asynchronous.theta, expected.theta) << kind << ", asynchronous, segments of " << segment;
      EXPECT_EQ(asynchronous.log_likelihood, expected.log_likelihood);
    }
  }
}

TEST(RunChains, AChainDoesNotDependOnItsNeighboursOnceAdaptationIsDone) {
  const auto device = make_host_device();
  for (const char* kind : {"component_wise", "mala", "hmc", "nuts", "chees"}) {
    Problem problem;
    problem.proposal.kind = kind;
    problem.options.warmup = 0;
    Keeper all;
    problem.run(*device, all);
    problem.plans = {problem.plans[1]};
    problem.starts.resize(10);
    Keeper one;
    problem.run(*device, one);
    for (std::size_t i = 0; i < 40; ++i)
      for (std::size_t j = 0; j < 10; ++j) EXPECT_EQ(one.theta[i * 10 + j], all.theta[(i * 3 + 1) * 10 + j]);
  }
}

bool have_the_same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

// Expects the same draws from a run that is stopped after every few steps and continued, as after a kill and
// with --resume.
void expect_the_same_draws_in_pieces(const Problem& problem, std::int64_t steps_each,
                                     const std::string& what) {
  const auto device = make_host_device();
  Keeper whole;
  const RunResult uninterrupted = problem.run(*device, whole);
  std::vector<double> theta, warmup_theta;
  SamplerState state;
  RunResult result;
  result.finished = false;
  int pieces = 0;
  for (; !result.finished; ++pieces) {
    ASSERT_LT(pieces, 1000) << what;
    Keeper piece;
    piece.stop_after = state.step + steps_each;
    result = problem.run(*device, piece, pieces == 0 ? nullptr : &state);
    // No draw is passed on that is later than the state.
    state = piece.states.back();
    theta.insert(theta.end(), piece.theta.begin(), piece.theta.end());
    warmup_theta.insert(warmup_theta.end(), piece.warmup_theta.begin(), piece.warmup_theta.end());
  }
  EXPECT_GT(pieces, 270 / (steps_each + 2 * problem.options.segment_steps)) << what;
  EXPECT_TRUE(have_the_same_bits(state.adaptation, uninterrupted.state.adaptation)) << what;
  EXPECT_EQ(theta, whole.theta) << what;
  EXPECT_EQ(warmup_theta, whole.warmup_theta) << what;
  EXPECT_EQ(state.unconstrained, uninterrupted.state.unconstrained) << what;
  EXPECT_EQ(state.accepted, uninterrupted.state.accepted) << what;
  EXPECT_EQ(state.num_evaluations, uninterrupted.num_evaluations) << what;
  for (std::size_t b = 0; b < uninterrupted.adaptation_drift.size(); ++b)
    EXPECT_TRUE(result.adaptation_drift[b] == uninterrupted.adaptation_drift[b] ||
                (std::isnan(result.adaptation_drift[b]) && std::isnan(uninterrupted.adaptation_drift[b])))
        << what;
}

TEST(RunChains, GoesOnFromAStateBetweenAnyTwoSegmentsBitForBit) {
  for (const std::int64_t steps_each : {1, 4, 9, 23})
    for (auto shape : {ProposalShape::isotropic, ProposalShape::diagonal, ProposalShape::dense}) {
      Problem problem;
      problem.proposal.shape = shape;
      problem.options.segment_steps = steps_each == 1 ? 1 : 3;
      problem.options.keep_warmup = steps_each == 9;
      expect_the_same_draws_in_pieces(problem, steps_each, "pieces of " + std::to_string(steps_each));
    }
}

// A chain that has not settled adapts to the rise of its log density within a window.
TEST(RunChains, AClimbGoesOnFromAState) {
  Problem problem;
  for (std::size_t i = 0; i < problem.starts.size(); ++i)
    if (i % 10 >= 2 && i % 10 < 6) problem.starts[i] = 40;
  problem.options.segment_steps = 2;
  expect_the_same_draws_in_pieces(problem, 3, "a climb");
}

TEST(RunChains, EveryProposalGoesOnFromAState) {
  for (const std::string& kind : proposal_names()) {
    Problem problem;
    problem.proposal.kind = kind;
    if (proposal_use(kind).mixtures_only) continue;
    if (proposal_use(kind).other_chains)
      for (std::uint64_t c = 3; c < 20; ++c) {
        problem.plans.push_back({c, {0}, 1.0, 0});
        for (std::size_t i = 0; i < 10; ++i)
          problem.starts.push_back(problem.one_start[i] +
                                   (i < 2 ? 0 : 0.01 * std::cos(static_cast<double>(7 * i + c))));
      }
    problem.options.segment_steps = 2;
    expect_the_same_draws_in_pieces(problem, 5, kind);
  }
}

// Without the window's points and counts in the state, an interruption in a long window could lose half of a
// warm-up.
TEST(RunChains, StopsInTheMiddleOfAWindow) {
  const auto device = make_host_device();
  Problem problem;
  problem.options.warmup = 4000;
  problem.options.segment_steps = 10;
  Keeper keeper;
  keeper.stop_after = 3500;
  const RunResult stopped = problem.run(*device, keeper);
  EXPECT_FALSE(stopped.finished);
  EXPECT_LT(stopped.state.step, 3510);
  EXPECT_NE(stopped.state.window_proposed, stopped.state.proposed);
  EXPECT_NE(stopped.state.window_proposed, std::vector<std::uint64_t>(stopped.state.proposed.size(), 0));
}

TEST(RunChains, AStateWhoseDensityIsNoLongerTheSameIsRefused) {
  const auto device = make_host_device();
  const Problem problem;
  Keeper keeper, again;
  const SamplerState good = problem.run(*device, keeper).state;
  for (const bool prior : {false, true}) {
    SamplerState state = good;
    (prior ? state.log_prior : state.log_likelihood)[1] += 1e-12;
    try {
      problem.run(*device, again, &state);
      ADD_FAILURE();
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(prior ? "log prior of chain 1" : "log likelihood of chain 1"),
                std::string::npos)
          << error.what();
    }
  }
}

TEST(RunChains, WarmupDrawsAreHandedOverWithoutChangingTheOthers) {
  const auto device = make_host_device();
  Problem problem;
  Keeper without, with;
  problem.run(*device, without);
  problem.options.keep_warmup = true;
  problem.run(*device, with);
  EXPECT_EQ(with.theta, without.theta);
  EXPECT_EQ(with.warmup_theta.size(), 50u * 3 * 10);
}

TEST(RunChains, ComponentBlocksAskForTheirComponentOnlyAndChangeNoDraw) {
  const auto device = make_host_device();
  Problem problem;
  Keeper plain, component;
  problem.run(*device, plain);
  FunctionEngine engine(*device, problem.target.layout(), bumpy, true);
  run_chains(engine, problem.target, problem.proposal, problem.plans, problem.options, problem.starts,
             component);
  EXPECT_EQ(component.theta, plain.theta);
  EXPECT_EQ(engine.num_full, 1);  // the start
  EXPECT_EQ(engine.num_commits, 270 * 5);
  const std::vector<int> sweep(engine.components_seen.begin(), engine.components_seen.begin() + 5);
  EXPECT_EQ(sweep, (std::vector<int>{kAllComponents, 0, 1, 0, 1}));
}

TEST(RunChains, MinusInfinityRejectsAndNanIsCounted) {
  const auto device = make_host_device();
  Problem problem;
  problem.proposal.kind = "random_walk";
  problem.options.warmup = 0;
  problem.options.draws = 600;
  FunctionEngine half_line(*device, problem.target.layout(), [](const double* theta) {
    return theta[2] < 0 ? -std::numeric_limits<double>::infinity() : 0.0;
  });
  Keeper keeper;
  const RunResult result = run_chains(half_line, problem.target, problem.proposal, problem.plans,
                                      problem.options, problem.starts, keeper);
  for (std::size_t i = 0; i < keeper.log_likelihood.size(); ++i) EXPECT_GE(keeper.theta[i * 10 + 2], 0.0);
  EXPECT_EQ(result.state.faults, (std::vector<std::uint64_t>{0, 0, 0}));

  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    FunctionEngine faulty(*device, problem.target.layout(),
                          [=](const double* theta) { return theta[2] < 0 ? bad : 0.0; });
    Keeper ignored;
    EXPECT_THROW(run_chains(faulty, problem.target, problem.proposal, problem.plans, problem.options,
                            problem.starts, ignored),
                 DensityError);
    problem.options.max_nan_share = 1;
    Keeper kept;
    const RunResult counted = run_chains(faulty, problem.target, problem.proposal, problem.plans,
                                         problem.options, problem.starts, kept);
    EXPECT_GT(counted.state.faults[0], 0u);
    for (std::size_t i = 0; i < kept.log_likelihood.size(); ++i) EXPECT_GE(kept.theta[i * 10 + 2], 0.0);
    problem.options.max_nan_share = 0.01;
  }
}

TEST(RunChains, AStartWithoutAFiniteDensityIsRefused) {
  const auto device = make_host_device();
  const Problem problem;
  FunctionEngine engine(*device, problem.target.layout(), [](const double*) { return std::nan(""); });
  Keeper keeper;
  EXPECT_THROW(run_chains(engine, problem.target, problem.proposal, problem.plans, problem.options,
                          problem.starts, keeper),
               DensityError);
}

TEST(RunChains, AnUnknownProposalIsRefusedByName) {
  const auto device = make_host_device();
  Problem problem;
  problem.proposal.kind = "random_wlak";
  Keeper keeper;
  try {
    problem.run(*device, keeper);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("component_wise, random_walk"), std::string::npos)
        << error.what();
  }
}

// The target is the prior, sampled with a warm-up and 4 chains. The acceptance rate is close to its target,
// and the means of all elements are within 5.6 standard errors, estimated from 50 batches of each chain.
// There are 40 comparisons, t with 199 degrees of freedom, with a rate of false alarms below 1e-6 (2.6e-8
// each).
TEST(RunChains, AdaptsAndSamplesThePrior) {
  const auto device = make_host_device();
  for (const char* kind : {"random_walk", "component_wise"})
    for (auto shape : {ProposalShape::isotropic, ProposalShape::diagonal, ProposalShape::dense}) {
      Problem problem;
      problem.proposal = {kind, shape, 0.234};
      problem.plans.push_back({3, {0}, 1.0, 0});
      problem.starts.insert(problem.starts.end(), problem.one_start.begin(), problem.one_start.end());
      problem.options.warmup = 2000;
      problem.options.draws = 20000;
      problem.options.thin = 2;
      FunctionEngine engine(*device, problem.target.layout(), [](const double*) { return 0.0; });
      Keeper keeper;
      const RunResult result = run_chains(engine, problem.target, problem.proposal, problem.plans,
                                          problem.options, problem.starts, keeper);
      for (std::size_t i = 0; i < result.state.accepted.size(); ++i) {
        const double rate =
            static_cast<double>(result.state.accepted[i]) / static_cast<double>(result.state.proposed[i]);
        EXPECT_GT(rate, 0.1) << kind;
        EXPECT_LT(rate, 0.6) << kind;
      }
      // The expected means are those of Dirichlet(2, 2), of normal(0.5, 2), and of a half normal above its
      // floor: f + sd * phi / Phi.
      const double z = 0.05 / 1.5;
      const double scale =
          1.5 * std::exp(-z * z / 2) / std::sqrt(2 * M_PI) / (0.5 * std::erfc(z / std::sqrt(2)));
      const std::vector<double> expected{0.5, 0.5, 0.5, 0.5, 0.5, 0.5, scale, scale, scale, scale};
      constexpr int batches = 50, length = 400;
      for (std::size_t j = 0; j < 10; ++j) {
        std::vector<double> means;
        for (std::size_t c = 0; c < 4; ++c)
          for (std::size_t b = 0; b < batches; ++b) {
            double sum = 0;
            for (std::size_t i = 0; i < length; ++i) sum += keeper.theta[((b * length + i) * 4 + c) * 10 + j];
            means.push_back(sum / length);
          }
        double mean = 0, square = 0;
        for (double m : means) mean += m / static_cast<double>(means.size());
        for (double m : means) square += (m - mean) * (m - mean);
        const double error =
            std::sqrt(square / static_cast<double>(means.size() - 1) / static_cast<double>(means.size()));
        EXPECT_LT(std::abs(mean - expected[j]), 5.6 * error) << kind << ", element " << j;
        EXPECT_LT(error, 0.1);
      }
    }
}

}  // namespace
}  // namespace emomc
