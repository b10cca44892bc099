// Tests softmax regression, alone and fused with mixtures, whose work is divided among processes.
#include <nlohmann/json.hpp>
#include <tuple>

#include "rank_program.hpp"
#include "small_corpus.hpp"
#include "softmax_corpus.hpp"
#include "softmax_stages.hpp"
#include "struck_run.hpp"

namespace emomc::testing {
namespace {

// The remaining work is counted in trajectories: 100 for each fit, 500 for each of two posteriors, and none
// for inner posteriors.
TEST(SoftmaxProgress, IsEstimatedByTheUnitsBefore) {
  SoftmaxSettings settings;
  settings.temper = 1;
  settings.prior_sds = {3};
  settings.chains = 2;
  settings.warmup = 100;
  settings.draws = 400;
  double now = 50;
  app::SoftmaxStages stages(settings, 2, 2, app::Verbosity::normal, [&] { return now; });
  const auto said = [&](double seconds, const std::string& stage, std::size_t done) {
    now = 50 + seconds;
    ::testing::internal::CaptureStderr();
    stages.report(stage, done, 2);
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(said(0, "penalised fits", 0), "");
  EXPECT_EQ(said(3, "penalised fits", 0), "penalised fits: 0 of 2\n");
  EXPECT_EQ(said(4, "penalised fits", 1), "");  // five seconds have not passed
  EXPECT_EQ(said(8, "penalised fits", 2), "penalised fits: 2 of 2, about 40.0 s left in all\n");
  EXPECT_EQ(said(8, "posteriors", 0), "");
  EXPECT_EQ(said(18, "posteriors", 0), "posteriors: 0 of 2, about 30.0 s left in all\n");
  EXPECT_EQ(said(50, "posteriors", 0), "posteriors: 0 of 2\n");
  EXPECT_EQ(said(70, "posteriors", 1), "posteriors: 1 of 2, about 50.0 s left in all\n");
  EXPECT_EQ(said(90, "posteriors", 2), "");
  EXPECT_EQ(stages.seconds().at("penalised fits"), 8);
  EXPECT_EQ(stages.seconds().at("posteriors"), 82);
}

// With several prior sds, each posterior of a fold counts 1.5 times: 100 for each of two fits, and 750 for
// each of two posteriors.
TEST(SoftmaxProgress, CountsPosteriorsThatAreAveraged) {
  SoftmaxSettings settings;
  settings.temper = 1;
  settings.chains = 2;
  settings.warmup = 100;
  settings.draws = 400;
  double now = 0;
  app::SoftmaxStages stages(settings, 2, 2, app::Verbosity::normal, [&] { return now; });
  ::testing::internal::CaptureStderr();
  stages.report("penalised fits", 0, 2);
  now = 4;
  stages.report("penalised fits", 2, 2);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "penalised fits: 2 of 2, about 30.0 s left in all\n");
}

class SoftmaxOverRanks : public Ranks {
 protected:
  void SetUp() override {
    Ranks::SetUp();
    if (IsSkipped()) return;
    folder.write("simulation.yaml", kSmallCorpus);
    ASSERT_EQ(folder.run("simulate simulation.yaml -o corpus -q").exit_code, 0);
    folder.write("softmax.yaml", "corpus: {path: corpus}\nclassifier: softmax\nthreads: 1\n" + quick);
    folder.write("horseshoe.yaml",
                 "corpus: {path: corpus}\nclassifier: softmax\nthreads: 1\n"
                 "softmax: {prior: horseshoe, chains: 2, warmup: 40, draws: 60}\n");
    folder.write("fused.yaml",
                 "corpus: {path: corpus}\nclassifier: fused\nlikelihood: {components: 2}\nthreads: 1\n"
                 "sampler: {chains: 2, warmup: 60, draws: 40, thin: 2, seed: 3}\n" +
                     quick);
  }
  ProgramResult evaluate(const std::string& config, const std::string& to, int number,
                         const std::string& more = "") const {
    return folder.run("evaluate " + config + " -q --output " + to + " " + more,
                      number == 1 ? "" : ranks(number));
  }
  /// Returns scores.json without times.
  json scores_of(const std::string& directory) const {
    auto scores = json::parse(folder.read(directory + "/scores.json"), nullptr, false);
    scores.erase("seconds");
    return scores;
  }
  void expect_the_same(const std::string& expected, const std::string& actual,
                       const std::vector<std::string>& files) const {
    EXPECT_EQ(scores_of(expected), scores_of(actual)) << actual;
    EXPECT_GT(scores_of(expected)["posterior"]["uar"].get<double>(), 0);
    for (const std::string& name : files) {
      EXPECT_FALSE(folder.read(expected + "/" + name).empty()) << name;
      EXPECT_TRUE(folder.read(expected + "/" + name) == folder.read(actual + "/" + name)) << actual << name;
    }
  }
  const std::string quick = "softmax: {chains: 2, warmup: 30, draws: 60}\n";
  const std::vector<std::string> of_softmax{"predictions.csv", "predictions_penalised.csv",
                                            "probability_sd.csv"},
      of_fused{"predictions.csv", "predictions_penalised.csv", "predictions_softmax.csv",
               "predictions_mixtures.csv", "predictions_em.csv"};
  ProgramFolder folder;
};

// There are three folds, so that the fourth rank has none.
TEST_F(SoftmaxOverRanks, EvaluationsAreThoseOfOneProcess) {
  for (const auto& [config, numbers, files] : {std::tuple{"softmax.yaml", std::vector<int>{2, 4}, of_softmax},
                                               {"horseshoe.yaml", std::vector<int>{2}, of_softmax},
                                               {"fused.yaml", std::vector<int>{3}, of_fused}}) {
    ASSERT_EQ(evaluate(config, "alone", 1).exit_code, 0);
    for (const int number : numbers) {
      const ProgramResult result = evaluate(config, "together", number);
      ASSERT_EQ(result.exit_code, 0) << result.err;
      expect_the_same("alone", "together", files);
      std::filesystem::remove_all(folder / "together");
    }
    std::filesystem::remove_all(folder / "alone");
  }
}

TEST_F(SoftmaxOverRanks, CheckSaysWhatEachRankHas) {
  const std::string folds = "ranks 0 to 2: 1 fold each\nrank 3: 0 folds\n";
  const ProgramResult softmax = folder.run("check softmax.yaml --ranks 4");
  EXPECT_NE(softmax.out.find(folds), std::string::npos) << softmax.out;
  const ProgramResult fused = folder.run("check fused.yaml --ranks 2 --json");
  const json ranks = json::parse(fused.out)["ranks"];
  ASSERT_EQ(ranks.size(), 2U);
  EXPECT_EQ(ranks[0]["folds"], 2);
  EXPECT_EQ(ranks[1]["folds"], 1);
  EXPECT_EQ(ranks[0]["chains"].get<int>() + ranks[1]["chains"].get<int>(), json::parse(fused.out)["chains"]);
  const ProgramResult many = folder.run("check fused.yaml --ranks 1000");
  expect_one_error(many, 2, "at most");
  EXPECT_EQ(folder.run("check softmax.yaml").out.find("rank"), std::string::npos);
}

TEST_F(SoftmaxOverRanks, SeedsAndComparisonsAreThoseOfOneProcess) {
  ASSERT_EQ(evaluate("softmax.yaml", "alone", 1, "--seeds 2").exit_code, 0);
  const ProgramResult seeds = evaluate("softmax.yaml", "together", 2, "--seeds 2");
  ASSERT_EQ(seeds.exit_code, 0) << seeds.err;
  for (const std::string name : {"/scores.json", "/predictions.csv"})
    EXPECT_EQ(folder.read("alone" + name), folder.read("together" + name)) << name;
  const ProgramResult one = evaluate("softmax.yaml", "both", 1, "--compare fused.yaml --json");
  const std::string comparison = folder.read("both/comparison.json");
  EXPECT_FALSE(comparison.empty());
  std::filesystem::remove_all(folder / "both");
  const ProgramResult two = evaluate("softmax.yaml", "both", 2, "--compare fused.yaml --json");
  ASSERT_EQ(two.exit_code, 0) << two.err;
  EXPECT_EQ(one.out, two.out);
  EXPECT_EQ(folder.read("both/comparison.json"), comparison);
}

TEST_F(SoftmaxOverRanks, FusedEvaluationsGoOnWithAnotherNumber) {
  ASSERT_EQ(evaluate("fused.yaml", "alone", 1, "--set sampler.draws=80").exit_code, 0);
  ASSERT_EQ(evaluate("fused.yaml", "together", 3).exit_code, 0);
  const ProgramResult longer = evaluate("fused.yaml", "together", 2, "--resume --set sampler.draws=80");
  ASSERT_EQ(longer.exit_code, 0) << longer.err;
  expect_the_same("alone", "together", of_fused);
}

TEST_F(SoftmaxOverRanks, ModelsAreThoseOfOneProcess) {
  if (!has_audio()) GTEST_SKIP() << "a build without libsndfile";
  for (int speaker : {1, 2, 3})
    for (int take : {0, 1})
      for (int emotion : {0, 1})
        folder.write("voices/e" + std::to_string(emotion) + "/s" + std::to_string(speaker) + "/take" +
                         std::to_string(take) + ".wav",
                     wav_of(emotion, speaker, take));
  folder.write("voices.yaml", "corpus: {kind: folders, path: voices}\nthreads: 1\n" + quick);
  ASSERT_EQ(folder.run("train voices.yaml -q -o model").exit_code, 0);
  std::filesystem::rename(folder / "model", folder / "alone");
  const ProgramResult result = folder.run("train voices.yaml -q -o model", ranks(3));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  expect_equal_models(folder, "alone", "model");
}

// The evaluation is long enough to be killed in its first half, which samples mixtures, and in its second
// half.
TEST_F(SoftmaxOverRanks, AKilledRankEndsAllAndTheEvaluationGoesOn) {
  const std::string set = "--set sampler.draws=500 --set softmax.draws=5000 ";
  ASSERT_EQ(evaluate("fused.yaml", "alone", 1, set).exit_code, 0);
  int killed = 0;
  for (const double after : {0.1, 0.6}) {
    const ProgramResult result =
        folder.shell(killing_a_rank("evaluate fused.yaml --output run -q --resume " + set, 3, killed % 3,
                                    after, until_there_is("run/run.log")));
    std::istringstream said(result.out);
    std::string word;
    long long before = 0, end = 0;
    if (!(said >> word) || word != "killed" || result.exit_code == 0) continue;
    said >> before >> end;
    EXPECT_LT(static_cast<double>(end - before) * 1e-9, 30);
    ++killed;
  }
  EXPECT_GE(killed, 1);
  const ProgramResult rest = evaluate("fused.yaml", "run", 2, set + "--resume");
  ASSERT_EQ(rest.exit_code, 0) << rest.err;
  expect_the_same("alone", "run", of_fused);
}

// The first rank's disk is full when this rank begins, or when it writes results, for which the other ranks
// wait.
TEST_F(SoftmaxOverRanks, AFullDiskOfTheFirstRankEndsAll) {
  ASSERT_EQ(evaluate("softmax.yaml", "alone", 1).exit_code, 0);
  const auto struck = [&](const std::string& fault, const std::string& more) {
    return folder.run("evaluate softmax.yaml -q --output run " + more,
                      ranks(2) + " " + under_fault(folder, "run", fault));
  };
  ASSERT_EQ(struck("", "").exit_code, 0);
  const std::size_t calls = logged_calls(folder).size();
  ASSERT_GT(calls, 8U);
  for (const std::size_t at : {calls - 3, std::size_t{2}}) {
    std::filesystem::remove_all(folder / "run");
    expect_one_error(struck("enospc+@" + std::to_string(at), ""), 3, "No space left on device");
    const ProgramResult rest = evaluate("softmax.yaml", "run", 2, "--resume");
    ASSERT_EQ(rest.exit_code, 0) << rest.err;
    expect_the_same("alone", "run", of_softmax);
  }
}

// Launchers pass a signal on to all ranks.
TEST_F(SoftmaxOverRanks, ASignalEndsAllWithinAPosterior) {
  const ProgramResult result =
      folder.shell("( " + ranks(2) +
                   " \"$EMOMC\" evaluate softmax.yaml --output run --set softmax.draws=100000 --set "
                   "softmax.chains=20 -q & all=$!; " +
                   until_there_is("run/run.log") +
                   "sleep 0.5; date +%s%N; for p in $(pgrep -P $all); do kill -TERM $p; done; " +
                   "wait $all; status=$?; date +%s%N; exit $status )");
  EXPECT_EQ(result.exit_code, 143) << result.err;
  EXPECT_NE(result.err.find("stopped; go on with: emomc evaluate"), std::string::npos) << result.err;
  EXPECT_FALSE(folder.exists("run/scores.json"));
  long long before = 0, end = 0;
  std::istringstream(result.out) >> before >> end;
  EXPECT_LT(static_cast<double>(end - before) * 1e-9, 30);  // posteriors take minutes
}

TEST_F(SoftmaxOverRanks, OtherFilesOfOneRankAreRefusedWithItsNumber) {
  folder.write("other/softmax.yaml", folder.read("softmax.yaml"));
  std::filesystem::copy(folder / "corpus", folder / "other/corpus");
  const std::string one = " \"$EMOMC\" evaluate softmax.yaml -q --output '" + (folder / "run").string() + "'";
  const std::string start = ranks(1) + one + " : -n 1 --wdir other" + one;
  const std::string table = folder.read("corpus/calm_A.csv");
  folder.write("other/corpus/calm_A.csv", table.substr(0, table.find('\n') + 1) + "0,0,0.5,1.5\n1,0,3,2\n");
  expect_one_error(folder.shell(start), 2, "rank 1: this rank reads other data than rank 0");
  folder.write("other/corpus/calm_A.csv", table);
  folder.write("other/softmax.yaml", folder.read("softmax.yaml") + "sampler: {seed: 4}\n");
  expect_one_error(folder.shell(start), 2, "rank 1: this rank has another configuration than rank 0");
  EXPECT_FALSE(folder.exists("run"));
}

}  // namespace
}  // namespace emomc::testing
