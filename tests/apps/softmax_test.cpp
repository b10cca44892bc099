// `emomc evaluate` by softmax regression, and `emomc features --functionals`, on synthetic recordings.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <sstream>

#include "emomc/speech/audio.hpp"
#include "emomc/speech/functionals.hpp"
#include "libspeech/wav_bytes.hpp"
#include "program.hpp"
#include "shared_data.hpp"

namespace emomc {
namespace {

using nlohmann::json;
using testing::ProgramFolder;
using testing::Wav;

// Harmonics with noise: a "sad" voice falls and is quiet, a "glad" one rises, a "cross" one is loud and
// rough.
std::string wav_of(int emotion, int speaker, int take, int rate = 16000) {
  std::vector<double> samples;
  auto state = static_cast<std::uint32_t>(1000 * speaker + 10 * take + emotion);
  const double base = 100 + 30 * speaker + 4 * take, slope = emotion == 0 ? -20 : emotion == 1 ? 40 : 5;
  const double loudness = emotion == 0 ? 0.05 : emotion == 1 ? 0.12 : 0.25;
  for (int n = 0; n < rate / 2; ++n) {
    state = state * 1664525u + 1013904223u;
    const double noise = state / 4294967296.0 - 0.5, t = n / static_cast<double>(rate);
    double x = 0;
    for (int h = 1; h <= 6; ++h)
      x += std::sin(2 * std::numbers::pi * h * (base * t + slope * t * t)) / (emotion == 2 ? 1 : h);
    samples.push_back(std::round(32767 * loudness * (0.4 * x + (emotion == 2 ? 0.8 : 0.1) * noise)));
  }
  for (double& x : samples) x = std::clamp(x, -32768.0, 32767.0);
  return Wav{.sample_rate = rate, .samples = samples}.bytes();
}

class Softmax : public ::testing::Test {
 protected:
  ProgramFolder folder;

  void SetUp() override {
    if (!has_audio()) GTEST_SKIP() << "a build without libsndfile";
    const char* emotions[] = {"sad", "glad", "cross"};
    for (int speaker : {1, 2, 3, 4})
      for (int take : {0, 1, 2})
        for (int emotion : {0, 1, 2})
          folder.write("corpus/" + std::string(emotions[emotion]) + "/s" + std::to_string(speaker) + "/take" +
                           std::to_string(take) + ".wav",
                       wav_of(emotion, speaker, take));
    folder.write("config.yaml",
                 "corpus: {kind: folders, path: corpus}\nsoftmax: {chains: 2, warmup: 40, draws: 80}\n"
                 "output: {directory: run}\nthreads: 1\n");
  }
  json evaluate(const std::string& more = "") {
    const auto result = folder.run("evaluate config.yaml --json -q " + more);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.exit_code == 0 ? json::parse(result.out) : json();
  }
  void expect_refused(const std::string& arguments, const std::vector<std::string>& words) {
    const auto result = folder.run(arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments;
    for (const auto& word : words)
      EXPECT_NE(result.err.find(word), std::string::npos) << word << "\n" << result.err;
  }
};

// The fields of a CSV file without quotes.
std::vector<std::vector<std::string>> csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    rows.emplace_back();
    std::istringstream fields(line);
    for (std::string field; std::getline(fields, field, ',');) rows.back().push_back(field);
    if (line.ends_with(',')) rows.back().emplace_back();
  }
  return rows;
}

TEST_F(Softmax, IsWhatRecordingsAreEvaluatedBy) {
  const json scores = evaluate();
  ASSERT_TRUE(scores.is_object());
  EXPECT_EQ(scores, json::parse(folder.read("run/scores.json")));
  for (const char* file : {"predictions.csv", "predictions_penalised.csv", "probability_sd.csv",
                           "config.yaml", "manifest.json", "run.log"})
    EXPECT_TRUE(folder.exists(std::string("run/") + file)) << file;
  EXPECT_EQ(scores["classes"], (std::vector<std::string>{"cross", "glad", "sad"}));
  EXPECT_EQ(scores["utterances"], 36);
  EXPECT_EQ(scores["functionals"]["set"], "full");
  EXPECT_GT(scores["posterior"]["uar"].get<double>(), 0.8);  // chance is 1/3
  EXPECT_GT(scores["penalised"]["uar"].get<double>(), 0.8);
  EXPECT_LT(scores["posterior"]["inner_log_loss"].get<double>(), std::log(3.0) / 2);
  EXPECT_EQ(scores["prior_sd_of_fold"].size(), 4u);
  EXPECT_EQ(scores["convergence"]["pairs"], 36 * 3);
  for (const char* stage :
       {"recordings to functionals", "penalised fits", "posteriors of inner folds", "posteriors", "all"})
    EXPECT_GT(scores["seconds"][stage].get<double>(), 0) << stage;
  // The log loss is that of the written probabilities, and these are averages over draws with a spread.
  const auto rows = csv(folder.read("run/predictions.csv")), sds = csv(folder.read("run/probability_sd.csv"));
  ASSERT_EQ(rows.size(), 37u);
  ASSERT_EQ(sds.size(), 37u);
  double loss = 0, spread = 0;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i][0], sds[i][0]);
    const auto truth = std::find(rows[0].begin(), rows[0].end(), "p_" + rows[i][2]) - rows[0].begin();
    loss -= std::log(std::stod(rows[i][static_cast<std::size_t>(truth)])) / 36;
    EXPECT_NEAR(std::stod(rows[i][4]) + std::stod(rows[i][5]) + std::stod(rows[i][6]), 1, 1e-9);
    spread = std::max(spread, std::stod(sds[i][1]));
  }
  EXPECT_NEAR(scores["posterior"]["log_loss"].get<double>(), loss, 1e-9);
  EXPECT_GT(spread, 0);
  EXPECT_NE(folder.read("run/predictions.csv"), folder.read("run/predictions_penalised.csv"));
  EXPECT_EQ(json::parse(folder.read("run/manifest.json"))["kind"], "evaluation");
}

TEST_F(Softmax, IsReproducibleAndReplacesItsFiles) {
  evaluate();
  const std::string first = folder.read("run/predictions.csv"), sd = folder.read("run/probability_sd.csv");
  expect_refused("evaluate config.yaml", {"run"});
  evaluate("--force --threads 2");
  EXPECT_EQ(folder.read("run/predictions.csv"), first);
  EXPECT_EQ(folder.read("run/probability_sd.csv"), sd);
  evaluate("--force --seed 77");
  EXPECT_NE(folder.read("run/predictions.csv"), first);
  const json seeds = evaluate("--seeds 2 --output many");
  EXPECT_EQ(seeds["seeds"], (std::vector<int>{1, 2}));
  EXPECT_TRUE(seeds["penalised"]["log_loss"].is_number());
  EXPECT_EQ(folder.run("report run -o page.html").exit_code, 0);
}

TEST_F(Softmax, StandsAsideForKeysOfMixturesAndForTrain) {
  const json scores = evaluate(
      "--output other --set classifier=mixtures --set softmax= --set likelihood.components=2 "
      "--set sampler.draws=20 --set sampler.warmup=20 --set sampler.thin=1 --set classification.temper=0.1");
  EXPECT_TRUE(scores.contains("em"));
  EXPECT_FALSE(scores.contains("penalised"));
  expect_refused("train config.yaml -o model", {"classifier", "mixtures"});
  expect_refused("evaluate config.yaml --set likelihood.components=2 --set classifier=softmax",
                 {"likelihood.components", "classifier: mixtures"});
}

TEST_F(Softmax, FunctionalsAreWrittenAsATable) {
  const auto result = folder.run("features --corpus folders corpus -o table --functionals prosody --json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json said = json::parse(result.out);
  EXPECT_EQ(said["set"], "prosody");
  EXPECT_EQ(said["version"], kFunctionalsVersion);
  const auto rows = csv(folder.read("table/functionals.csv"));
  ASSERT_EQ(rows.size(), 37u);
  std::vector<std::string> columns{"utterance", "speaker", "emotion"};
  for (const auto& name : functional_names(FunctionalSet::prosody)) columns.push_back(name);
  EXPECT_EQ(rows[0], columns);
  const auto at =
      static_cast<std::size_t>(std::find(columns.begin(), columns.end(), "f0.mean") - columns.begin());
  for (std::size_t i = 1; i < rows.size(); ++i) {
    ASSERT_EQ(rows[i].size(), columns.size());
    if (rows[i][2] == "cross") continue;  // half noise
    // In semitones above 27.5 Hz, in the middle of the glide of wav_of.
    const int speaker = rows[i][1].back() - '0', take = rows[i][0].back() - '0';
    const double middle = 100 + 30 * speaker + 4 * take + (rows[i][2] == "sad" ? -10 : 20);
    EXPECT_NEAR(std::stod(rows[i][at]), 12 * std::log2(middle / 27.5), 0.3) << rows[i][0];
  }
  expect_refused("features --corpus folders corpus -o table --functionals prosody", {"--force"});
  EXPECT_EQ(
      folder.run("features --corpus folders corpus -o table --functionals cepstra --force -q").exit_code, 0);
  expect_refused("features --corpus folders corpus -o other --functionals prosodi", {"prosodi"});
  expect_refused("features --corpus folders corpus -o other --functionals full --set num_filters=40",
                 {"--functionals"});
}

TEST_F(Softmax, ALowSampleRateIsRefusedByName) {
  folder.write("corpus/glad/s1/take0.wav", wav_of(1, 1, 0, 8000));
  for (const char* arguments :
       {"evaluate config.yaml", "features --corpus folders corpus -o table --functionals full"})
    expect_refused(arguments, {"take0.wav", "8000", "16000"});
  EXPECT_FALSE(folder.exists("table"));
}

// The six speakers of EMO-DB, default settings. The bounds are those of openSMILE's ComParE functionals with
// softmax regression on the same folds (0.704 and 0.657 by one independent run), less 0.02 and plus 0.03.
TEST(SoftmaxLong, IsAsGoodAsOpenSmileOnEmoDb) {
  const auto data = testing::shared_data("emodb");
  if (!data) GTEST_SKIP() << "no shared data: set EMOMC_SHARED_DATA";
  if (!has_audio()) GTEST_SKIP() << "a build without libsndfile";
  ProgramFolder folder;
  folder.write("config.yaml",
               "corpus: {kind: emodb, path: '" + data->string() + "'}\noutput: {directory: run}\n");
  const auto result = folder.run("evaluate config.yaml --json -q");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json scores = json::parse(result.out);
  EXPECT_GE(scores["posterior"]["uar"].get<double>(), 0.704 - 0.02);
  EXPECT_LE(scores["posterior"]["log_loss"].get<double>(), 0.657 + 0.03);
  EXPECT_LE(scores["posterior"]["calibration_error"].get<double>(),
            scores["posterior"]["calibration_error_99_percent_range"][1].get<double>());
  EXPECT_EQ(scores["convergence"]["converged"], 1);
  EXPECT_GE(scores["convergence"]["within_1.01_and_400"].get<double>(), 0.97);
  EXPECT_LE(scores["convergence"]["worst_rhat"].get<double>(), 1.03);
}

}  // namespace
}  // namespace emomc
