// Tests the sampler with the real engines: the same proposals everywhere, draws that depend only on seed and
// posterior, and posteriors that are known in closed form.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>

#include "backend_problem.hpp"
#include "emomc/likelihood/simulate.hpp"
#include "emomc/sampler/diagnostics.hpp"

namespace emomc {
namespace {

using testing::chains_for;
using testing::Keeper;
using testing::name_of;
using testing::number;
using testing::OnBackend;
using testing::OnBackendWithProposal;
using Problem = testing::BackendProblem;

INSTANTIATE_TEST_SUITE_P(Backends, OnBackend, ::testing::Values(Backend::cpu, Backend::cuda),
                         [](const auto& backend) { return name_of(backend.param); });

INSTANTIATE_TEST_SUITE_P(Backends, OnBackendWithProposal,
                         ::testing::Combine(::testing::Values(Backend::cpu, Backend::cuda),
                                            ::testing::ValuesIn(proposal_names())),
                         [](const auto& parameters) {
                           return name_of(std::get<0>(parameters.param)) + "_" +
                                  std::get<1>(parameters.param);
                         });

// Without data the draws depend only on random numbers, proposals, transforms, priors and acceptance
// decisions.
TEST_P(OnBackend, ProposalsAndPriorsHaveTheHostsBits) {
  for (const std::string& kind : testing::kinds_on(GetParam()))
    for (auto shape : {ProposalShape::isotropic, ProposalShape::diagonal, ProposalShape::dense}) {
      Problem problem(std::vector<int>{}, chains_for(kind));
      problem.proposal = {kind, shape};
      Keeper expected, actual;
      problem.run(Backend::reference, Precision::float64, expected);
      problem.run(GetParam(), Precision::mixed, actual);
      EXPECT_EQ(actual.theta, expected.theta) << kind;
      EXPECT_EQ(actual.log_prior, expected.log_prior) << kind;
    }
}

// Expects that two engines have the same draws in float64. Points of a gradient sampler are sums of
// gradients, whose rounding differs between engines. Ten steps along trajectories of up to hundreds of
// leapfrogs make a difference of about 1e-11 here.
void expect_the_same_draws(const std::string& kind, const Keeper& actual, const Keeper& expected,
                           const std::string& what) {
  if (!proposal_use(kind).gradient) {
    EXPECT_EQ(actual.theta, expected.theta) << what;
    return;
  }
  ASSERT_EQ(actual.theta.size(), expected.theta.size());
  double largest = 0;
  for (std::size_t i = 0; i < actual.theta.size(); ++i)
    largest = std::max(largest, std::abs(actual.theta[i] - expected.theta[i]));
  EXPECT_LT(largest, 1e-9) << what;
}

// A GPU uses different kernels for few and for many chains. Decisions in float64 could differ from the
// reference's only if a log ratio were within rounding of its bound, which does not happen for this seed.
TEST_P(OnBackendWithProposal, AFewStepsInFloat64HaveTheReferencesDraws) {
  for (const std::uint64_t chains : {3u, 70u}) {
    Problem problem({0}, std::max<std::uint64_t>(chains, chains == 3 ? chains_for(kind()) : 0));
    problem.proposal.kind = kind();
    problem.options.warmup = 5;
    problem.options.draws = 5;
    problem.options.thin = 1;
    Keeper expected;
    problem.run(Backend::reference, Precision::float64, expected);
    for (const auto caches : {ComponentCaches::on, ComponentCaches::off}) {
      Keeper actual;
      problem.options.caches = caches;
      problem.run(backend(), Precision::float64, actual);
      expect_the_same_draws(kind(), actual, expected, std::to_string(chains) + " chains");
    }
  }
}

// There are so many rows that all multiprocessors of a GPU work together on a step of one chain.
TEST_P(OnBackendWithProposal, AFewStepsOnManyRowsHaveTheReferencesDraws) {
  const bool other_chains = proposal_use(kind()).other_chains;
  Problem problem({0}, other_chains ? chains_for(kind()) : 1, 3, other_chains ? 3000 : 140'000);
  problem.proposal.kind = kind();
  problem.options.warmup = 2;
  problem.options.draws = 2;
  problem.options.thin = 1;
  Keeper expected, actual;
  problem.run(Backend::reference, Precision::float64, expected);
  problem.run(backend(), Precision::float64, actual);
  expect_the_same_draws(kind(), actual, expected, "many rows");
}

// Groups with their own priors, powers and data run as one batch. Each group has the draws that it has alone.
TEST_P(OnBackend, AGroupHasTheDrawsThatItHasAlone) {
  for (const std::string kind : {"random_walk", "component_wise", "delayed_rejection"})
    for (const std::uint64_t chains : {2u, 40u}) {
      Problem both({0}, 2 * chains);
      both.proposal.kind = kind;
      both.mixture.data.segments = {{0, 1500}, {1500, 1500}};
      PriorSet other = testing::mixture_prior();
      other.blocks["means"] = {PriorFamily::normal, {number(-0.3), number(0.7)}};
      other.blocks["scales"] = {PriorFamily::half_normal, {number(0.9)}};
      const std::vector<Target> targets{both.target,
                                        {both.target.layout(), other, std::vector<double>(2, 1.0)}};
      for (std::uint64_t c = chains; c < 2 * chains; ++c) both.plans[c] = {c, {1}, 0.25, 1};
      const auto run = [&](const Problem& problem, std::span<const Target> its, Keeper& keeper) {
        const auto device = make_device(GetParam());
        const auto engine =
            make_engine(GetParam(), problem.model, Precision::mixed, problem.mixture.data, *device);
        run_chains(*engine, its, problem.proposal, problem.plans, problem.options, problem.starts, keeper);
      };
      Keeper together;
      run(both, targets, together);
      const auto dim = static_cast<std::size_t>(both.target.dim());
      for (int group : {0, 1}) {
        Problem alone = both;
        const auto first = static_cast<std::ptrdiff_t>(group) * static_cast<std::ptrdiff_t>(chains);
        const auto last = first + static_cast<std::ptrdiff_t>(chains);
        alone.plans.assign(both.plans.begin() + first, both.plans.begin() + last);
        for (ChainPlan& plan : alone.plans) plan.group = 0;
        const auto width = static_cast<std::ptrdiff_t>(dim);
        alone.starts.assign(both.starts.begin() + first * width, both.starts.begin() + last * width);
        Keeper keeper;
        run(alone, {&targets[static_cast<std::size_t>(group)], 1}, keeper);
        for (std::size_t draw = 0; draw < 100; ++draw)
          for (std::size_t i = 0; i < chains * dim; ++i)
            ASSERT_EQ(keeper.theta[draw * chains * dim + i],
                      together.theta[(draw * 2 + static_cast<std::size_t>(group)) * chains * dim + i])
                << kind << ", group " << group << ", draw " << draw;
      }
    }
}

TEST(Groups, TargetsOfOtherStructureAreRefused) {
  Problem problem;
  const auto device = make_device(Backend::reference);
  const auto engine =
      make_engine(Backend::reference, problem.model, Precision::float64, problem.mixture.data, *device);
  PriorSet fixed = testing::mixture_prior();
  fixed.blocks["scales"] = {PriorFamily::fixed, {number(1)}};
  const std::vector<double> sd(2, 1.0);
  const std::vector<Target> unlike{problem.target, {problem.target.layout(), fixed, sd}};
  EXPECT_FALSE(unlike[1].is_like(unlike[0]));
  Keeper keeper;
  const auto run = [&](std::span<const Target> targets) {
    run_chains(*engine, targets, problem.proposal, problem.plans, problem.options, problem.starts, keeper);
  };
  EXPECT_THROW(run(unlike), std::invalid_argument);
  problem.plans[0].group = 2;
  const std::vector<Target> two{problem.target, problem.target};
  EXPECT_THROW(run(two), std::invalid_argument);
}

TEST_P(OnBackendWithProposal, DrawsDoNotDependOnSegmentLengthOrCaches) {
  Problem problem({0}, chains_for(kind()));
  problem.proposal.kind = kind();
  Keeper expected;
  problem.run(backend(), Precision::mixed, expected);
  EXPECT_EQ(expected.theta.size(), 100u * problem.plans.size() * 15);
  for (std::int64_t segment : {1, 13, 100000}) {
    problem.options.segment_steps = segment;
    Keeper actual;
    problem.run(backend(), Precision::mixed, actual);
    EXPECT_EQ(actual.theta, expected.theta) << "segments of " << segment;
  }
  problem.options.caches = ComponentCaches::off;
  Keeper without;
  problem.run(backend(), Precision::mixed, without);
  EXPECT_EQ(without.theta, expected.theta) << "without caches";
}

TEST_P(OnBackend, GoesOnFromAStateBitForBit) {
  for (const std::string& kind : testing::kinds_on(GetParam())) {
    Problem problem({0}, chains_for(kind));
    problem.proposal.kind = kind;
    problem.options.segment_steps = 10;
    Keeper whole, first, second;
    problem.run(GetParam(), Precision::mixed, whole);
    first.want_state_after = 90;
    first.stop_after = 120;
    problem.run(GetParam(), Precision::mixed, first);
    ASSERT_FALSE(first.states.empty());
    problem.run(GetParam(), Precision::mixed, second, &first.states[0]);
    EXPECT_EQ(second.theta, whole.theta) << kind;
  }
}

// `emomc bench` takes the time between two reports as the time of the steps between them. A GPU works on the
// next segment while one is reported, and the host reports a segment before it begins the next.
TEST_P(OnBackend, ProgressIsOfWhatHasJustEnded) {
  struct Stopper : Keeper {
    std::int64_t reported = 0;
    Continue on_progress(const Progress& p) override {
      reported = p.step;
      return p.step >= stop_after ? Continue::stop : Continue::yes;
    }
  };
  Problem problem;
  problem.options.segment_steps = 10;
  Stopper stopper;
  stopper.stop_after = problem.options.warmup + 20;
  const RunResult result = problem.run(GetParam(), Precision::mixed, stopper);
  EXPECT_FALSE(result.finished);
  EXPECT_EQ(stopper.reported, result.state.step);
  const std::int64_t ahead = result.state.step - stopper.stop_after;
  EXPECT_EQ(ahead, GetParam() == Backend::cuda ? problem.options.segment_steps : 0);
}

// All transforms of a covariance and of sampled arguments are tested: transforms, priors and draws are
// bitwise equal to those of the host.
TEST_P(OnBackend, CovariancesAndSampledArgumentsHaveTheHostsBits) {
  for (const std::string covariance : {"full", "tied"})
    for (const std::string kind : {"component_wise", "random_walk"})
      for (const std::uint64_t chains : {3u, 70u}) {
        Problem problem({0}, chains);
        problem.model.covariance = covariance;
        problem.proposal.kind = kind;
        problem.mixture = testing::with_correlations(problem.mixture, covariance, 5);
        PriorSet prior = testing::mixture_prior();
        const ArrayArgument sampled{{}, {}, true};
        prior.blocks["means"] = {PriorFamily::normal, {sampled, sampled}};
        prior.blocks["means.mean"] = {PriorFamily::normal, {number(0), number(3)}};
        prior.blocks["means.sd"] = {PriorFamily::half_normal, {number(3)}};
        prior.blocks["scales"] = {PriorFamily::lognormal, {sampled, number(1)}};
        prior.blocks["scales.meanlog"] = {PriorFamily::normal, {number(0), number(1)}};
        prior.blocks["correlations"] = {PriorFamily::lkj, {number(2)}};
        problem.target = Target(model_layout(problem.model, 2), prior, std::vector<double>(2, 1.0));
        problem.starts.clear();
        for (std::uint64_t c = 0; c < chains; ++c) {
          const auto start = problem.target.with_arguments_of(problem.mixture.theta);
          problem.starts.insert(problem.starts.end(), start.begin(), start.end());
        }
        problem.options.warmup = 5;
        problem.options.draws = 5;
        problem.options.thin = 1;
        Keeper expected, actual;
        problem.run(Backend::reference, Precision::float64, expected);
        problem.run(GetParam(), Precision::float64, actual);
        EXPECT_EQ(actual.theta, expected.theta) << covariance << ", " << kind << ", " << chains << " chains";
        EXPECT_EQ(actual.log_prior, expected.log_prior) << covariance << ", " << kind;
        EXPECT_NE(actual.theta.front(), 0.0);
      }
}

// A decision is requested at exactly its number of draws and ends the run there, also after the run is
// resumed.
TEST_P(OnBackend, DecisionsEndARunAtTheirDraw) {
  struct Decider : Keeper {
    std::vector<std::int64_t> asked;
    std::int64_t enough = 1 << 30;
    std::size_t draws_then = 0;
    Decision on_decision(std::int64_t draws) override {
      asked.push_back(draws);
      draws_then = steps.size();
      return draws >= enough ? Decision::enough : Decision::more_draws;
    }
  };
  Problem problem;
  Keeper whole;
  problem.run(GetParam(), Precision::mixed, whole);
  problem.options.decisions = {10, 11, 40, 77, 1000};
  Decider decider;
  decider.enough = 40;
  const RunResult result = problem.run(GetParam(), Precision::mixed, decider);
  EXPECT_TRUE(result.finished);
  EXPECT_EQ(decider.asked, (std::vector<std::int64_t>{10, 11, 40}));
  EXPECT_EQ(decider.draws_then, 40u);
  EXPECT_EQ(decider.steps.size(), 40u);
  EXPECT_TRUE(std::equal(decider.theta.begin(), decider.theta.end(), whole.theta.begin()));
  Decider again;
  again.enough = 40;
  EXPECT_TRUE(problem.run(GetParam(), Precision::mixed, again, &result.state).finished);
  EXPECT_TRUE(again.steps.empty());
  Decider further;
  problem.run(GetParam(), Precision::mixed, further, &result.state);
  EXPECT_EQ(further.asked, (std::vector<std::int64_t>{40, 77}));
  EXPECT_EQ(further.steps.size(), 60u);
  EXPECT_TRUE(std::equal(further.theta.begin(), further.theta.end(), whole.theta.end() - 60 * 4 * 15));
}

// In float64 a chain's log likelihoods are those of the reference engine at its draws.
TEST_P(OnBackend, KeptLogLikelihoodsAreThoseOfTheDraws) {
  Problem problem;
  Keeper keeper;
  problem.run(GetParam(), Precision::float64, keeper);
  testing::Evaluator reference(Backend::reference, problem.model, Precision::float64, problem.mixture.data);
  for (std::size_t i = 0; i < keeper.log_likelihood.size(); i += 37) {
    const std::vector<double> theta(keeper.theta.begin() + static_cast<std::ptrdiff_t>(i * 15),
                                    keeper.theta.begin() + static_cast<std::ptrdiff_t>(i * 15 + 15));
    const double expected = reference(theta)[0];
    EXPECT_NEAR(keeper.log_likelihood[i], expected, 1e-11 * std::abs(expected));
  }
}

// Two Gaussians with a common mean are fitted to 20 data sets of 20,000 events. The truth is within 5
// posterior sds of the posterior mean in each of 4 parameters (probability of exceeding it 5.7e-7 each for a
// normal posterior, 4.6e-5 for all; fixed seeds).
TEST_P(OnBackend, TwoGaussianFitsRecoverTheTruth) {
  const std::vector<double> truth{0.7, 0.3, 0.8, 2.2};
  PriorSet prior;
  prior.blocks["fraction"] = {PriorFamily::beta, {number(1), number(1)}};
  prior.blocks["mean"] = {PriorFamily::normal, {number(0), number(10)}};
  prior.blocks["sigma"] = {PriorFamily::half_normal, {number(5)}};
  const ModelSpec model{"two_gaussian", 2};
  const Target target(model_layout(model, 1), prior, std::vector<double>{1.0});
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto data = DataSet::single_segment(1, simulate_rows(model, 1, truth, 20000, seed));
    const auto device = make_device(GetParam());
    const auto engine = make_engine(GetParam(), model, Precision::mixed, data, *device);
    RunOptions options;
    options.warmup = 500;
    options.draws = 500;
    options.thin = 2;
    options.seed = seed;
    const std::vector<double> starts{0.5, 0, 1, 3, 0.6, 0.1, 0.9, 2, 0.8, 0.5, 0.7, 2.5, 0.7, 0.2, 1, 2};
    std::vector<ChainPlan> plans;
    for (std::uint64_t c = 0; c < 4; ++c) plans.push_back({c, {0}, 1.0, 0});
    Keeper keeper;
    run_chains(*engine, target, {"random_walk", ProposalShape::dense, 0.234}, plans, options, starts, keeper);
    for (int j = 0; j < 4; ++j) {
      const DrawsView view{keeper.theta.data() + j, 500, 4, 16, 4};
      EXPECT_LT(std::abs(draws_mean(view) - truth[static_cast<std::size_t>(j)]), 5 * draws_sd(view))
          << "seed " << seed << ", parameter " << j;
      EXPECT_LT(draws_sd(view), 0.1);
      EXPECT_LT(rhat(view), 1.1) << "seed " << seed << ", parameter " << j;
    }
  }
}

}  // namespace
}  // namespace emomc
