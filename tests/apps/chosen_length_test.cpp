// Tests runs that choose their length: the conditions that end them or make their warm-up longer, and the
// same result after kills. Also tests runs whose number of draws is given.
#include <nlohmann/json.hpp>
#include <random>

#include "struck_run.hpp"

namespace emomc {
namespace {

using testing::ProgramResult;
using testing::StruckRun;

constexpr int kKilled = 128 + 9;

// This random walk has one step length in all directions and starts at draws from the prior, so that it has
// not settled after 1,000 steps.
constexpr const char* kSlow =
    "likelihood: {components: 4}\n"
    "sampler: {init: prior, until: {max_draws: 1500}, proposal: {kind: random_walk, shape: isotropic}}\n";
// The decisions that the test relies on are at 250, 313, 392, 490, 613, 767, 959 and 1,199 draws.
constexpr std::int64_t kSlowWarmup = 1000 + 1199 + 2000;
// The chains are in two modes and do not mix within 400 draws.
constexpr const char* kApart =
    "likelihood: {components: 3}\n"
    "sampler: {seed: 2, until: {max_draws: 400}, proposal: {kind: component_wise}}\n";

nlohmann::json manifest_of(const StruckRun& run, const std::string& name) {
  return nlohmann::json::parse(run.folder.read(name + "/manifest.json"));
}
std::size_t draws_of(const StruckRun& run, const std::string& name) {
  return nlohmann::json::parse(run.folder.run("summary " + name + " --json").out)["draws"];
}

TEST(ChosenLength, ADefaultRunGoesOnUntilDiagnosePasses) {
  StruckRun run("likelihood: {components: 2}\n");
  EXPECT_NE(run.folder.read("whole/run.log").find("diagnose finds no problem"), std::string::npos);
  EXPECT_EQ(manifest_of(run, "whole")["ended_by"], "converged");
  EXPECT_EQ(run.folder.run("diagnose whole").exit_code, 0);
  const std::size_t draws = draws_of(run, "whole");
  EXPECT_GE(draws, 250u);
  EXPECT_LT(draws, 20000u);
  // The run is complete, and a given, larger number of draws makes it longer.
  ASSERT_EQ(run.folder.run("run config.yaml --output whole --resume -q").exit_code, 0);
  EXPECT_EQ(draws_of(run, "whole"), draws);
  const std::string more = std::to_string(draws + 100);
  ASSERT_EQ(
      run.folder.run("run config.yaml --output whole --resume -q --set sampler.draws=" + more).exit_code, 0);
  EXPECT_EQ(draws_of(run, "whole"), draws + 100);
}

TEST(ChosenLength, ANumberOfDrawsIsObeyed) {
  StruckRun run("likelihood: {components: 2}\nsampler: {draws: 37}\n");
  EXPECT_EQ(draws_of(run, "whole"), 37u);
  EXPECT_EQ(manifest_of(run, "whole")["steps"], 1037);
  EXPECT_FALSE(manifest_of(run, "whole").contains("ended_by"));
  // Chains that have not settled cause no second warm-up, and settled ones do not reduce the number of draws.
  ASSERT_EQ(run.folder.run("run config.yaml --output long -q --set sampler.draws=3001").exit_code, 0);
  EXPECT_EQ(draws_of(run, "long"), 3001u);
  EXPECT_EQ(manifest_of(run, "long")["steps"], 4001);
}

// The draws are written, the exit code is 0, and a warning names the worst quantity.
TEST(ChosenLength, TheMostDrawsEndARunWithAWarningThatNamesTheWorstQuantity) {
  StruckRun run(kApart);
  const ProgramResult result = run.folder.run("run config.yaml --output run");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find("warning: after 400 draws of each chain "), std::string::npos) << result.err;
  EXPECT_NE(result.err.find(" is allowed"), std::string::npos) << result.err;
  EXPECT_EQ(draws_of(run, "run"), 400u);
  EXPECT_EQ(run.folder.run("diagnose run").exit_code, 1);
  // If more draws are allowed, the run continues as if they had been allowed from the beginning.
  const std::string more = " -q --set sampler.until.max_draws=700 --output ";
  ASSERT_EQ(run.folder.run("run config.yaml --resume" + more + "run").exit_code, 0);
  ASSERT_EQ(run.folder.run("run config.yaml" + more + "longer").exit_code, 0);
  run.expect_the_same_draws("more allowed", "longer");
  testing::expect_refused(run.folder,
                          "run config.yaml --resume --output run --set sampler.until.max_draws=300",
                          {"sampler.until.max_draws", "300 is less than"});
}

TEST(ChosenLength, WallTimeEndsARunOnlyWhereItIsAskedFor) {
  StruckRun run(kApart);
  ASSERT_EQ(
      run.folder
          .run("run config.yaml --output run -q --set sampler.until.ess=1e9 --set sampler.until.seconds=0.5 "
               "--set sampler.until.max_draws=100000000")
          .exit_code,
      0);
  EXPECT_EQ(manifest_of(run, "run")["ended_by"], "sampler.until.seconds");
  EXPECT_EQ(manifest_of(run, "run")["status"], "finished");
  EXPECT_GE(draws_of(run, "run"), 100u);
}

// The program is killed at random calls of the file system: before, during and after the records of the
// longer warm-up.
TEST(ChosenLength, AKilledRunMakesItsWarmupLongerAlike) {
  StruckRun run(kSlow, 300);
  ASSERT_EQ(read_chains(run.folder / "whole")[0].header.warmup, kSlowWarmup);
  ASSERT_EQ(draws_of(run, "whole"), 1500u);
  std::mt19937_64 random{20260101};
  const int times = testing::long_form() ? 60 : 10;
  for (int kills = 0; kills < times;) {
    const std::string fault =
        (random() % 2 == 0 ? "kill@" : "killed@") + std::to_string(1 + random() % run.calls.size());
    const ProgramResult result = run.strike(fault, "--resume -q");
    if (result.exit_code == kKilled) {
      ++kills;
      continue;
    }
    ASSERT_EQ(result.exit_code, 0) << fault << ": " << result.err;
    run.expect_the_same_draws(fault);
    run.clear();
  }
  ASSERT_EQ(run.resume().exit_code, 0);
  run.expect_the_same_draws("killed");
  for (const char* key : {"steps", "evaluations", "adaptation_drift"})
    EXPECT_EQ(manifest_of(run, "run")[key], manifest_of(run, "whole")[key]) << key;
}

TEST(ChosenLength, DrawsBeforeALongerWarmupAreWarmupWhereThatIsKept) {
  StruckRun run(std::string(kSlow) + "output: {keep_warmup: true}\n", 300);
  const auto chains = read_chains(run.folder / "whole");
  EXPECT_EQ(chains[0].header.warmup, kSlowWarmup);
  EXPECT_EQ(chains[0].steps.front(), 1);
  EXPECT_EQ(chains[0].num_draws, kSlowWarmup + 1500);
}

// The data are Old Faithful (Azzalini and Bowman 1990). When only the ESS of the label-free quantities ended
// a run, diagnose rejected 20 of 20 runs.
TEST(ChosenLength, WhatAnEssEndsDiagnoseAccepts) {
  StruckRun run("likelihood: {components: 1}\nsampler: {warmup: 10, draws: 10}\n");
  std::filesystem::copy(EMOMC_SOURCE_DIR "/tests/apps/data/faithful.csv", run.folder / "faithful.csv");
  run.folder.write(
      "faithful.yaml",
      "data: {file: faithful.csv, standardize: true}\nthreads: 1\n"
      "likelihood: {components: 2, precision: double}\nprior: {order: means.0, scale_floor: 0.001}\n"
      "sampler: {warmup: 2000, draws: 20000, until: {ess: 400}}\n");
  for (int seed = 0; seed < 4; ++seed) {
    const std::string name = "seed" + std::to_string(seed);
    ASSERT_EQ(
        run.folder.run("run faithful.yaml -q --output " + name + " --seed " + std::to_string(seed)).exit_code,
        0);
    EXPECT_EQ(manifest_of(run, name)["ended_by"], "sampler.until.ess") << seed;
    const ProgramResult verdict = run.folder.run("diagnose " + name);
    EXPECT_EQ(verdict.exit_code, 0) << verdict.out;
  }
}

}  // namespace
}  // namespace emomc
