// Tests `emomc evaluate` by softmax regression, and `emomc features --functionals`, on synthetic recordings.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "emomc/emotion/softmax_job.hpp"
#include "emomc/speech/functionals.hpp"
#include "program.hpp"
#include "shared_data.hpp"
#include "softmax_corpus.hpp"

namespace emomc {
namespace {

using nlohmann::json;
using testing::ProgramFolder;

using testing::csv;
using testing::Softmax;
using testing::wav_of;

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
  ASSERT_EQ(scores["prior_sd_weights_of_fold"].size(), 4u);
  for (const json& fold : scores["prior_sd_weights_of_fold"]) {
    double sum = 0;
    for (const json& one : fold) sum += one["weight"].get<double>();
    EXPECT_NEAR(sum, 1, 1e-12);
  }
  for (const char* method : {"posterior", "penalised"}) {
    // If all utterances are recognised, the slope is infinite.
    const json& slope = scores[method]["calibration_slope"];
    EXPECT_TRUE(scores[method]["accuracy"] == 1 ? slope.is_null() : slope.get<double>() > 0) << slope;
    EXPECT_GE(scores[method]["calibration_error_99_percent_range_of_speakers"][1].get<double>(),
              scores[method]["calibration_error_if_calibrated"].get<double>());
  }
  ASSERT_EQ(scores["temper_frames_of_fold"].size(), 4u);
  for (const json& frames : scores["temper_frames_of_fold"]) EXPECT_GE(frames, 0);
  EXPECT_EQ(scores["convergence"]["pairs"], 36 * 3);
  // known_of_speaker has the scores of the same utterances by what is known about their speakers. Pitches
  // differ more between speakers than between emotions, so that the order of little and no knowledge is not
  // tested.
  const json& known = scores["known_of_speaker"];
  ASSERT_EQ(known.size(), 4u);
  for (const char* key : {"uar", "log_loss", "calibration_error", "uar_interval"})
    EXPECT_EQ(known[0][key], scores["posterior"][key]) << key;
  const char* names[] = {"own", "five", "one", "corpus"};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(known[i]["knowledge"], names[i]);
    EXPECT_EQ(known[i].contains("uar_less_own"), i > 0);
    EXPECT_GT(known[i]["log_loss"].get<double>(), 0);
    EXPECT_LT(known[i]["inner_log_loss"].get<double>(), std::log(3.0));
  }
  EXPECT_GT(known[1]["uar"].get<double>(), 0.7);
  EXPECT_NEAR(known[3]["uar_less_own"].get<double>(),
              known[3]["uar"].get<double>() - known[0]["uar"].get<double>(), 1e-12);
  for (const char* stage :
       {"recordings to functionals", "penalised fits", "posteriors of inner folds", "posteriors", "all"})
    EXPECT_GT(scores["seconds"][stage].get<double>(), 0) << stage;
  // The log loss is that of the written probabilities, which are averages over draws with a spread.
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

// The functionals end at 8 kHz at any sample rate. The filters of cepstra end at half of it, unless high_hz
// is set.
TEST_F(Softmax, OnlyCepstraWarnOfSampleRatesThatDiffer) {
  folder.write("corpus/sad/s1/take0.wav", wav_of(0, 1, 0, 22050));
  const auto rates = "sample rates: 35 at 16000 Hz, 1 at 22050 Hz", warning = "warning: sample rates differ";
  const auto expect = [&](const std::string& text, bool has_warning) {
    EXPECT_NE(text.find(rates), std::string::npos) << text;
    EXPECT_EQ(text.find(warning) != std::string::npos, has_warning) << text;
  };
  evaluate("--set features.set=cepstra");
  expect(folder.read("run/run.log"), false);
  ASSERT_EQ(folder.run("train config.yaml -o model -q --set features.set=cepstra").exit_code, 0);
  expect(folder.read("model/run.log"), false);
  expect(folder.run("check config.yaml").out, false);
  folder.write("mixtures.yaml",
               "corpus: {kind: folders, path: corpus}\nclassifier: mixtures\nlikelihood: {components: 1}\n");
  expect(folder.run("check mixtures.yaml").out, true);
  expect(folder.run("check mixtures.yaml --set classifier=fused").out, true);
  expect(folder.run("check mixtures.yaml --set features.high_hz=8000").out, false);
  expect(folder.run("features --corpus folders corpus -o frames").out, true);
  expect(folder.run("features --corpus folders corpus -o rows --functionals prosody").out, false);
}

TEST_F(Softmax, TempersByGivenFrames) {
  const json scores = evaluate("--set softmax.temper_frames=25");
  EXPECT_EQ(scores["temper_frames_of_fold"], (std::vector<double>{25, 25, 25, 25}));
  EXPECT_NE(folder.read("run/config.yaml").find("temper_frames: 25"), std::string::npos);
  expect_refused("evaluate config.yaml --force --set softmax.temper_frames=none",
                 {"softmax.temper_frames", "finite number"});
  for (const char* value : {"-1", "[1]"})
    expect_refused("evaluate config.yaml --force --set softmax.temper_frames=" + std::string(value),
                   {"softmax.temper_frames", "learned, or a number, 0 to 1e6"});
}

// A class with nearly all of the prior probability is predicted more often.
TEST_F(Softmax, LearnsWithClassesThatCountWhatIsGiven) {
  const auto mean_of = [&](const std::string& prior) {
    evaluate("--force --set softmax.temper=1 --set softmax.prior_sds=[1] --set 'classification.class_prior=" +
             prior + "'");
    const auto rows = csv(folder.read("run/predictions.csv"));
    const auto at = std::find(rows[0].begin(), rows[0].end(), "p_sad") - rows[0].begin();
    double sum = 0;
    for (std::size_t i = 1; i < rows.size(); ++i)
      sum += std::stod(rows[i][static_cast<std::size_t>(at)]) / 36;
    return sum;
  };
  const double uniform = mean_of("uniform"),
               alike = mean_of("{sad: 0.3333333, glad: 0.3333333, cross: 0.3333334}"),
               many = mean_of("{sad: 0.9, glad: 0.05, cross: 0.05}");
  EXPECT_NEAR(alike, uniform, 1e-3);
  EXPECT_GT(many, uniform + 0.1);
  expect_refused("evaluate config.yaml --force --set 'classification.class_prior={sad: 0.5, angry: 0.5}'",
                 {"classification.class_prior", "angry", "cross, glad, sad"});
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
  double corpus = 0;
  for (const char* seed : {"1", "2"})
    corpus += json::parse(folder.read("many/seed-" + std::string(seed) +
                                      "/scores.json"))["known_of_speaker"][3]["log_loss"]
                  .get<double>() /
              2;
  EXPECT_NEAR(seeds["known_of_speaker"][3]["log_loss"].get<double>(), corpus, 1e-12);
  const auto averaged = csv(folder.read("many/predictions.csv")),
             one = csv(folder.read("many/seed-1/predictions.csv")),
             two = csv(folder.read("many/seed-2/predictions.csv"));
  ASSERT_EQ(averaged.size(), 37u);
  double loss = 0;
  for (std::size_t i = 1; i < 37; ++i) {
    EXPECT_EQ(averaged[i][0], one[i][0]);
    const auto truth = std::find(one[0].begin(), one[0].end(), "p_" + one[i][2]) - one[0].begin();
    for (std::size_t k = 4; k < 7; ++k)
      EXPECT_NEAR(std::stod(averaged[i][k]), (std::stod(one[i][k]) + std::stod(two[i][k])) / 2, 1e-12);
    loss -= std::log(std::stod(averaged[i][static_cast<std::size_t>(truth)])) / 36;
  }
  EXPECT_NEAR(seeds["averaged"]["log_loss"].get<double>(), loss, 1e-9);
  // An evaluation of fewer seeds leaves the files of the others, which `compare` must not count.
  evaluate("--seeds 1 --output many --force");
  EXPECT_TRUE(folder.exists("many/seed-2/predictions.csv"));
  const auto compared = folder.run("compare many run --json");
  ASSERT_EQ(compared.exit_code, 0) << compared.err;
  EXPECT_EQ(json::parse(compared.out)["methods"][0]["seeds"], 1);
  EXPECT_EQ(folder.run("report run -o page.html").exit_code, 0);
}

TEST_F(Softmax, ResumingRemovesNoOtherResults) {
  evaluate();
  const std::string scores = folder.read("run/scores.json");
  expect_refused("evaluate config.yaml -q --resume --seed 78",
                 {"run", "the configuration has changed since"});
  expect_refused("train config.yaml -o run -q --resume", {"run", "holds an evaluation", "--force"});
  EXPECT_EQ(folder.read("run/scores.json"), scores);
  ASSERT_EQ(folder.run("train config.yaml -o model -q").exit_code, 0);
  const std::string model = folder.read("model/model.json");
  expect_refused("evaluate config.yaml -o model -q --resume", {"model", "holds a trained model", "--force"});
  expect_refused("train config.yaml -o model -q --resume --seed 3", {"the configuration has changed since"});
  EXPECT_EQ(folder.read("model/model.json"), model);
  EXPECT_EQ(folder.run("train config.yaml -o model -q --resume --threads 2").exit_code, 0);
  EXPECT_EQ(folder.run("evaluate config.yaml -q --resume --threads 2").exit_code, 0);
  EXPECT_EQ(folder.run("evaluate config.yaml -o model -q --force").exit_code, 0);
  EXPECT_FALSE(folder.exists("model/model.json"));
}

TEST_F(Softmax, AnOptionThatChoosesMixturesIsNoted) {
  const auto result = folder.run(
      "evaluate config.yaml --output other --backend cpu --set softmax= --set likelihood.components=2 "
      "--set sampler.chains=2 --set sampler.draws=20 --set sampler.warmup=20 --set sampler.thin=1");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find("the classifier is mixtures of Gaussians"), std::string::npos) << result.err;
}

TEST_F(Softmax, StandsAsideForKeysOfMixtures) {
  const json scores = evaluate(
      "--output other --set classifier=mixtures --set softmax= --set likelihood.components=2 "
      "--set sampler.draws=20 --set sampler.warmup=20 --set sampler.thin=1 --set classification.temper=0.1");
  EXPECT_TRUE(scores.contains("em"));
  EXPECT_FALSE(scores.contains("penalised"));
  expect_refused("evaluate config.yaml --set likelihood.components=2 --set classifier=softmax",
                 {"likelihood.components", "classifier: mixtures"});
}

TEST_F(Softmax, CheckSaysWhatAnEvaluationWillDo) {
  const auto result = folder.run("check config.yaml --json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json said = json::parse(result.out);
  EXPECT_EQ(said["functionals"], (json{{"set", "full"}, {"version", 3}, {"columns", 1638}}));
  EXPECT_EQ(said["utterances"], 36);
  EXPECT_EQ(said["folds"], 4);
  EXPECT_EQ(said["chains"], 8);
  EXPECT_NE(folder.run("check config.yaml").out.find("softmax regression on 1638 functionals"),
            std::string::npos);
  EXPECT_FALSE(folder.exists("run"));
}

// The advice names only keys that softmax regression uses.
TEST_F(Softmax, TwoSpeakersAreTooFewToChooseBy) {
  for (const char* emotion : {"sad", "glad", "cross"})
    for (const char* speaker : {"/s3", "/s4"})
      std::filesystem::remove_all(folder / ("corpus/" + std::string(emotion) + speaker));
  expect_refused("evaluate config.yaml -q", {"softmax.temper", "softmax.prior_sds"});
  expect_refused("check config.yaml", {"softmax.temper", "softmax.prior_sds"});
  EXPECT_FALSE(folder.exists("run"));
  EXPECT_EQ(evaluate("--set softmax.temper=1 --set softmax.prior_sds=[3]")["utterances"], 18);
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
    if (rows[i][2] == "cross") continue;  // these recordings are half noise
    // The expected pitch is in semitones above 27.5 Hz, in the middle of the glide of wav_of.
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

TEST_F(Softmax, AManifestIsNotReplaced) {
  const std::string manifest = "path,label,speaker\nglad/s1/take0.wav,glad,s1\n";
  folder.write("corpus/functionals.csv", manifest);
  expect_refused("features --corpus manifest corpus/functionals.csv -o corpus --functionals cepstra --force",
                 {"corpus/functionals.csv", "reads this file"});
  EXPECT_EQ(folder.read("corpus/functionals.csv"), manifest);
  // Tables of frames have the names of classes and speakers.
  folder.write("corpus/glad_s1.csv", manifest);
  expect_refused("features --corpus manifest corpus/glad_s1.csv -o corpus --force",
                 {"the command reads corpus/glad_s1.csv in this directory", "choose another -o"});
  EXPECT_EQ(folder.read("corpus/glad_s1.csv"), manifest);
}

// Two classes of two pairs: NaN stays the worst, whatever comes after it.
TEST(SoftmaxConvergence, KeepsWhatIsUndefined) {
  const double nan = std::nan("");
  StrictShare strict;
  const auto classes = softmax_convergence(
      {{nan, nan, 900}, {1.002, 800, 900}, {1.004, 500, 900}, {1.02, 450, 900}}, 2, strict);
  EXPECT_TRUE(std::isnan(classes[0].worst_rhat));
  EXPECT_TRUE(std::isnan(classes[0].least_ess));
  EXPECT_EQ(classes[0].num_converged, 1u);
  EXPECT_EQ(classes[1].worst_rhat, 1.02);
  EXPECT_EQ(classes[1].least_ess, 450);
  EXPECT_EQ(classes[1].num_converged, 2u);
  EXPECT_TRUE(std::isnan(strict.worst_rhat));
  EXPECT_EQ(strict.within, 2u);
}

TEST_F(Softmax, ALowSampleRateIsRefusedByName) {
  folder.write("corpus/glad/s1/take0.wav", wav_of(1, 1, 0, 8000));
  for (const char* arguments :
       {"evaluate config.yaml", "features --corpus folders corpus -o table --functionals full"})
    expect_refused(arguments, {"take0.wav", "8000", "16000"});
  EXPECT_FALSE(folder.exists("table"));
}

// The data are the six speakers of EMO-DB, with default settings. The bounds are the scores of openSMILE's
// ComParE functionals with softmax regression on the same folds (0.704 and 0.657 by one independent run),
// less 0.02 and plus 0.03.
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
  EXPECT_LE(scores["posterior"]["calibration_slope_interval"][0].get<double>(), 1);
  EXPECT_GE(scores["posterior"]["calibration_slope_interval"][1].get<double>(), 1);
  EXPECT_EQ(scores["convergence"]["converged"], 1);
  EXPECT_GE(scores["convergence"]["within_1.01_and_400"].get<double>(), 0.99);
  EXPECT_LE(scores["convergence"]["worst_rhat"].get<double>(), 1.03);
}

}  // namespace
}  // namespace emomc
