// Tests softmax regression of a corpus of frame tables.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "program.hpp"
#include "softmax_corpus.hpp"

namespace emomc::testing {
namespace {

class SoftmaxFrames : public ::testing::Test {
 protected:
  ProgramFolder folder;
  json outside;  // values computed by NumPy and scikit-learn

  void SetUp() override {
    std::ifstream file(EMOMC_SOURCE_DIR "/tests/libspeech/data/frame_functionals.json");
    outside = json::parse(file);
    std::map<std::string, std::string> tables;
    for (const auto& one : outside["utterances"]) {
      std::string& text = tables["corpus/" + one["emotion"].get<std::string>() + "_" +
                                 one["speaker"].get<std::string>() + ".csv"];
      if (text.empty()) text = "utterance,frame,c0,c1\n";
      int at = 0;
      for (const auto& frame : one["frames"])
        text += one["take"].dump() + "," + std::to_string(at++) + "," + frame[0].dump() + "," +
                frame[1].dump() + "\n";
    }
    for (const auto& [name, text] : tables) folder.write(name, text);
    folder.write("softmax.yaml",
                 "corpus: {path: corpus}\nclassifier: softmax\noutput: {directory: run}\nthreads: 1\n"
                 "softmax: {chains: 2, warmup: 40, draws: 60}\n");
    folder.write("mixtures.yaml",
                 "corpus: {path: corpus}\nlikelihood: {components: 1}\nthreads: 1\n"
                 "sampler: {chains: 2, warmup: 20, draws: 20, thin: 1}\n");
  }
};

TEST_F(SoftmaxFrames, PenalisedFitIsThatOfScikitLearn) {
  const auto result = folder.run("evaluate softmax.yaml -q --json --set softmax.prior_sds=[" +
                                 outside["prior_sd"].dump() + "] --set softmax.temper=1");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json scores = json::parse(result.out);
  EXPECT_EQ(scores["functionals"], (json{{"set", "frames"}, {"version", 1}, {"columns", 20}}));
  std::map<std::string, std::vector<double>> wanted;
  for (const auto& one : outside["utterances"])
    wanted[one["emotion"].get<std::string>() + "_" + one["speaker"].get<std::string>() + "_" +
           one["take"].dump()] = one["probability"].get<std::vector<double>>();
  const auto rows = csv(folder.read("run/predictions_penalised.csv"));
  ASSERT_EQ(rows.size(), wanted.size() + 1);
  for (std::size_t i = 1; i < rows.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_NEAR(std::stod(rows[i][4 + k]), wanted.at(rows[i][0])[k], 2e-5) << rows[i][0];
}

TEST_F(SoftmaxFrames, StandBesideMixturesOnTheSameFolds) {
  const auto result = folder.run("evaluate softmax.yaml -q --json --output both --compare mixtures.yaml");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json comparison = json::parse(result.out);
  std::vector<std::string> methods;
  for (const auto& one : comparison["methods"]) methods.push_back(one["method"]);
  EXPECT_EQ(methods, (std::vector<std::string>{"posterior", "penalised fit", "posterior", "EM"}));
  EXPECT_EQ(comparison["folds"], 4);
}

// Returns the probabilities in a file of predictions, by utterance.
std::map<std::string, std::vector<double>> probabilities_in(const std::string& text) {
  std::map<std::string, std::vector<double>> rows;
  for (const auto& row : csv(text)) {
    if (row[0] == "utterance") continue;
    for (std::size_t k = 4; k < row.size(); ++k) rows[row[0]].push_back(std::stod(row[k]));
  }
  return rows;
}

TEST_F(SoftmaxFrames, FusedClassifierIsTheProductOfBoth) {
  const auto result = folder.run(
      "evaluate mixtures.yaml --set classifier=fused --set softmax.draws=60 --set softmax.warmup=40 -q "
      "--json --output run");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json scores = json::parse(result.out);
  const auto fused = probabilities_in(folder.read("run/predictions.csv")),
             mixtures = probabilities_in(folder.read("run/predictions_mixtures.csv")),
             softmax = probabilities_in(folder.read("run/predictions_softmax.csv"));
  for (const char* other : {"em", "penalised"})
    EXPECT_EQ(probabilities_in(folder.read("run/predictions_" + std::string(other) + ".csv")).size(),
              fused.size());
  ASSERT_EQ(fused.size(), outside["utterances"].size());
  const json& folds = scores["test_speakers_of_fold"];
  for (std::size_t f = 0; f < folds.size(); ++f) {
    const double a = scores["fusion_weights_of_fold"][f]["mixtures"],
                 b = scores["fusion_weights_of_fold"][f]["softmax"];
    // Weights of 1 and 0 were among the candidates, so that neither classifier alone can be better.
    const double inner = scores["posterior"]["inner_log_loss_of_fold"][f];
    for (const char* one : {"mixtures", "softmax"})
      EXPECT_LE(inner, scores[one]["inner_log_loss_of_fold"][f].get<double>() + 1e-6);
    for (const auto& [utterance, p] : fused) {
      if (utterance.find("_" + folds[f][0].get<std::string>() + "_") == std::string::npos) continue;
      double sum = 0;
      std::vector<double> product;
      for (std::size_t k = 0; k < 3; ++k) {
        product.push_back(std::pow(mixtures.at(utterance)[k], a) * std::pow(softmax.at(utterance)[k], b));
        sum += product[k];
      }
      for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(p[k], product[k] / sum, 1e-9) << utterance;
    }
  }
  // Another evaluation into the same directory replaces the files, and removes those that it does not write.
  const auto mixtures_alone = folder.run("evaluate mixtures.yaml -q --output run --force");
  EXPECT_EQ(mixtures_alone.exit_code, 0) << mixtures_alone.err;
  EXPECT_FALSE(folder.exists("run/predictions_softmax.csv"));
}

TEST_F(SoftmaxFrames, FusedClassifierIsReportedAndCompared) {
  const auto result = folder.run(
      "evaluate mixtures.yaml --set classifier=fused --set softmax.draws=60 --set softmax.warmup=40 "
      "--output run");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  for (const char* word : {"mixtures", "EM", "softmax", "penalised", "posterior minus mixtures"})
    EXPECT_NE(result.out.find(word), std::string::npos) << result.out;
  for (const char* word : {"scoring under the posteriors: ", "EM: ", "scores and EM about"})
    EXPECT_NE(folder.read("run/run.log").find(word), std::string::npos) << word;
  const auto text = folder.run("report run");
  EXPECT_EQ(text.exit_code, 0) << text.err;
  const auto compared = folder.run("compare run --json");
  ASSERT_EQ(compared.exit_code, 0) << compared.err;
  EXPECT_EQ(json::parse(compared.out)["methods"].size(), 5u);
}

TEST_F(SoftmaxFrames, FusedIsTheDefaultOfTablesWithoutKeysOfMixtures) {
  folder.write("plain.yaml", "corpus: {path: corpus}\n");
  EXPECT_NE(folder.run("check plain.yaml").out.find("classifier: fused"), std::string::npos);
  EXPECT_NE(folder.run("check mixtures.yaml").out.find("classifier: mixtures"), std::string::npos);
  const auto train = folder.run("train plain.yaml -o model");
  EXPECT_EQ(train.exit_code, 2);
  EXPECT_NE(train.err.find("classifier: fused"), std::string::npos) << train.err;
  const auto given = folder.run("evaluate plain.yaml --set softmax.temper=1");
  EXPECT_EQ(given.exit_code, 2);
  EXPECT_NE(given.err.find("a fused classifier learns it"), std::string::npos) << given.err;
}

// A product has converged only if its mixtures and its softmax regression have.
TEST_F(SoftmaxFrames, AProductHasConvergedIfBothHave) {
  const std::string chains =
      " --set classifier=fused --set sampler.draws=300 --set sampler.warmup=100 --set softmax.chains=2 "
      "--set softmax.draws=10 --set softmax.warmup=10 --set output.directory=";
  const auto result = folder.run("evaluate mixtures.yaml" + chains + "product");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json scores = json::parse(folder.read("product/scores.json"));
  ASSERT_LT(scores["convergence_of_softmax"]["converged"], 0.95);
  EXPECT_NE(result.err.find("warning"), std::string::npos) << result.err;
  EXPECT_NE(result.out.find("converged, softmax regression: "), std::string::npos) << result.out;
  ASSERT_EQ(folder.run("evaluate mixtures.yaml -q" + chains + "other").exit_code, 0);
  const auto compared = folder.run("compare product other");
  EXPECT_NE(compared.out.find("its scores should not be counted"), std::string::npos) << compared.out;
}

TEST_F(SoftmaxFrames, CheckCountsTheFunctionals) {
  const auto result = folder.run("check softmax.yaml");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("20 functionals (set frames, version 1)"), std::string::npos) << result.out;
}

TEST_F(SoftmaxFrames, RefusesWhatTablesDoNotHave) {
  const auto expect_refused = [&](const std::string& arguments, const std::vector<std::string>& words) {
    const auto result = folder.run(arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments;
    for (const auto& word : words) EXPECT_NE(result.err.find(word), std::string::npos) << result.err;
  };
  expect_refused(
      "evaluate softmax.yaml --set features.set=cepstra",
      {"features.set",
       "only regressions on functionals that emomc computes (without features.table) use this key"});
  expect_refused("evaluate softmax.yaml --set features.table=x.csv",
                 {"features.table", "only softmax regressions on recordings use this key"});
  expect_refused("train softmax.yaml -o model", {"corpus.kind: tables", "train it on recordings"});
  EXPECT_FALSE(folder.exists("model"));
  EXPECT_FALSE(folder.exists("run"));
}

}  // namespace
}  // namespace emomc::testing
