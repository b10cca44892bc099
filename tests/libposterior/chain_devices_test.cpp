// Tests chains that are divided among several devices of one process. On the CPU each "device" is the host,
// with a thread.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "emomc/core/errors.hpp"
#include "emomc/posterior/chain_starts.hpp"
#include "emomc/posterior/rank_shares.hpp"
#include "emomc/posterior/spread_chains.hpp"
#include "libposterior/device_runs.hpp"
#include "libposterior/equal_chains.hpp"
#include "libsampler/counted_ranks.hpp"
#include "libsampler/function_engine.hpp"
#include "libsampler/keeper.hpp"
#include "libsampler/planned_chains.hpp"

namespace emomc {
namespace {

using testing::Keeper;
using testing::refusal;
using testing::small_config;
using testing::small_table;

constexpr int kChains = 11;  // an odd number of chains, with 5 free parameters

RunConfig config_of(Backend backend, const std::string& kind) {
  RunConfig config = small_config(backend, kind);
  config.sampler.chains = kChains;
  config.output.keep_warmup = true;
  return config;
}

/// Returns the setup that set_up() makes on a machine with `size` GPUs, or on the CPU with `size` hosts.
RunSetup spread(RunConfig config, const Table& table, int size) {
  for (int i = 1; config.backend == Backend::cuda && i < size; ++i) config.devices.push_back(i);
  RunSetup setup = set_up(config, &table);
  if (config.backend != Backend::cuda)
    add_devices(testing::hosts(size - 1), testing::engine_maker(setup, config), setup);
  EXPECT_EQ(setup.further.size(), static_cast<std::size_t>(size - 1));
  return setup;
}

class ChainDevices : public testing::OnDevices {
 protected:
  const Table table = small_table(700);
};
INSTANTIATE_TEST_SUITE_P(Engines, ChainDevices, ::testing::Values(Backend::cpu, Backend::cuda),
                         testing::name_of);

TEST_P(ChainDevices, HaveTheDrawsOfOneDevice) {
  for (const std::string kind : {"differential_evolution", "stretch", "component_wise", "nuts"}) {
    const RunConfig config = config_of(GetParam(), kind);
    RunSetup alone = set_up(config, &table);
    const std::vector<double> starts = find_starts(config, alone);
    Keeper expected;
    const RunResult result = run_spread_chains(alone, {alone.target.get(), 1}, starts, expected);
    ASSERT_EQ(expected.log_likelihood.size(), 8U * kChains);
    for (const int size : testing::rank_counts(GetParam())) {
      SCOPED_TRACE(kind + std::to_string(size));
      RunSetup setup = spread(config, table, size);
      EXPECT_EQ(setup.connections != nullptr, proposal_use(kind).other_chains);
      EXPECT_EQ(find_starts(config, setup), starts);
      for (const int round : {1, 2}) {  // a connection serves several runs
        Keeper draws;
        const RunResult own = run_spread_chains(setup, {setup.target.get(), 1}, starts, draws);
        EXPECT_TRUE(own.finished) << round;
        EXPECT_EQ(draws.theta, expected.theta) << round;
        EXPECT_EQ(draws.warmup_theta, expected.warmup_theta) << round;
        EXPECT_EQ(draws.log_prior, expected.log_prior) << round;
        EXPECT_EQ(draws.log_likelihood, expected.log_likelihood) << round;
        EXPECT_EQ(own.state.accepted, result.state.accepted) << round;
        EXPECT_EQ(own.num_evaluations, result.num_evaluations) << round;
      }
    }
  }
}

TEST_P(ChainDevices, ARunGoesOnWithAnotherNumberOfDevices) {
  const int most = testing::rank_counts(GetParam()).back();
  for (const std::string kind : {"differential_evolution", "stretch"}) {
    RunConfig config = config_of(GetParam(), kind);
    config.sampler.draws = 28;  // a GPU has begun the next segment when it learns that it must stop
    RunSetup alone = set_up(config, &table);
    const std::vector<double> starts = find_starts(config, alone);
    Keeper whole;
    run_spread_chains(alone, {alone.target.get(), 1}, starts, whole);
    for (const auto& [first, second] : {std::pair{most, 1}, {1, 2}, {2, most}})
      for (const int stop : {5, 15}) {
        SCOPED_TRACE(kind + std::to_string(first) + std::to_string(second) + " " + std::to_string(stop));
        RunSetup begun = spread(config, table, first), resumed = spread(config, table, second);
        begun.options.segment_steps = 5;
        Keeper before, after;
        before.stop_after = stop;
        const RunResult stopped = run_spread_chains(begun, {begun.target.get(), 1}, starts, before);
        EXPECT_FALSE(stopped.finished);
        ASSERT_FALSE(before.states.empty());
        const SamplerState& state = before.states.back();
        EXPECT_LT(state.step, config.sampler.warmup + config.sampler.draws);
        EXPECT_TRUE(run_spread_chains(resumed, {resumed.target.get(), 1}, {}, after, &state).finished);
        std::vector<double> draws = before.theta;
        draws.insert(draws.end(), after.theta.begin(), after.theta.end());
        EXPECT_EQ(draws, whole.theta);
      }
  }
}

// With few rows, threads that evaluate every step together would mostly wait for each other.
TEST(HostDevices, ThreadsHaveChainsOfTheirOwnWhereEvaluationsAreShort) {
  const Table table = small_table(40), long_table = small_table(40'000);
  const std::size_t threads = std::clamp(std::thread::hardware_concurrency(), 1U, 3U);
  for (const std::string kind : {"nuts", "component_wise", "stretch"}) {
    SCOPED_TRACE(kind);
    RunConfig config = config_of(Backend::cpu, kind);
    RunSetup alone = set_up(config, &table);
    EXPECT_TRUE(alone.further.empty());
    const std::vector<double> starts = find_starts(config, alone);
    Keeper expected;
    run_spread_chains(alone, {alone.target.get(), 1}, starts, expected);
    config.threads = 3;
    RunSetup setup = set_up(config, &table);
    EXPECT_EQ(setup.further.size(), kind == "stretch" ? 0 : threads - 1);
    EXPECT_TRUE(shares_of_devices(setup).empty());
    for (const std::string& line : describe(setup)) EXPECT_EQ(line.find("GPU"), std::string::npos) << line;
    EXPECT_EQ(find_starts(config, setup), starts);
    Keeper draws;
    run_spread_chains(setup, {setup.target.get(), 1}, starts, draws);
    EXPECT_EQ(draws.theta, expected.theta);
    EXPECT_EQ(draws.warmup_theta, expected.warmup_theta);
    EXPECT_TRUE(set_up(config, &long_table).further.empty());
  }
}

// Each device evaluates a part of all likelihoods.
TEST(HostDevices, EachEvaluatesItsOwnChains) {
  const Table table = small_table(40);
  const RunConfig config = config_of(Backend::cpu, "differential_evolution");
  RunSetup setup = set_up(config, &table);
  const std::vector<double> starts = find_starts(config, setup);
  std::vector<std::atomic<int>> evaluated(3);
  std::vector<std::unique_ptr<LikelihoodEngine>> engines;
  const auto counting = [&](Device& device, std::size_t rank) {
    engines.push_back(testing::engine_maker(setup, config)(device, nullptr));
    return std::make_unique<testing::FunctionEngine>(
        device, setup.target->layout(), [&, rank, engine = engines.back().get()](const double* theta) {
          ++evaluated[rank];
          double sum = 0;
          engine->sums_by_segment(theta, 1, &sum);
          return sum;
        });
  };
  std::size_t rank = 0;
  setup.engine = counting(*setup.device, rank++);
  add_devices(
      testing::hosts(2), [&](Device& device, Communicator*) { return counting(device, rank++); }, setup);
  Keeper draws;
  EXPECT_TRUE(run_spread_chains(setup, {setup.target.get(), 1}, starts, draws).finished);
  const int steps = 20 + 1;  // the start counts as a step
  EXPECT_EQ(evaluated[0], 4 * steps);
  EXPECT_EQ(evaluated[1], 4 * steps);
  EXPECT_EQ(evaluated[2], 3 * steps);
}

// An exception of one rank would otherwise end the rank's own connection and make the rank wait there for the
// others.
TEST(HostDevices, ChainsUseTheConnectionThatOutlivesThem) {
  const Table table = small_table(40);
  const RunConfig config = config_of(Backend::cpu, "stretch");
  RunSetup setup = spread(config, table, 3);
  std::atomic<int> gathers = 0;
  setup.connections = std::make_unique<RankTeam<DeviceRanks>>(3, [&](Communicator& ranks) {
    const auto r = static_cast<std::size_t>(ranks.rank());
    Device& device = r == 0 ? *setup.device : *setup.further[r - 1].device;
    return std::make_shared<testing::CountedRanks>(device, ranks, gathers);
  });
  Keeper draws;
  run_spread_chains(setup, {setup.target.get(), 1}, find_starts(config, setup), draws);
  EXPECT_EQ(gathers, 3 * 2);  // each gathers points and candidates
}

class FullDisk final : public DrawHandler {
 public:
  void on_draws(const DrawBatch&) override { throw MachineError("no space left"); }
};

TEST_P(ChainDevices, AFaultOfAHandlerEndsAllDevices) {
  const RunConfig config = config_of(GetParam(), "differential_evolution");
  RunSetup setup = spread(config, table, testing::rank_counts(GetParam()).back());
  const std::vector<double> starts = find_starts(config, setup);
  FullDisk handler;
  EXPECT_THROW(run_spread_chains(setup, {setup.target.get(), 1}, starts, handler), MachineError);
}

TEST(HostDevices, AnErrorOfOneDeviceIsTheErrorOfTheRun) {
  const Table table = small_table(40);
  const RunConfig config = config_of(Backend::cpu, "stretch");
  for (const int failing : {0, 1, 2}) {
    RunSetup setup = set_up(config, &table);
    const std::vector<double> starts = find_starts(config, setup);
    std::atomic<int> left = 60;
    const auto engine_of = [&](Device& device, int rank) {
      return std::make_unique<testing::FunctionEngine>(device, setup.target->layout(),
                                                       [&left, fails = rank == failing](const double* theta) {
                                                         if (fails && --left < 0)
                                                           throw MachineError("the GPU has failed");
                                                         return -theta[0] * theta[0];
                                                       });
    };
    int rank = 0;
    setup.engine = engine_of(*setup.device, rank++);
    add_devices(
        testing::hosts(2), [&](Device& device, Communicator*) { return engine_of(device, rank++); }, setup);
    Keeper draws;
    try {
      run_spread_chains(setup, {setup.target.get(), 1}, starts, draws);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const MachineError& error) {
      EXPECT_STREQ(error.what(), "the GPU has failed") << failing;
    }
  }
}

TEST_P(ChainDevices, WhatEachTakesIsKnownBeforeTheRun) {
  for (const std::string kind : {"differential_evolution", "random_walk"}) {
    const RunConfig config = config_of(GetParam(), kind);
    const RunSetup alone = set_up(config, &table), two = spread(config, table, 2);
    EXPECT_TRUE(shares_of_devices(alone).empty());
    const auto shares = shares_of_devices(two), as_processes = shares_of_ranks(alone, 2);
    ASSERT_EQ(shares.size(), 2U);
    EXPECT_EQ(shares[0].chains, 6U);
    EXPECT_EQ(shares[1].chains, 5U);
    const std::size_t all =
        alone.engine->plan(alone.plans, alone.options.caches).total() +
        sampler_memory(alone.device->kind(), {alone.target.get(), 1}, alone.proposal, alone.plans).total();
    for (std::size_t r = 0; r < 2; ++r) {
      EXPECT_EQ(shares[r].total(), as_processes[r].total());
      // Every device makes all moves.
      if (proposal_use(kind).other_chains)
        EXPECT_EQ(shares[r].total(), all);
      else
        EXPECT_LT(shares[r].total(), all);
    }
    const auto lines = describe(two);
    const auto line = std::find_if(lines.begin(), lines.end(), [](const std::string& text) {
      return text.starts_with("chains are spread over 2 GPUs");
    });
    ASSERT_NE(line, lines.end());
    EXPECT_EQ(line->find("gather") != std::string::npos, proposal_use(kind).other_chains);
  }
}

// An engine whose steps take as long on a GPU as those of `likelihood`.
class PlannedEngine final : public LikelihoodEngine {
 public:
  PlannedEngine(Device& device, DeviceLikelihood likelihood)
      : likelihood_(std::move(likelihood)), engine_(device, {}, testing::FunctionEngine::Function{}) {}
  std::optional<DeviceLikelihood> device_likelihood() const override { return likelihood_; }
  std::string name() const override { return "planned"; }
  const ParameterLayout& layout() const override { return engine_.layout(); }
  Capabilities capabilities() const override { return {}; }
  Device& device() const override { return engine_.device(); }
  std::size_t num_segments() const override { return 1; }
  std::size_t num_rows() const override { return likelihood_.segment_rows[0]; }
  MemoryPlan plan(const std::vector<ChainPlan>&, ComponentCaches) const override { return {}; }
  void allocate(const std::vector<ChainPlan>&, ComponentCaches) override {}
  void evaluate(EnsembleView, ActiveSet) override {}
  void evaluate_component(EnsembleView, const int*, ActiveSet) override {}
  void commit(const std::uint8_t*, ActiveSet) override {}
  void rebuild_caches(EnsembleView, ActiveSet) override {}
  void sums_by_segment(const double*, int, double*) override {}
  void evaluate_rows(const double*, double*) override {}

 private:
  DeviceLikelihood likelihood_;
  testing::FunctionEngine engine_;
};

SampledChains planned(const std::string& kind, std::size_t rows, std::size_t num_chains) {
  SampledChains chains;
  chains.device = make_host_device();
  chains.engine = std::make_unique<PlannedEngine>(*chains.device, testing::planned_likelihood(rows));
  chains.proposal.kind = kind;
  chains.plans = testing::planned_chains(num_chains);
  return chains;
}

TEST(ChainGpus, ShortStepsOfEnsembleMovesStayOnOneThatIsNotNamed) {
  SampledChains few = planned("differential_evolution", 10'000, 512);
  EXPECT_EQ(num_chain_gpus(few, 2, false, ""), 1U);
  EXPECT_EQ(few.why_one_device,
            "differential_evolution gathers log likelihoods at every step, which would take longer than "
            "several GPUs save; a list in devices uses them all the same");
  EXPECT_EQ(num_chain_gpus(few, 2, true, ""), 2U);
  EXPECT_EQ(few.why_one_device, "");
  SampledChains many = planned("stretch", 100'000, 512);
  EXPECT_EQ(num_chain_gpus(many, 4, false, ""), 4U);
  EXPECT_EQ(many.why_one_device, "");
  // Other proposals gather segments only.
  SampledChains walk = planned("random_walk", 100, 4);
  EXPECT_EQ(num_chain_gpus(walk, 2, false, ""), 2U);
  EXPECT_EQ(num_chain_gpus(walk, 2, false, "there is no NCCL"), 2U);
}

// The bound counts the operations of a step in all rows of all chains.
TEST(ChainGpus, TheBoundCountsRowsChainsAndPrecision) {
  const auto gpus = [](std::size_t rows, std::size_t num_chains, const char* real) {
    SampledChains chains = planned("stretch", 1, num_chains);
    DeviceLikelihood likelihood = testing::planned_likelihood(rows);  // with 216 operations for each row
    likelihood.real = real;
    chains.engine = std::make_unique<PlannedEngine>(*chains.device, likelihood);
    return num_chain_gpus(chains, 2, false, "");
  };
  EXPECT_EQ(gpus(18'500, 1000, "float"), 1U);
  EXPECT_EQ(gpus(18'600, 1000, "float"), 2U);
  EXPECT_EQ(gpus(18'500, 1010, "float"), 2U);
  EXPECT_EQ(gpus(9'250, 1000, "double"), 1U);
  EXPECT_EQ(gpus(9'300, 1000, "double"), 2U);
}

TEST(ChainGpus, WithoutNcclEnsembleMovesAreReferredToProcesses) {
  SampledChains chains = planned("stretch", 100'000, 512);
  EXPECT_EQ(num_chain_gpus(chains, 2, false, "there is no NCCL"), 1U);
  EXPECT_EQ(chains.why_one_device,
            "chains of stretch are divided among GPUs of one process by NCCL, and there is no NCCL; without "
            "it mpirun -n 2 starts a process for each GPU");
  EXPECT_EQ(refusal([&] { num_chain_gpus(chains, 2, true, "there is no NCCL"); }),
            "devices: " + chains.why_one_device + "; allowed here: one GPU");
}

TEST(ChainGpus, FewerChainsThanGpusAreOnAsManyAsThereAreChains) {
  for (const std::string kind : {"random_walk", "stretch"}) {
    SampledChains chains = planned(kind, 10'000'000, 6);
    EXPECT_EQ(num_chain_gpus(chains, 8, false, ""), 6U);
    EXPECT_EQ(chains.why_one_device, "6 chains cannot be spread over 8 GPUs");
    EXPECT_EQ(refusal([&] { num_chain_gpus(chains, 8, true, ""); }),
              "devices: 6 chains cannot be spread over 8 GPUs; allowed here: 6 or fewer");
  }
  SampledChains tempered = planned("random_walk", 100, 2);
  tempered.options.tempering.rungs = 4;
  EXPECT_EQ(num_chain_gpus(tempered, 8, true, ""), 8U);
}

}  // namespace
}  // namespace emomc
