// Tests chains that are divided among ranks, which are threads here: draws do not depend on the number of
// ranks.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <exception>
#include <functional>
#include <thread>

#include "counted_ranks.hpp"
#include "emomc/core/communicator.hpp"
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

constexpr int kDim = 9;
const std::vector<double> kUnitSd(8, 1.0);

// Returns a log likelihood that depends on every parameter, so that moves of one parameter do not hide errors
// of another.
double bumpy(int, const double* theta, double* gradient) {
  double sum = 0;
  for (int i = 0; i < kDim; ++i) {
    const double x = theta[i] - 0.1 * i;
    sum -= 0.3 * x * x + 0.1 * std::cos(3 * theta[i]);
    if (gradient) gradient[i] = -0.6 * x + 0.3 * std::sin(3 * theta[i]);
  }
  return sum;
}

struct Spread {
  std::vector<Target> targets;
  ProposalSpec proposal;
  std::vector<ChainPlan> plans;
  RunOptions options;
  std::vector<double> starts;
  std::atomic<int>* gathers = nullptr;  ///< if given, the test connects the devices

  explicit Spread(const std::string& kind, int chains = 17, int groups = 1) {
    for (int g = 0; g < groups; ++g) {
      PriorSet prior = mixture_prior();
      prior.scale_floor = 0.05 + 0.01 * g;
      targets.emplace_back(mixture_layout(3, 1), prior, kUnitSd);
    }
    proposal.kind = kind;
    options.warmup = 30;
    options.draws = 5;
    options.thin = 2;
    options.seed = 29;
    for (int c = 0; c < chains; ++c) {
      plans.push_back({static_cast<std::uint64_t>(c), {0}, 1.0, c * groups / chains});
      for (const double x : {0.3, 0.4, 0.3, 0.1, 0.2, 0.4, 1.0, 1.1, 0.9})
        starts.push_back(x < 0.5 ? x : x + 0.02 * c);
    }
  }

  struct Outcome {
    std::vector<Keeper> keepers;  ///< one keeper for each rank
    std::vector<RunResult> results;
  };
  Outcome run(int size, const SamplerState* resume = nullptr, std::int64_t stop_after = -1,
              bool asynchronous = false) const {
    Outcome outcome{std::vector<Keeper>(static_cast<std::size_t>(size)),
                    std::vector<RunResult>(static_cast<std::size_t>(size))};
    auto ranks = make_thread_ranks(size);
    std::vector<std::exception_ptr> errors(static_cast<std::size_t>(size));
    std::vector<std::thread> threads;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      // The results of other ranks' handlers have no effect.
      if (r == 0 && stop_after >= 0) outcome.keepers[r].stop_after = stop_after;
      threads.emplace_back([&, r] {
        try {
          const auto device = asynchronous ? std::make_unique<FakeAsyncDevice>() : make_host_device();
          FunctionEngine engine(*device, targets[0].layout(), bumpy);
          RunOptions own = options;
          own.ranks = ranks[r].get();
          if (gathers) own.connection = std::make_shared<testing::CountedRanks>(*device, *ranks[r], *gathers);
          outcome.results[r] =
              run_chains(engine, targets, proposal, plans, own, starts, outcome.keepers[r], resume);
        } catch (...) {
          ranks[r]->fail(3);
          errors[r] = std::current_exception();
        }
      });
    }
    for (auto& thread : threads) thread.join();
    for (const auto& error : errors)
      if (error) std::rethrow_exception(error);
    return outcome;
  }
};

// Bits are compared, because the adaptation has NaN for unknown values.
std::vector<std::uint64_t> bits(const std::vector<double>& values) {
  std::vector<std::uint64_t> bits(values.size());
  if (!values.empty()) std::memcpy(bits.data(), values.data(), values.size() * sizeof(double));
  return bits;
}

void expect_equal(const SamplerState& is, const SamplerState& was, const std::string& what) {
  EXPECT_EQ(is.step, was.step) << what;
  EXPECT_EQ(is.num_chains, was.num_chains) << what;
  EXPECT_EQ(is.unconstrained, was.unconstrained) << what;
  EXPECT_EQ(is.log_prior, was.log_prior) << what;
  EXPECT_EQ(is.log_likelihood, was.log_likelihood) << what;
  EXPECT_EQ(is.log_jacobian, was.log_jacobian) << what;
  EXPECT_EQ(bits(is.adaptation), bits(was.adaptation)) << what;
  EXPECT_EQ(is.accepted, was.accepted) << what;
  EXPECT_EQ(is.proposed, was.proposed) << what;
  EXPECT_EQ(is.window_accepted, was.window_accepted) << what;
  EXPECT_EQ(is.faults, was.faults) << what;
  EXPECT_EQ(is.num_evaluations, was.num_evaluations) << what;
  EXPECT_EQ(bits(is.tempering), bits(was.tempering)) << what;
}

void expect_equal(const Keeper& is, const Keeper& was, const std::string& what) {
  EXPECT_EQ(is.theta, was.theta) << what;
  EXPECT_EQ(is.warmup_theta, was.warmup_theta) << what;
  EXPECT_EQ(is.log_prior, was.log_prior) << what;
  EXPECT_EQ(is.log_likelihood, was.log_likelihood) << what;
  EXPECT_EQ(is.steps, was.steps) << what;
}

TEST(RankChains, DrawsOfEveryProposalAreThoseOfOneRank) {
  for (const std::string& kind : proposal_names()) {
    const Spread spread(kind);
    const auto one = spread.run(1);
    ASSERT_FALSE(one.keepers[0].theta.empty());
    for (const int size : {2, 3}) {
      const auto several = spread.run(size);
      for (std::size_t r = 0; r < several.keepers.size(); ++r) {
        const std::string what = kind + ", rank " + std::to_string(r) + " of " + std::to_string(size);
        expect_equal(several.keepers[r], one.keepers[0], what);
        expect_equal(several.results[r].state, one.results[0].state, what);
      }
    }
  }
}

TEST(RankChains, AConnectionOfTheCallersIsUsedWhereChainsMoveByOthers) {
  for (const char* kind : {"differential_evolution", "stretch", "random_walk"}) {
    Spread spread(kind);
    const auto one = spread.run(1);
    std::atomic<int> gathers = 0;
    spread.gathers = &gathers;
    for (const bool asynchronous : {false, true})
      expect_equal(spread.run(3, nullptr, -1, asynchronous).keepers[0], one.keepers[0], kind);
    EXPECT_EQ(gathers > 0, proposal_use(kind).other_chains) << kind;
  }
}

TEST(RankChains, GroupsMayBeOnDifferentRanks) {
  for (const char* kind : {"component_wise", "nuts"}) {
    Spread spread(kind, 5, 3);
    spread.options.keep_warmup = true;
    const auto one = spread.run(1);
    for (const int size : {2, 3, 5})
      expect_equal(spread.run(size).keepers[0], one.keepers[0],
                   kind + std::string(" ") + std::to_string(size));
  }
}

TEST(RankChains, RungsMayBeOnDifferentRanks) {
  for (const char* kind : {"random_walk", "hmc"}) {
    Spread spread(kind, 3);
    spread.options.tempering.rungs = 5;
    const auto one = spread.run(1);
    for (const int size : {2, 4}) {
      const auto several = spread.run(size);
      expect_equal(several.keepers[0], one.keepers[0], kind);
      expect_equal(several.results[1].state, one.results[0].state, kind);
    }
  }
}

TEST(RankChains, ARunGoesOnWithAnotherNumberOfRanks) {
  for (const char* kind : {"component_wise", "nuts", "differential_evolution"}) {
    Spread spread(kind);
    spread.options.segment_steps = 5;
    const auto whole = spread.run(1);
    for (const std::int64_t stop : {12, 33}) {
      const auto first = spread.run(4, nullptr, stop);
      EXPECT_FALSE(first.results[3].finished);
      const auto rest = spread.run(2, &first.results[3].state);
      expect_equal(rest.results[0].state, whole.results[0].state, kind);
      std::vector<double> draws = first.keepers[2].theta;
      draws.insert(draws.end(), rest.keepers[1].theta.begin(), rest.keepers[1].theta.end());
      EXPECT_EQ(draws, whole.keepers[0].theta) << kind;
    }
  }
}

TEST(RankChains, SegmentsOfAnAsynchronousDeviceAreGatheredInOrder) {
  const Spread spread("component_wise", 7);
  expect_equal(spread.run(3, nullptr, -1, true).keepers[2], spread.run(1).keepers[0], "asynchronous");
}

TEST(RankChains, MoreRanksThanChainsAreRefused) {
  const Spread spread("random_walk", 3);
  try {
    spread.run(4);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("at most 3 ranks"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace emomc
