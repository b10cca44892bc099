// Tests runs of the program with rungs: their files, kills, evidence and verdict.
#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "emomc/core/errors.hpp"
#include "struck_run.hpp"

namespace emomc {
namespace {

using nlohmann::json;
using testing::expect_refused;
using testing::ProgramFolder;
using testing::ProgramResult;
using testing::StruckRun;

constexpr const char* kRungs =
    "likelihood: {components: 2}\nsampler: {chains: 2, warmup: 60, draws: 50, seed: 3,\n"
    "  proposal: {kind: component_wise}, tempering: {rungs: 4}}\n";

void expect_the_same_rungs(const ProgramFolder& folder, const std::string& what) {
  const RungDraws whole = read_rungs(folder / "whole"), run = read_rungs(folder / "run");
  EXPECT_EQ(run.betas, whole.betas) << what;
  EXPECT_EQ(run.log_likelihood, whole.log_likelihood) << what;
  EXPECT_EQ(run.exchanges.swap_rates, whole.exchanges.swap_rates) << what;
  EXPECT_EQ(run.exchanges.round_trips, whole.exchanges.round_trips) << what;
  EXPECT_EQ(run.acceptance, whole.acceptance) << what;
}

TEST(TemperedRun, GoesOnBitForBitAfterKillsAtAnyCall) {
  StruckRun run(kRungs);
  ASSERT_TRUE(run.folder.exists("whole/rungs/chain-00001-rung-03.emc"));
  ASSERT_FALSE(run.folder.exists("whole/chains/chain-00002.emc"));
  for (const int part : {4, 6, 8}) {
    run.clear();
    const std::string at = std::to_string(run.calls.size() * static_cast<std::size_t>(part) / 9);
    ASSERT_EQ(run.strike("kill@" + at, "-q").exit_code, 128 + 9);
    const bool has_checkpoint = run.folder.exists("run/checkpoint");
    const ProgramResult result =
        has_checkpoint ? run.resume("--set threads=2") : run.strike("", "-q --force");
    ASSERT_EQ(result.exit_code, 0) << result.err;
    run.expect_the_same_draws("kill at " + at);
    expect_the_same_rungs(run.folder, "kill at " + at);
  }
}

TEST(TemperedRun, CanBeMadeLongerAndRefusesOtherRungs) {
  StruckRun run(kRungs);
  ASSERT_EQ(run.resume("--set sampler.draws=17").exit_code, 0);
  ASSERT_EQ(run.resume("--set sampler.draws=50").exit_code, 0);
  run.expect_the_same_draws("made longer");
  expect_the_same_rungs(run.folder, "made longer");
  expect_refused(run.folder, "run config.yaml --output run --resume -q --set sampler.tempering.rungs=5",
                 {"sampler.tempering.rungs was 4, is 5"});
  expect_refused(run.folder, "run config.yaml --output run --resume -q --set sampler.tempering.rungs=1",
                 {"sampler.tempering"});
  // A run that begins anew removes the rungs of the old run.
  ASSERT_EQ(
      run.folder.run("run config.yaml --output run --force -q --set sampler.tempering.rungs=1").exit_code, 0);
  EXPECT_FALSE(run.folder.exists("run/rungs/chain-00001-rung-03.emc"));
}

TEST(TemperedRun, ADamagedOrForeignFileOfARungIsRefused) {
  StruckRun run(kRungs);
  const std::string file = "whole/rungs/chain-00001-rung-02.emc", content = run.folder.read(file);
  std::string damaged = content;
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
  run.folder.write(file, damaged);
  expect_refused(run.folder, "evidence whole", {"chain-00001-rung-02.emc", "damaged"});
  expect_refused(run.folder, "run config.yaml --output whole --resume -q --set sampler.draws=60",
                 {"chain-00001-rung-02.emc", "damaged"});
  run.folder.write(file, run.folder.read("whole/rungs/chain-00001-rung-03.emc"));
  expect_refused(run.folder, "evidence whole", {"chain-00001-rung-02.emc", "another chain"});
  std::filesystem::remove(run.folder / file);
  expect_refused(run.folder, "evidence whole", {"chain-00001-rung-02.emc"});
  // The cold rung can be read without the others.
  EXPECT_EQ(run.folder.run("summary whole").exit_code, 0);
}

TEST(TemperedRun, KeysAreRefusedInOneLine) {
  ProgramFolder folder;
  folder.write("data.csv", "x\n1\n2\n3.5\n4\n");
  folder.write("run.yaml", "data: {file: data.csv}\nlikelihood: {components: 1}\n");
  const std::string run = "run run.yaml -q --set sampler.tempering.";
  expect_refused(folder, run + "rungs=0", {"sampler.tempering.rungs", "1 to 1024"});
  expect_refused(folder, run + "ladder=adaptive", {"sampler.tempering.ladder", "sampler.tempering.rungs"});
  expect_refused(folder, run + "ladder='[1, 0.5, 0.7]'", {"sampler.tempering.ladder", "decrease"});
  expect_refused(folder, run + "rungs=4 --set sampler.tempering.ladder='[1, 0.5, 0]'",
                 {"sampler.tempering.ladder", "3 powers for 4 rungs"});
  expect_refused(folder, run + "every=2", {"sampler.tempering.every"});
  expect_refused(folder, run + "rungs=3 --set sampler.tempering.every=0", {"sampler.tempering.every"});
  EXPECT_FALSE(folder.exists("runs"));
}

// The rows have a known sd, and their mean has a normal prior.
class NormalRows : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string csv = "y\n";
    for (int i = 0; i < 40; ++i) {
      rows.push_back(1.2 + 0.05 * ((i * 17) % 40 - 19.5));
      csv += std::to_string(rows.back()) + "\n";
      rows.back() = std::stod(std::to_string(rows.back()));
    }
    folder.write("rows.csv", csv);
  }
  void sample(const std::string& name, double sd, const std::string& more = "") {
    folder.write(
        name + ".yaml",
        "data: {file: rows.csv}\nlikelihood: {parameters: {m: {}}, log_density: \"normal_lpdf(y, m, 1)\"}\n"
        "prior: {m: {normal: {mean: 0, sd: " +
            std::to_string(sd) +
            "}}}\nsampler: {chains: 4, warmup: 500, draws: 1000, tempering: {rungs: 6}}\n");
    const auto run = folder.run("run " + name + ".yaml -q --output " + name + " " + more);
    ASSERT_EQ(run.exit_code, 0) << run.err;
  }
  double log_evidence(double sd) const {
    const auto n = static_cast<double>(rows.size());
    double sum = 0, squares = 0;
    for (const double y : rows) {
      sum += y;
      squares += y * y;
    }
    return -0.5 * n * std::log(2 * M_PI) - 0.5 * squares + 0.5 * sum * sum / (n + 1 / (sd * sd)) -
           0.5 * std::log1p(n * sd * sd);
  }
  ProgramFolder folder;
  std::vector<double> rows;
};

TEST_F(NormalRows, HaveTheEvidenceThatIsKnownAndModelsTheirProbabilities) {
  sample("narrow", 1);
  sample("wide", 10);
  const auto shown = folder.run("evidence narrow wide --json");
  ASSERT_EQ(shown.exit_code, 0) << shown.err << shown.out;
  const json runs = json::parse(shown.out);
  const double sds[] = {1, 10};
  for (std::size_t i = 0; i < 2; ++i) {
    const double value = runs[i]["log_evidence"], error = runs[i]["se_log_evidence"];
    EXPECT_NEAR(value, log_evidence(sds[i]), 5 * error) << i;
    EXPECT_LT(error, 0.1);
    EXPECT_EQ(runs[i]["rungs"].size(), 6u);
    EXPECT_EQ(runs[i]["trusted"], true);
    const json integral = runs[i]["thermodynamic"];
    EXPECT_LT(integral["lower"].get<double>(), integral["upper"].get<double>());
  }
  const auto text = folder.run("evidence narrow");
  for (const char* word : {"log evidence", "stepping stones", "thermodynamic", "round trips", "exchanges"})
    EXPECT_NE(text.out.find(word), std::string::npos) << word;

  const double difference = log_evidence(1) - log_evidence(10);
  const auto compared = folder.run("compare wide narrow --evidence --json");
  ASSERT_EQ(compared.exit_code, 0) << compared.err;
  const json models = json::parse(compared.out)["runs"];
  EXPECT_EQ(models[0]["run"], "narrow");
  EXPECT_NEAR(models[0]["probability"].get<double>(), 1 / (1 + std::exp(-difference)), 0.05);
  EXPECT_EQ(models[0]["prior"], 0.5);
  const json unequal =
      json::parse(folder.run("compare wide narrow --evidence --prior 3,1 --json").out)["runs"];
  const double odds = std::exp(difference) / 3;
  for (const json& model : unequal)
    EXPECT_NEAR(model["probability"].get<double>(),
                model["run"] == "narrow" ? odds / (1 + odds) : 1 / (1 + odds), 0.06);
  expect_refused(folder, "compare wide narrow --prior 1,1", {"--prior", "--evidence"});
  expect_refused(folder, "compare wide narrow --evidence --prior 1", {"--prior", "one for each"});
  expect_refused(folder, "compare wide narrow --evidence --prior 1,-1", {"--prior", "above 0"});
}

TEST_F(NormalRows, ShowTheirExchangesAndRefuseEvidenceWithoutThem) {
  sample("rungs", 2);
  const json summary = json::parse(folder.run("summary rungs --json").out);
  EXPECT_EQ(summary["tempering"]["betas"].size(), 6u);
  EXPECT_EQ(summary["tempering"]["betas"][0], 1.0);
  EXPECT_EQ(summary["tempering"]["betas"][5], 0.0);
  EXPECT_EQ(summary["tempering"]["swap_rates"].size(), 5u);
  EXPECT_GT(summary["tempering"]["round_trips"], 10);
  EXPECT_EQ(summary["chains"], 4);
  EXPECT_NE(folder.run("summary rungs").out.find("6 rungs; neighbours exchange points"), std::string::npos);
  EXPECT_EQ(folder.run("diagnose rungs").exit_code, 0);
  ASSERT_EQ(folder.run("report rungs -o report.html").exit_code, 0);
  EXPECT_NE(folder.read("report.html").find("6 rungs; neighbours exchange points"), std::string::npos);
  sample("plain", 2, "--set sampler.tempering.rungs=1");
  EXPECT_FALSE(json::parse(folder.run("summary plain --json").out).contains("tempering"));
  expect_refused(folder, "evidence plain", {"no rungs", "sampler.tempering.rungs"});
  expect_refused(folder, "evidence rows.csv", {"rows.csv"});
  // A ladder that does not end at the prior gives no evidence.
  sample("short", 2, "--set sampler.tempering.rungs=1 --set sampler.tempering.ladder='[1, 0.5]'");
  expect_refused(folder, "evidence short", {"0.5", "prior"});
}

// There are two sharp modes far apart, and chains stay where they start.
TEST(TemperedRun, DiagnoseNamesTemperingWhereChainsSitInModesOfTheirOwn) {
  ProgramFolder folder;
  folder.write("rows.csv", "y\n0.1\n-0.1\n0.05\n-0.05\n");
  folder.write("run.yaml",
               "data: {file: rows.csv}\nlikelihood: {parameters: {m: {}}, log_density: \"normal_lpdf(y, "
               "sqrt(m * m) - 8, 0.5)\"}\nprior: {m: {normal: {mean: 0, sd: 10}}}\n"
               "sampler: {chains: 8, warmup: 1000, draws: 1000, seed: 2, proposal: {kind: random_walk}}\n");
  ASSERT_EQ(folder.run("run run.yaml -q --output plain").exit_code, 0);
  const auto plain = folder.run("diagnose plain");
  EXPECT_EQ(plain.exit_code, 1);
  EXPECT_NE(plain.out.find("sampler.tempering.rungs"), std::string::npos) << plain.out;
  ASSERT_EQ(
      folder.run("run run.yaml -q --output rungs --set sampler.tempering.rungs=8 --set sampler.draws=2500")
          .exit_code,
      0);
  const auto tempered = folder.run("diagnose rungs");
  EXPECT_EQ(tempered.exit_code, 0) << tempered.out;
}

// There are two tight groups inside a wide one. The better mode is narrow, at a log likelihood of -799, and
// beside it are many modes near -936. Starts are draws from the prior (docs/tempering.md).
TEST(TightGroupsLong, TheBetterModeIsFoundInTwentyOfTwentySeeds) {
  ProgramFolder folder;
  folder.write("run.yaml", "data: {file: " EMOMC_SOURCE_DIR
                           "/tests/apps/data/starts/twins.csv}\n"
                           "likelihood: {components: 3, precision: double}\n"
                           "sampler: {chains: 4, warmup: 5000, draws: 5000, thin: 1, init: prior,\n"
                           "  proposal: {kind: split_merge}, tempering: {rungs: 12}}\nthreads: 1\n");
  for (int seed = 1; seed <= 20; ++seed) {
    const ProgramResult result =
        folder.run("run run.yaml -q --force --output run --set sampler.seed=" + std::to_string(seed));
    ASSERT_EQ(result.exit_code, 0) << result.err;
    for (const ChainDraws& chain : read_chains(folder / "run"))
      EXPECT_GT(*std::min_element(chain.log_likelihood.begin(), chain.log_likelihood.end()), -850) << seed;
  }
}

}  // namespace
}  // namespace emomc
