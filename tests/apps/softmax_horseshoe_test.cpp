// Tests `evaluate`, `train` and `classify` with the horseshoe in place of the ridge, on synthetic recordings.
#include <nlohmann/json.hpp>
#include <numeric>

#include "shared_data.hpp"
#include "softmax_corpus.hpp"

namespace emomc {
namespace {

using nlohmann::json;

class SoftmaxHorseshoe : public testing::Softmax {
 protected:
  void SetUp() override {
    testing::Softmax::SetUp();
    if (IsSkipped()) return;
    folder.write("horseshoe.yaml",
                 "corpus: {kind: folders, path: corpus}\noutput: {directory: run}\nthreads: 1\n"
                 "softmax: {prior: horseshoe, chains: 2, warmup: 80, draws: 60}\n");
  }
  // Writes a table with a row of numbers for each recording of the corpus, in another program's format.
  void write_table(int columns) {
    std::string text = "file";
    for (int j = 0; j < columns; ++j) text += ",x" + std::to_string(j);
    text += "\n";
    int number = 0;
    for (const char* emotion : {"sad", "glad", "cross"})
      for (int speaker : {1, 2, 3, 4})
        for (int take : {0, 1, 2}) {
          text +=
              std::string(emotion) + "/s" + std::to_string(speaker) + "/take" + std::to_string(take) + ".wav";
          for (int j = 0; j < columns; ++j) text += "," + std::to_string((++number * 7919) % 1009);
          text += "\n";
        }
    folder.write("table.csv", text);
  }
};

TEST_F(SoftmaxHorseshoe, IsEvaluatedBesideTheRidge) {
  folder.write("ridge.yaml",
               "corpus: {kind: folders, path: corpus}\nthreads: 1\nfeatures: {set: compact}\n"
               "softmax: {chains: 2, warmup: 40, draws: 60}\n");
  const auto result = folder.run("evaluate horseshoe.yaml -q --json --output both --compare ridge.yaml");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json comparison = json::parse(result.out);
  ASSERT_EQ(comparison["methods"].size(), 4u);
  EXPECT_LT(comparison["methods"][0]["log_loss"].get<double>(), 1.0);  // chance is 1.099
  const json scores = json::parse(folder.read("both/horseshoe/scores.json")),
             ridge = json::parse(folder.read("both/ridge/scores.json"));
  EXPECT_EQ(scores["prior"], "horseshoe");
  EXPECT_EQ(scores["relevant_share"], 0.1);
  EXPECT_EQ(scores["slab_scale"], 0.5);
  EXPECT_EQ(scores["temperature"], 1);
  EXPECT_EQ(scores["functionals"], (json{{"set", "compact"}, {"version", 3}, {"columns", 190}}));
  EXPECT_EQ(ridge["prior"], "ridge");
  EXPECT_FALSE(ridge.contains("slab_scale"));
  EXPECT_NE(scores["posterior"]["log_loss"], ridge["posterior"]["log_loss"]);
  // The penalised fit is the ridge's on the same columns.
  EXPECT_NEAR(scores["penalised"]["log_loss"].get<double>(), ridge["penalised"]["log_loss"].get<double>(),
              1e-3);
  EXPECT_NE(folder.read("both/horseshoe/run.log").find("prior horseshoe"), std::string::npos);
  EXPECT_NE(folder.read("both/horseshoe/config.yaml").find("prior: horseshoe"), std::string::npos);
  const auto report = folder.run("report both/horseshoe -o page.html");
  EXPECT_EQ(report.exit_code, 0) << report.err;
  EXPECT_NE(folder.read("page.html").find("Prior of the softmax regression: horseshoe"), std::string::npos);
}

TEST_F(SoftmaxHorseshoe, TrainsAModelThatClassifies) {
  const auto trained = folder.run("train horseshoe.yaml -o model");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_NE(trained.out.find("prior horseshoe"), std::string::npos) << trained.out;
  json model = json::parse(folder.read("model/model.json"));
  EXPECT_EQ(model["prior"], "horseshoe");
  EXPECT_EQ(model["relevant_share"], 0.1);
  EXPECT_EQ(model["rank"], 190);
  EXPECT_FALSE(model.contains("prior_sd"));
  std::string files;
  for (int take : {0, 1, 2, 3})
    for (int emotion : {0, 1, 2}) {
      const std::string file = "new/" + std::to_string(emotion) + std::to_string(take) + ".wav";
      folder.write(file, testing::wav_of(emotion, 6, take));
      files += " " + file;
    }
  const auto result = folder.run("classify model -q" + files);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  std::istringstream text(result.out);
  int right = 0, count = 0;
  for (std::string line; std::getline(text, line); ++count) {
    const json one = json::parse(line);
    const char* emotions[] = {"sad", "glad", "cross"};
    right += one["predicted"] == emotions[count % 3];
    double sum = 0;
    for (const auto& [name, p] : one["probabilities"].items()) sum += p.get<double>();
    EXPECT_NEAR(sum, 1, 1e-9);
  }
  EXPECT_EQ(count, 12);
  EXPECT_GE(right, 9);  // chance is 4
  for (const auto& [key, value] : {std::pair<std::string, json>{"prior", "lasso"}, {"slab_scale", 0}}) {
    json other = model;
    other[key] = value;
    folder.write("model/model.json", other.dump());
    expect_refused("classify model -q new/00.wav", {"model.json", key});
  }
}

// The evaluation is refused before any file is written, and the message has the number of columns that were
// found.
TEST_F(SoftmaxHorseshoe, TakesTwoHundredColumns) {
  write_table(201);
  for (const std::string command :
       {"evaluate horseshoe.yaml", "check horseshoe.yaml", "train horseshoe.yaml -o model"}) {
    expect_refused(command + " --set features.table=table.csv",
                   {"softmax.prior", "table.csv has 201", "at most 200"});
    expect_refused(command + " --set features.set=full", {"features.set", "full has 1638", "at most 200"});
  }
  EXPECT_FALSE(folder.exists("run"));
  EXPECT_FALSE(folder.exists("model"));
  write_table(200);
  const auto result = folder.run("check horseshoe.yaml --set features.table=table.csv");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("200 columns of table.csv, prior horseshoe"), std::string::npos) << result.out;
}

// On the six speakers of EMO-DB with default settings, all log probabilities converge as those of the ridge
// do. The horseshoe tells emotions apart, but not as well as the ridge on all functionals.
TEST(SoftmaxHorseshoeLong, ConvergesOnEmoDb) {
  const auto data = testing::shared_data("emodb");
  if (!data) GTEST_SKIP() << "no shared data: set EMOMC_SHARED_DATA";
  if (!has_audio()) GTEST_SKIP() << "a build without libsndfile";
  testing::ProgramFolder folder;
  folder.write("config.yaml", "corpus: {kind: emodb, path: '" + data->string() +
                                  "'}\nsoftmax: {prior: horseshoe}\noutput: {directory: run}\n");
  const auto result = folder.run("evaluate config.yaml --json -q");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json scores = json::parse(result.out);
  EXPECT_EQ(scores["convergence"]["converged"], 1);
  EXPECT_GE(scores["convergence"]["within_1.01_and_400"].get<double>(), 0.99);
  EXPECT_GE(scores["posterior"]["uar"].get<double>(), 0.5);       // chance is 0.143
  EXPECT_LE(scores["posterior"]["log_loss"].get<double>(), 1.2);  // chance is 1.946
}

}  // namespace
}  // namespace emomc
