// Tests how runs continue: when they are made longer, after changes, and while another process works on them.
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "emomc/sampler/run_directory.hpp"
#include "struck_run.hpp"

namespace emomc {
namespace {

using testing::expect_refused;
using testing::ProgramResult;
using testing::StruckRun;

constexpr const char* kMany =
    "likelihood: {components: 2}\nsampler: {chains: 2, warmup: 60, draws: 40, thin: 3}\n";

// Returns the contents of all files except the lock, by name.
std::map<std::string, std::string> contents_of(const std::filesystem::path& folder) {
  std::map<std::string, std::string> result;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().filename() != "lock") {
      std::ifstream file(entry.path(), std::ios::binary);
      result[entry.path().string()] = {std::istreambuf_iterator<char>(file), {}};
    }
  return result;
}

TEST(ContinuedRun, AFinishedRunCanBeMadeLonger) {
  StruckRun run(kMany);
  const std::string longer = "run config.yaml --set sampler.draws=150 -q --output ";
  ASSERT_EQ(run.folder.run(longer + "longer").exit_code, 0);
  ASSERT_EQ(run.strike("", "-q").exit_code, 0);
  run.expect_the_same_draws("as long as asked");
  const std::string first = run.folder.read("run/summary.csv");
  for (const char* draws : {"41", "90", "150"})
    ASSERT_EQ(run.resume(std::string("--set sampler.draws=") + draws).exit_code, 0) << draws;
  run.expect_the_same_draws("made longer", "longer");
  EXPECT_NE(run.folder.read("run/summary.csv"), first);
  EXPECT_NE(run.folder.read("run/config.yaml").find("draws: 150"), std::string::npos);
  const auto manifest = nlohmann::json::parse(run.folder.read("run/manifest.json")),
             whole = nlohmann::json::parse(run.folder.read("longer/manifest.json"));
  for (const char* key : {"steps", "evaluations", "config_sha256", "status", "adaptation_drift"})
    EXPECT_EQ(manifest[key], whole[key]) << key;
  const auto summary = run.folder.run("summary run --json");
  EXPECT_EQ(nlohmann::json::parse(summary.out)["draws"], 150);

  expect_refused(run.folder, "run config.yaml --output run --resume --set sampler.draws=149",
                 {"sampler.draws: 149 is less than the 150", "allowed: 150 or more"});
  EXPECT_EQ(run.resume("--set sampler.draws=150").exit_code, 0);
  run.expect_the_same_draws("nothing to do", "longer");
}

// The ESS is checked after the same numbers of draws, however often the run was continued.
TEST(ContinuedRun, ARunUntilAnEssCanBeMadeLonger) {
  StruckRun run(
      "likelihood: {components: 1}\n"
      "sampler: {chains: 4, warmup: 100, draws: 2000, seed: 8, until: {ess: 150}}\n");
  const auto whole = nlohmann::json::parse(run.folder.read("whole/manifest.json"));
  ASSERT_EQ(whole["ended_by"], "sampler.until.ess");
  const std::int64_t draws = whole["steps"].get<std::int64_t>() - 100;
  ASSERT_GT(draws, 130);
  ASSERT_EQ(run.resume("--set sampler.draws=120").exit_code, 0);
  ASSERT_EQ(run.resume("--set sampler.draws=121").exit_code, 0);  // the run ended where a decision is due
  ASSERT_EQ(run.resume().exit_code, 0);
  run.expect_the_same_draws("until an ESS");
  // With another required ESS the run continues.
  ASSERT_EQ(run.resume("--set sampler.until.ess=1500").exit_code, 0);
  EXPECT_GT(nlohmann::json::parse(run.folder.read("run/manifest.json"))["steps"].get<std::int64_t>(),
            draws + 100);
}

TEST(ContinuedRun, WhatHasChangedIsNamed) {
  StruckRun run(kMany);
  ASSERT_EQ(run.strike("int@" + run.at_checkpoint(3), "-q").exit_code, 130);
  const std::string resume = "run config.yaml --output run --resume ";
  const auto changed = [&](const std::string& set, const std::vector<std::string>& words) {
    expect_refused(run.folder, resume + set, words);
  };
  changed("--seed 4",
          {"run: --resume: the configuration has changed", "sampler.seed was 20260101, is 4", "--force"});
  changed("--set likelihood.components=3", {"likelihood.components was 2, is 3"});
  changed("--set sampler.warmup=61 --set sampler.thin=1",
          {"sampler.warmup was 60, is 61", "sampler.thin was 3, is 1"});
  changed("--set likelihood.covariance=full", {"prior.correlations was not there, is {lkj: 1}"});
  changed("--set 'prior.means={normal: {mean: 0, sd: 3}}'",
          {"prior.means was ", ", is {normal: {mean: 0, sd: 3}}"});
  changed("--set output.keep_warmup=true", {"output.keep_warmup was false, is true"});
  changed(
      "--set likelihood.precision=double --set sampler.chains=3 --set sampler.seed=1 --set sampler.thin=2",
      {"and 1 more"});
  changed("--backend reference", {"the run was made on cpu", "reference"});

  const std::string data = run.folder.read("data.csv");
  run.folder.write("data.csv", data + "1.5\n");
  changed("", {"the data have changed", "data.csv had 60 rows, has 61"});
  std::string other = data;
  other[2] = '7';
  run.folder.write("data.csv", other);
  changed("", {"the data have changed", "data.csv has other values"});
  run.folder.write("data.csv", "y" + data.substr(1));
  changed("", {"the data have changed", "the columns were x, are y"});
  run.folder.write("more.csv", data);
  run.folder.write("data.csv", data);
  changed("--set 'data.file=[data.csv, more.csv]'", {"the data have changed", "more.csv is new"});

  // The location of the same data and the number of threads change no draw.
  for (const char* same : {"--set data.file=more.csv", "--set threads=2", "--set checkpoint.steps=7"})
    EXPECT_EQ(run.strike("kill@20", "-q --resume " + std::string(same)).exit_code, 137) << same;
  ASSERT_EQ(run.resume().exit_code, 0);
  run.expect_the_same_draws("changes undone");
}

TEST(ContinuedRun, ACheckpointOfAnEarlierVersionIsRefusedInWordsAndItsDrawsAreRead) {
  StruckRun run(kMany);
  ASSERT_EQ(run.strike("", "-q").exit_code, 0);
  run.folder.write("run/checkpoint", "EMOMCCK1" + run.folder.read("run/checkpoint").substr(8));
  expect_refused(run.folder, "run config.yaml --output run --resume",
                 {"checkpoint", "earlier version", "--force"});
  EXPECT_EQ(run.folder.run("summary run").exit_code, 0);
}

TEST(ContinuedRun, ARunOfAnotherArithmeticIsRefused) {
  StruckRun run(kMany);
  ASSERT_EQ(run.strike("int@" + run.at_checkpoint(3), "-q").exit_code, 130);
  const std::filesystem::path file = run.folder.path() / "run" / "checkpoint";
  Checkpoint checkpoint = read_checkpoint(file);
  const std::string is = checkpoint.engine, engine = is.substr(0, is.find(", arithmetic "));
  ASSERT_NE(engine, is);
  for (const std::string& was : {engine + ", arithmetic 0", engine}) {
    checkpoint.engine = was;
    write_checkpoint(file, checkpoint);
    const auto before = contents_of(run.folder.path() / "run");
    expect_refused(run.folder, "run config.yaml --output run --resume",
                   {"the run was made on " + was + ", this would be on " + is, "other draws", "--force"});
    EXPECT_EQ(contents_of(run.folder.path() / "run"), before) << "something was written";
  }
  checkpoint.engine = is;
  write_checkpoint(file, checkpoint);
  ASSERT_EQ(run.resume().exit_code, 0);
  run.expect_the_same_draws("the arithmetic it began with");
}

// A second process changes none of the first one's files, whatever its options are.
TEST(ContinuedRun, ASecondProcessIsRefused) {
  StruckRun run("likelihood: {components: 2}\nsampler: {chains: 2, warmup: 60, draws: 40}\n");
  const std::string longer = "--set sampler.draws=40000000 --set checkpoint.seconds=0.02 ";
  ProgramResult first;
  const std::string until_told =
      "sh -c '\"$0\" \"$@\" & p=$!; while kill -0 $p 2>/dev/null && ! [ -e enough ]; do sleep 0.02; done; "
      "kill -TERM $p; wait $p'";
  std::thread holder(
      [&] { first = run.folder.run("run config.yaml --output run -q " + longer, until_told); });
  while (!run.folder.exists("run/checkpoint")) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  for (const char* how : {"--resume", "--force"})
    expect_refused(run.folder, "run config.yaml --output run -q " + longer + how, {"run: another emomc"});
  expect_refused(run.folder, "run config.yaml --output run -q", {"not empty"});
  run.folder.write("enough", "");
  holder.join();
  EXPECT_EQ(first.exit_code, 143) << first.err;
  EXPECT_EQ(run.folder.run("summary run --json").exit_code, 0);
  EXPECT_NE(run.folder.read("run/manifest.json").find("interrupted"), std::string::npos);
}

}  // namespace
}  // namespace emomc
