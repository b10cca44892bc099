// Tests `emomc evaluate` from a user's point of view, on simulated corpora.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "emomc/likelihood/engines.hpp"
#include "emomc/likelihood/parameter_file.hpp"
#include "emomc/speech/feature_set.hpp"
#include "evaluation_run.hpp"
#include "program.hpp"
#include "small_corpus.hpp"

namespace emomc {
namespace {

using nlohmann::json;
using testing::ProgramFolder;
using testing::ProgramResult;

// Consecutive frames of simulated corpora are independent, and their c0 tells classes apart.
constexpr const char* kConfig =
    "corpus: {path: corpus}\n"
    "features: {deltas: 0, gain: kept}\n"
    "likelihood: {components: 2}\n"
    "sampler: {chains: 2, warmup: 60, draws: 60, thin: 2, seed: 3}\n"
    "threads: 1\n"
    "output: {directory: run}\n";
const std::string given_temper = " --set classification.temper=0.4";

/// The rows of predictions.csv, which has no quotes here.
struct Csv {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;

  explicit Csv(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream cells(line);
      std::vector<std::string> row;
      for (std::string cell; std::getline(cells, cell, ',');) row.push_back(cell);
      (header.empty() ? header : rows.emplace_back()) = row;
    }
  }
};

class Evaluate : public ::testing::Test {
 protected:
  ProgramFolder folder;

  void SetUp() override {
    folder.write("simulation.yaml", testing::kSmallCorpus);
    const auto result = folder.run("simulate simulation.yaml -o corpus -q");
    ASSERT_EQ(result.exit_code, 0) << result.err;
    folder.write("config.yaml", kConfig);
  }
  void evaluate(const std::string& arguments) {
    const auto result = folder.run("evaluate config.yaml -q " + arguments);
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
  /// Expects exit code 2, no output file, and an error of one line that contains all `words`.
  void expect_refused(const std::string& arguments, const std::vector<std::string>& words) {
    testing::expect_refused(folder, "evaluate " + arguments + " -q", words);
  }
  void expect_refused_without_a_trace(const std::string& more, const std::vector<std::string>& words) {
    expect_refused("config.yaml " + more, words);
    testing::expect_refused(folder, "check config.yaml " + more, words);
    EXPECT_FALSE(folder.exists("run")) << more;
  }
};

/// Checks the scores in scores.json that can be computed from `csv`.
void expect_scores_of(const Csv& csv, const json& scores, const std::vector<std::string>& classes) {
  const std::size_t K = classes.size();
  std::vector<std::string> header{"utterance", "speaker", "truth", "predicted"};
  for (const auto& name : classes) header.push_back("p_" + name);
  ASSERT_EQ(csv.header, header);
  std::map<std::string, std::pair<double, double>> recall;  // right, all predictions
  std::map<std::string, std::map<std::string, std::pair<double, double>>> of_speaker;
  double right = 0, loss = 0, brier = 0;
  std::vector<std::vector<std::size_t>> confusion(K, std::vector<std::size_t>(K, 0));
  for (const auto& row : csv.rows) {
    ASSERT_EQ(row.size(), 4 + K);
    std::vector<double> p;
    double sum = 0;
    for (std::size_t c = 0; c < K; ++c) {
      p.push_back(std::stod(row[4 + c]));
      EXPECT_GE(p[c], 0);
      sum += p[c];
    }
    EXPECT_NEAR(sum, 1, 1e-9);
    const auto best = static_cast<std::size_t>(std::max_element(p.begin(), p.end()) - p.begin());
    EXPECT_EQ(row[3], classes[best]);
    const auto truth =
        static_cast<std::size_t>(std::find(classes.begin(), classes.end(), row[2]) - classes.begin());
    ASSERT_LT(truth, K);
    EXPECT_EQ(row[0].find(row[2] + "_" + row[1] + "_"), 0u) << row[0];
    const bool hit = best == truth;
    right += hit;
    recall[row[2]].first += hit;
    ++recall[row[2]].second;
    of_speaker[row[1]][row[2]].first += hit;
    ++of_speaker[row[1]][row[2]].second;
    ++confusion[truth][best];
    loss -= std::log(p[truth]);
    for (std::size_t c = 0; c < K; ++c) brier += std::pow(p[c] - (c == truth), 2);
  }
  const auto n = static_cast<double>(csv.rows.size());
  const auto uar_of = [](const auto& recalls) {
    double sum = 0;
    for (const auto& [name, counts] : recalls) sum += counts.first / counts.second;
    return sum / static_cast<double>(recalls.size());
  };
  EXPECT_NEAR(scores["accuracy"].get<double>(), right / n, 1e-12);
  EXPECT_NEAR(scores["uar"].get<double>(), uar_of(recall), 1e-12);
  EXPECT_NEAR(scores["log_loss"].get<double>(), loss / n, 1e-9 * (1 + loss / n));
  EXPECT_NEAR(scores["brier"].get<double>(), brier / n, 1e-9);
  EXPECT_EQ(scores["confusion"].get<std::vector<std::vector<std::size_t>>>(), confusion);
  double f1 = 0;
  for (std::size_t k = 0; k < K; ++k) {
    double truly = 0, predicted = 0;
    for (std::size_t other = 0; other < K; ++other) {
      truly += static_cast<double>(confusion[k][other]);
      predicted += static_cast<double>(confusion[other][k]);
    }
    f1 += 2 * static_cast<double>(confusion[k][k]) / (truly + predicted) / static_cast<double>(K);
  }
  EXPECT_NEAR(scores["macro_f1"].get<double>(), f1, 1e-12);
  double mean = 0;
  for (const auto& [speaker, recalls] : of_speaker) {
    EXPECT_NEAR(scores["uar_by_speaker"][speaker].get<double>(), uar_of(recalls), 1e-12) << speaker;
    mean += uar_of(recalls) / static_cast<double>(of_speaker.size());
  }
  EXPECT_NEAR(scores["mean_uar_of_speakers"].get<double>(), mean, 1e-12);
  EXPECT_LE(scores["uar_interval"][0].get<double>(), scores["uar"].get<double>());
  EXPECT_GE(scores["uar_interval"][1].get<double>(), scores["uar"].get<double>());
  double binned = 0;
  for (const auto& bin : scores["calibration_bins"]) binned += bin["count"].get<double>();
  EXPECT_EQ(binned, n);
}

TEST_F(Evaluate, WritesPredictionsAndTheirScores) {
  const auto result = folder.run("evaluate config.yaml --json" + given_temper);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  for (const char* file : {"predictions.csv", "predictions_em.csv", "scores.json", "config.yaml",
                           "manifest.json", "checkpoint", "run.log", "chains/chain-00000.emc"})
    EXPECT_TRUE(folder.exists(std::string("run/") + file)) << file;
  const json scores = json::parse(folder.read("run/scores.json"));
  EXPECT_EQ(json::parse(result.out), scores);
  EXPECT_EQ(scores["classes"], (std::vector<std::string>{"calm", "glad"}));
  EXPECT_EQ(scores["speakers"], (std::vector<std::string>{"A", "B", "C"}));
  EXPECT_EQ(scores["utterances"], 36);
  EXPECT_EQ(scores["frames"], 36 * 12);
  EXPECT_EQ(scores["seed"], 3);
  EXPECT_EQ(scores["test_speakers_of_fold"], json::parse(R"([["A"], ["B"], ["C"]])"));
  const Csv posterior(folder.read("run/predictions.csv")), em(folder.read("run/predictions_em.csv"));
  EXPECT_EQ(posterior.rows.size(), 36u);
  expect_scores_of(posterior, scores["posterior"], {"calm", "glad"});
  expect_scores_of(em, scores["em"], {"calm", "glad"});
  EXPECT_NE(folder.read("run/predictions.csv"), folder.read("run/predictions_em.csv"));
  EXPECT_NEAR(scores["posterior_minus_em"]["uar"].get<double>(),
              scores["posterior"]["uar"].get<double>() - scores["em"]["uar"].get<double>(), 1e-12);
  for (const auto& temper : scores["posterior"]["temper_of_fold"]) EXPECT_EQ(temper, 0.4);
  EXPECT_EQ(scores["posterior"]["inner_log_loss"], nullptr);
  EXPECT_EQ(scores["convergence"]["pairs"], 72);
  const json manifest = json::parse(folder.read("run/manifest.json"));
  EXPECT_EQ(manifest["status"], "finished");
  EXPECT_GT(scores["posterior"]["uar"].get<double>(), 0.6);  // chance level is 0.5
}

TEST_F(Evaluate, LearnsATemperForEachFold) {
  evaluate("");
  const json scores = json::parse(folder.read("run/scores.json"));
  for (const char* method : {"posterior", "em"}) {
    const json& of = scores[method];
    ASSERT_EQ(of["temper_of_fold"].size(), 3u);
    for (const auto& temper : of["temper_of_fold"]) {
      EXPECT_GE(temper.get<double>(), 0.9e-6) << method;
      EXPECT_LE(temper.get<double>(), 1.1e4) << method;
    }
    for (const auto& loss : of["inner_log_loss_of_fold"]) EXPECT_TRUE(loss.is_number()) << of.dump();
  }
  // The learned temper predicts the training speakers better than the uniform distribution does.
  EXPECT_LT(scores["posterior"]["inner_log_loss"].get<double>(), std::log(2));
}

// A class prior of 1e-7 for calm makes every prediction glad; with the classes in the wrong order every
// prediction would be calm.
TEST_F(Evaluate, AppliesTheClassPrior) {
  evaluate("--set baseline=none --set 'classification.class_prior={calm: 1e-7, glad: 0.9999999}'" +
           given_temper);
  for (const auto& row : Csv(folder.read("run/predictions.csv")).rows) EXPECT_EQ(row[3], "glad");
}

TEST(ShowStage, TellsWhatIsLeftAfterTwoSeconds) {
  std::ostringstream out;
  std::streambuf* const before = std::cerr.rdbuf(out.rdbuf());
  const app::Report said = app::show_stage("scoring", app::Verbosity::normal),
                    quiet = app::show_stage("scoring", app::Verbosity::quiet);
  said(1, 4);
  EXPECT_EQ(out.str(), "");
  std::this_thread::sleep_for(std::chrono::milliseconds(2100));
  quiet(2, 4);
  EXPECT_EQ(out.str(), "");
  said(2, 4);
  said(3, 4);  // no new line before five seconds have passed
  said(4, 4);
  std::cerr.rdbuf(before);
  const std::string text = out.str();
  EXPECT_EQ(text.find("scoring: 2 of 4, about 2."), 0u) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
}

// A single draw has no R-hat, which must not count as a small one.
TEST_F(Evaluate, DoesNotCallUnknownConvergenceGood) {
  const auto result =
      folder.run("evaluate config.yaml -q --set baseline=none --set sampler.draws=1 --set sampler.chains=1" +
                 given_temper);
  EXPECT_EQ(result.exit_code, 0);
  // A warning is printed also with -q.
  EXPECT_NE(result.err.find("warning: 0.0 % of (utterance, class) pairs have converged"), std::string::npos)
      << result.err;
  const json convergence = json::parse(folder.read("run/scores.json"))["convergence"];
  EXPECT_EQ(convergence["converged"], 0.0);
  for (const char* name : {"calm", "glad"}) {
    EXPECT_EQ(convergence["classes"][name]["worst_rhat"], nullptr);
    EXPECT_EQ(convergence["classes"][name]["least_ess_bulk"], nullptr);
  }
}

TEST_F(Evaluate, SeedsAreAveraged) {
  const auto result = folder.run("evaluate config.yaml --seeds 2 --json" + given_temper);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json all = json::parse(folder.read("run/scores.json"));
  EXPECT_EQ(json::parse(result.out), all);
  EXPECT_EQ(all["seeds"], (std::vector<int>{1, 2}));
  std::vector<json> one;
  for (const char* seed : {"1", "2"}) {
    one.push_back(json::parse(folder.read(std::string("run/seed-") + seed + "/scores.json")));
    EXPECT_EQ(one.back()["seed"], std::stoi(seed));
  }
  EXPECT_NE(folder.read("run/seed-1/predictions.csv"), folder.read("run/seed-2/predictions.csv"));
  for (const char* method : {"posterior", "em"})
    for (const char* score : {"uar", "accuracy", "log_loss", "brier", "mean_uar_of_speakers"})
      EXPECT_NEAR(all[method][score].get<double>(),
                  (one[0][method][score].get<double>() + one[1][method][score].get<double>()) / 2, 1e-12)
          << method << " " << score;
  EXPECT_NEAR(all["posterior"]["uar_sd_over_seeds"].get<double>(),
              std::abs(one[0]["posterior"]["uar"].get<double>() - one[1]["posterior"]["uar"].get<double>()) /
                  std::sqrt(2),
              1e-12);
  // Each seed gives the same result as an evaluation with this seed alone.
  evaluate("--seed 2 --output alone" + given_temper);
  EXPECT_EQ(folder.read("alone/predictions.csv"), folder.read("run/seed-2/predictions.csv"));
  expect_refused("config.yaml --seeds 2", {"seed-1", "--force"});
  folder.write("file", "");
  expect_refused("config.yaml --seeds 2 --output file", {"file", "no directory"});
  folder.write("other/thing", "");
  expect_refused("config.yaml --seeds 2 --output other", {"other", "thing"});
  expect_refused("config.yaml --seeds 2 --seed 1 --output new", {"--seed"});
}

TEST_F(Evaluate, DoesNotDependOnTheNumberOfThreads) {
  evaluate("--output one --set threads=1");
  evaluate("--output two --set threads=2");
  EXPECT_EQ(folder.read("one/predictions.csv"), folder.read("two/predictions.csv"));
  EXPECT_EQ(folder.read("one/predictions_em.csv"), folder.read("two/predictions_em.csv"));
  evaluate("--output third --seed 4");
  EXPECT_NE(folder.read("one/predictions.csv"), folder.read("third/predictions.csv"));
}

TEST_F(Evaluate, ReplacesOnlyWhatItIsToldToReplace) {
  evaluate("--set baseline=none" + given_temper);
  const std::string before = folder.read("run/predictions.csv");
  expect_refused("config.yaml", {"run: the run directory is not empty", "--resume", "--force"});
  expect_refused("config.yaml --resume --force", {"--force"});
  evaluate("--force --seed 9 --set baseline=none" + given_temper);
  EXPECT_NE(folder.read("run/predictions.csv"), before);
  folder.write("run/notes.txt", "mine");
  expect_refused("config.yaml --force", {"notes.txt"});
  EXPECT_EQ(folder.read("run/notes.txt"), "mine");
}

TEST_F(Evaluate, WithoutABaselineNoPredictionsOfAnEarlierOneStay) {
  evaluate(given_temper);
  ASSERT_TRUE(folder.exists("run/predictions_em.csv"));
  evaluate("--resume --set baseline=none" + given_temper);
  EXPECT_FALSE(folder.exists("run/predictions_em.csv"));
  EXPECT_TRUE(folder.exists("run/predictions.csv"));
}

// `emomc train` accepts a corpus of one speaker if the temper is given.
TEST_F(Evaluate, CheckAcceptsAConfigurationThatTrainAccepts) {
  for (const char* emotion : {"calm", "glad"})
    for (const char* speaker : {"B", "C"})
      std::filesystem::remove(folder / (std::string("corpus/") + emotion + "_" + speaker + ".csv"));
  const auto check = folder.run("check config.yaml" + given_temper);
  EXPECT_EQ(check.exit_code, 0) << check.err;
  EXPECT_NE(check.out.find("one speaker (A): emomc train can use it, emomc evaluate needs two"),
            std::string::npos)
      << check.out;
  const auto train = folder.run("train config.yaml -o model -q" + given_temper);
  EXPECT_EQ(train.exit_code, 0) << train.err;
  expect_refused("config.yaml" + given_temper, {"one speaker (A)"});
}

// The program is killed once there is a checkpoint. The evaluation continues to exactly the predictions of an
// undisturbed evaluation.
TEST_F(Evaluate, GoesOnAfterItWasKilled) {
  const std::string how = " --set baseline=none --set sampler.draws=3000" + given_temper;
  evaluate("--output whole" + how);
  for (const std::string signal : {"KILL", "TERM"}) {
    const std::string until_checkpoint =
        "sh -c '\"$0\" \"$@\" & p=$!; while kill -0 $p 2>/dev/null && ! [ -e run/checkpoint ]; do sleep "
        "0.02; "
        "done; kill -" +
        signal + " $p; wait $p'";
    const auto killed =
        folder.run("evaluate config.yaml -q --set checkpoint.seconds=0.02" + how, until_checkpoint);
    ASSERT_EQ(killed.exit_code, signal == "KILL" ? 137 : 143) << killed.err;
    ASSERT_TRUE(folder.exists("run/checkpoint"));
    ASSERT_FALSE(folder.exists("run/predictions.csv")) << "too fast to be killed";
    if (signal == "TERM") {
      EXPECT_NE(killed.err.find("--resume"), std::string::npos) << killed.err;
    }
    expect_refused("config.yaml" + how, {"--resume"});
    for (const std::string change : {"sampler.seed=4", "training.power=0.2", "likelihood.components=3",
                                     "corpus.classes=[glad, calm]", "features.deltas=1"})
      expect_refused("config.yaml --resume --set " + std::string("'") + change + "'" + how,
                     {"run: --resume", "the configuration has changed"});
    evaluate("--resume" + how);
    EXPECT_NE(folder.read("run/run.log").find("going on from step"), std::string::npos);
    EXPECT_EQ(folder.read("run/predictions.csv"), folder.read("whole/predictions.csv")) << signal;
    evaluate("--resume" + how);  // nothing is left to do
    EXPECT_EQ(folder.read("run/predictions.csv"), folder.read("whole/predictions.csv"));
    std::filesystem::remove_all(folder / "run");
  }
}

TEST_F(Evaluate, ClassesThatAreNotListedAreLeftOut) {
  folder.write("corpus/odd_A.csv", folder.read("corpus/calm_B.csv"));
  evaluate("--set 'corpus.classes=[glad, calm]' --set baseline=none" + given_temper);
  const Csv csv(folder.read("run/predictions.csv"));
  EXPECT_EQ(csv.rows.size(), 36u);
  expect_scores_of(csv, json::parse(folder.read("run/scores.json"))["posterior"], {"glad", "calm"});
}

TEST_F(Evaluate, ATestedSpeakerMayLackAClass) {
  std::filesystem::remove(folder / "corpus/glad_B.csv");
  evaluate(given_temper);
  const json scores = json::parse(folder.read("run/scores.json"));
  EXPECT_EQ(scores["utterances"], 30);
  expect_scores_of(Csv(folder.read("run/predictions.csv")), scores["posterior"], {"calm", "glad"});
}

TEST_F(Evaluate, CheckCountsWhatABackgroundAdds) {
  for (const char* means_sd : {"0.2", "learned"}) {
    const std::string more = std::string(" --set training.means_sd=") + means_sd;
    const auto check = folder.run("check config.yaml --json" + more);
    ASSERT_EQ(check.exit_code, 0) << check.err;
    evaluate(more + given_temper + " --force");
    EXPECT_EQ(json::parse(check.out)["parameters"],
              json::parse(folder.read("run/manifest.json"))["parameters"]["all"])
        << means_sd;
  }
}

TEST_F(Evaluate, RefusesBeforeAnyWorkAndWithoutATrace) {
  expect_refused("nowhere.yaml", {"nowhere.yaml"});
  expect_refused_without_a_trace("--set corpus.clases=[a]", {"corpus.clases", "did you mean corpus.classes"});
  expect_refused_without_a_trace("--set corpus.path=nowhere", {"nowhere"});
  // The files with the true parameters next to the tables are not tables. A table whose name does not match
  // the pattern is refused.
  folder.write("corpus/stray.csv", "utterance,frame,c0,c1\n0,0,1,2\n");
  expect_refused_without_a_trace("--set corpus.unparsed=refuse", {"stray.csv", "unparsed: skip"});
  std::filesystem::remove(folder / "corpus/stray.csv");
  expect_refused_without_a_trace("--set 'corpus.classes=[calm]'", {"1 class (calm)"});
  expect_refused_without_a_trace("--set 'corpus.classes=[calm, gladd]'", {"gladd", "did you mean glad"});
  expect_refused_without_a_trace("--set 'folds={k_fold_by_speaker: 4}'", {"folds", "2 to 3"});
  expect_refused_without_a_trace("--set 'folds={test_speakers: [D]}'",
                                 {"folds.test_speakers", "D", "A, B, C"});
  expect_refused_without_a_trace("--set 'folds={test_speakers: [A, B]}'", {"classification.temper"});
  expect_refused_without_a_trace("--set 'classification.class_prior={calm: 0.5, sad: 0.5}'",
                                 {"classification.class_prior", "sad", "calm, glad"});
  expect_refused_without_a_trace("--set likelihood.components=100", {"144 frames", "100 components"});
  // There are enough frames for the background, but too few for the EM fit of a class. This is detected
  // before sampling begins.
  expect_refused_without_a_trace("--set likelihood.components=60", {"class calm", "72 frames"});
  expect_refused_without_a_trace("--set 'prior={means: {normal: {mean: 0, sd: 1}}}'", {"prior.means"});
  expect_refused_without_a_trace("--set sampler.init=start.json", {"sampler.init", "kmeans"});
  // The test is the same on a machine with a GPU.
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  const std::string before = visible == nullptr ? "" : visible;
  ::setenv("CUDA_VISIBLE_DEVICES", "", 1);
  expect_refused_without_a_trace(
      "--set training.background=none --set 'prior.means={cauchy: {location: 0, scale: 1}}' --backend cuda",
      {"cuda"});
  ::unsetenv("CUDA_VISIBLE_DEVICES");
  if (visible != nullptr) ::setenv("CUDA_VISIBLE_DEVICES", before.c_str(), 1);
  for (const char* speaker : {"B", "C"})
    for (const char* emotion : {"calm_", "glad_"})
      std::filesystem::remove(folder / ("corpus/" + std::string(emotion) + speaker + ".csv"));
  expect_refused_without_a_trace("", {"one speaker (A)"});
  folder.write("corpus/rare_A.csv", folder.read("corpus/calm_A.csv"));
  folder.write("corpus/calm_B.csv", folder.read("corpus/calm_A.csv"));
  folder.write("corpus/glad_B.csv", folder.read("corpus/glad_A.csv"));
  expect_refused_without_a_trace("", {"without A", "class rare", "corpus.classes"});
  folder.write("corpus/glad_B.csv", "utterance,frame,x0,x1\n0,0,1,nan\n");
  expect_refused_without_a_trace("", {"glad_B.csv"});
}

/// Returns the unweighted average recall on all utterances with the parameters from which the corpus was
/// simulated.
double best_uar(const std::filesystem::path& corpus, const std::vector<std::string>& classes) {
  std::vector<std::filesystem::path> others;
  const FeatureSet features = read_feature_tables(corpus, "{emotion}_{speaker}.csv", &others);
  DataSet data;
  data.dim = static_cast<int>(features.dim());
  data.num_rows = features.num_rows();
  data.values = features.values;
  for (const auto& u : features.utterances) data.segments.push_back({u.first_row, u.num_rows});
  const ModelSpec model{"gaussian_mixture", 2, "diagonal"};
  const ParameterLayout layout = model_layout(model, data.dim);
  const auto device = make_device(Backend::reference);
  const auto engine = make_engine(Backend::reference, model, Precision::float64, data, *device);
  std::vector<std::vector<double>> sums;
  for (const auto& name : classes) {
    const auto theta = read_parameter_file(corpus / ("truth_" + name + ".json"), layout);
    engine->sums_by_segment(theta.data(), 1, sums.emplace_back(data.segments.size()).data());
  }
  double total = 0;
  for (std::size_t c = 0; c < classes.size(); ++c) {
    double right = 0, all = 0;
    for (std::size_t u = 0; u < data.segments.size(); ++u) {
      if (features.utterances[u].emotion != classes[c]) continue;
      ++all;
      bool best = true;
      for (std::size_t other = 0; other < classes.size(); ++other) best &= sums[c][u] >= sums[other][u];
      right += best;
    }
    total += right / all / static_cast<double>(classes.size());
  }
  return total;
}

// There are 2,040 test utterances. Training sets have 1,530 utterances, so that the loss from estimating the
// parameters is far below 0.03. Both classifiers predict the same utterances and differ on few of them.
TEST_F(Evaluate, IsCloseToTheBestPossibleClassifier) {
  folder.write("simulation.yaml",
               "model: gaussian_mixture\n"
               "parameters: {weights: [0.5, 0.5], means: [[-2, 0], [2, 1]], scales: [[1, 1], [1, 1]]}\n"
               "seed: 8\n"
               "corpus:\n"
               "  speakers: [A, B, C, D]\n"
               "  utterances: 170\n"
               "  frames: 4\n"
               "  emotions:\n"
               "    calm: {weights: [0.65, 0.35], spread: 1, shift: [0, 0]}\n"
               "    glad: {weights: [0.35, 0.65], spread: 1, shift: [0.6, 0.7]}\n"
               "    sad: {weights: [0.6, 0.4], spread: 1.1, shift: [-0.7, 0.8]}\n");
  ASSERT_EQ(folder.run("simulate simulation.yaml -o large -q").exit_code, 0);
  folder.write("config.yaml",
               "corpus: {path: large}\n"
               "features: {normalize: none, deltas: 0, gain: kept}\n"
               "likelihood: {components: 2}\n"
               "training: {means_sd: 1, scales_sd: 0.5, weights: 10, power: 1}\n"
               "classification: {temper: 1, evidence: sum, draws: 100}\n"
               "sampler: {chains: 2, warmup: 200, draws: 100, thin: 2, seed: 1}\n"
               "threads: 1\n"
               "output: {directory: run}\n");
  evaluate("");
  const json scores = json::parse(folder.read("run/scores.json"));
  ASSERT_EQ(scores["utterances"], 2040);
  const double best = best_uar(folder / "large", {"calm", "glad", "sad"});
  EXPECT_GT(best, 0.6);
  EXPECT_LT(best, 0.9);
  EXPECT_NEAR(scores["posterior"]["uar"].get<double>(), best, 0.03);
  EXPECT_NEAR(scores["em"]["uar"].get<double>(), best, 0.03);
  // The probabilities are nearly calibrated.
  EXPECT_LT(scores["posterior"]["calibration_error"].get<double>(), 0.05);
  RecordProperty("best", std::to_string(best));
  RecordProperty("posterior", scores["posterior"]["uar"].dump());
}

}  // namespace
}  // namespace emomc
