// Tests folds from a file, scores by a column, and several corpora in one manifest.
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "softmax_corpus.hpp"

namespace emomc {
namespace {

using nlohmann::json;
using testing::csv;

class FileFolds : public testing::Softmax {
 protected:
  void SetUp() override {
    testing::Softmax::SetUp();
    if (IsSkipped()) return;
    folder.write("speakers.csv",
                 "speaker,fold,gender,part\ns1,x,f,train\ns2,y,m,dev\ns3,x,m,test\ns4,y,,test\n");
  }
  // Returns a table of recordings with the fold `fold_of` of each. Its order differs from that of the corpus.
  static std::string recordings(const std::map<std::string, std::string>& fold_of) {
    std::string text = "fold;file\n";
    for (const int take : {2, 0, 1})
      for (const char* emotion : {"sad", "glad", "cross"})
        for (const auto& [speaker, fold] : fold_of)
          text += fold + ";wav/" + emotion + "/" + speaker + "/take" + std::to_string(take) + ".wav\n";
    return text;
  }
};

using Names = std::vector<std::vector<std::string>>;

TEST_F(FileFolds, AreTheSameHoweverTheyAreGiven) {
  const json groups = evaluate("--output k --set 'folds={k_fold_by_speaker: 2}'");
  EXPECT_FALSE(groups.contains("fold_names"));
  folder.write("recordings.csv", recordings({{"s1", "x"}, {"s2", "y"}, {"s3", "x"}, {"s4", "y"}}));
  // Names of recordings in the file begin with a folder that the names in the corpus do not have.
  for (const std::string file : {"speakers.csv", "recordings.csv"}) {
    const json scores = evaluate("--force --set 'folds={file: " + file + "}'");
    EXPECT_EQ(scores["test_speakers_of_fold"], (json(Names{{"s1", "s3"}, {"s2", "s4"}}))) << file;
    EXPECT_EQ(scores["fold_names"], (std::vector<std::string>{"x", "y"}));
    EXPECT_EQ(scores["posterior"], groups["posterior"]);
    EXPECT_EQ(folder.read("run/predictions.csv"), folder.read("k/predictions.csv")) << file;
    EXPECT_NE(folder.read("run/run.log")
                  .find("folds: by fold of " + file + ": x tests 18 utterances of 2 speakers; y tests 18"),
              std::string::npos)
        << folder.read("run/run.log");
  }
  const auto checked = folder.run("check config.yaml --set 'folds={file: speakers.csv}'");
  EXPECT_EQ(checked.exit_code, 0) << checked.err;
  EXPECT_NE(checked.out.find("x tests 18 utterances of 2 speakers"), std::string::npos) << checked.out;
  folder.write("others.csv", "recording,fold\nelsewhere/take9.wav,x\n");
  expect_refused("evaluate config.yaml --force --set 'folds={file: others.csv}'",
                 {"folds.file", "others.csv", "has no row", "36 of 36", "elsewhere/take9.wav"});
}

TEST_F(FileFolds, TestGivenValuesTogether) {
  const json given = evaluate("--output given --set 'folds={test_speakers: [s3, s4]}'");
  const json scores = evaluate("--set 'folds={file: speakers.csv, column: part, test: [test]}'");
  EXPECT_EQ(scores["test_speakers_of_fold"], (json(Names{{"s3", "s4"}})));
  EXPECT_EQ(scores["fold_names"], (std::vector<std::string>{"test"}));
  EXPECT_EQ(folder.read("run/predictions.csv"), folder.read("given/predictions.csv"));
  EXPECT_NE(
      folder.read("run/run.log").find("test tests 18 utterances of 2 speakers; 2 speakers only trained on"),
      std::string::npos);
  EXPECT_NE(folder.read("run/config.yaml").find("folds: {file: speakers.csv, column: part, test: [test]}"),
            std::string::npos);
}

TEST_F(FileFolds, ThatDoNotFitAreRefusedBeforeAnythingIsWritten) {
  const auto refused = [&](const std::string& table, const std::string& folds,
                           const std::vector<std::string>& words) {
    folder.write("t.csv", table);
    expect_refused("evaluate config.yaml -q --set 'folds={file: t.csv" + folds + "}'", words);
    EXPECT_FALSE(folder.exists("run"));
  };
  const std::string three = "speaker,fold\ns1,a\ns2,a\ns3,b\n";
  refused(three, "", {"folds.file", "speaker 's4' has no row", "9 of 36"});
  refused(three + "s4,\n", "", {"folds.file", "the fold of", "s4", "missing"});
  refused(three + "s4,b\n", ", test: [c]", {"folds.test", "no recording has fold c", "found: a, b"});
  refused(three + "s4,b\n", ", test: [a, b]", {"folds.test", "nothing is left to train on"});
  refused("speaker,fold\ns1,a\ns2,a\ns3,a\ns4,a\n", "", {"folds.file", "all recordings are in fold a"});
  refused(three + "s4,b\n", ", column: part", {"t.csv:1", "no column 'part'"});
  std::string moved = recordings({{"s1", "a"}, {"s2", "a"}, {"s3", "b"}, {"s4", "b"}});
  moved.replace(moved.find("a;wav/glad/s2/take1"), 1, "b");
  refused(moved, "", {"folds.file", "speaker s2 is in fold", "glad/s2/take1", "must be in one fold"});
  expect_refused("evaluate config.yaml --set 'folds={file: nowhere.csv}'", {"nowhere.csv", "no such file"});
  expect_refused("check config.yaml --set 'folds={file: t.csv}'", {"speaker s2 is in fold"});
}

// The expected scores are computed from the predictions that the program writes.
TEST_F(FileFolds, ScoresAreGivenByAColumn) {
  const json scores = evaluate("--by gender,part --set by.file=speakers.csv");
  const json& by = scores["posterior"]["by"];
  ASSERT_EQ(by.size(), 2u);
  EXPECT_EQ(by[0]["column"], "gender");
  EXPECT_EQ(by[1]["column"], "part");
  ASSERT_EQ(by[0]["values"].size(), 3u);  // the values are "" of s4, f and m
  const std::map<std::string, std::vector<std::string>> speakers{
      {"", {"s4"}}, {"f", {"s1"}}, {"m", {"s2", "s3"}}};
  const auto rows = csv(folder.read("run/predictions.csv"));
  for (const json& group : by[0]["values"]) {
    const auto& own = speakers.at(group["value"].get<std::string>());
    std::map<std::string, std::pair<double, double>> right;  // right, all predictions
    double loss = 0, all = 0;
    for (std::size_t i = 1; i < rows.size(); ++i) {
      if (std::find(own.begin(), own.end(), rows[i][1]) == own.end()) continue;
      const auto truth = std::find(rows[0].begin(), rows[0].end(), "p_" + rows[i][2]) - rows[0].begin();
      loss -= std::log(std::stod(rows[i][static_cast<std::size_t>(truth)]));
      right[rows[i][2]].first += rows[i][2] == rows[i][3] ? 1 : 0;
      right[rows[i][2]].second += 1;
      all += 1;
    }
    double uar = 0;
    for (const auto& [name, counts] : right) uar += counts.first / counts.second / 3;
    EXPECT_EQ(group["utterances"], 9 * own.size());
    EXPECT_EQ(group["speakers"], own.size());
    EXPECT_NEAR(group["uar"].get<double>(), uar, 1e-12);
    EXPECT_NEAR(group["log_loss"].get<double>(), loss / all, 1e-9);
    // There is no interval from one speaker, nor from speakers that are all right.
    EXPECT_EQ(group["uar_interval"][0].is_null(), own.size() == 1 || uar == 1);
  }
  EXPECT_TRUE(scores["penalised"].contains("by"));
  const auto text = folder.run("evaluate config.yaml --force -q --by gender --set by.file=speakers.csv");
  EXPECT_EQ(text.exit_code, 0) << text.err;
  // Columns are separated by commas or blanks, or given by several --by; without --quiet a text is printed.
  for (const char* columns : {"--by gender --by part config.yaml", "config.yaml --by gender part",
                              "--by gender part config.yaml"}) {
    const auto shown = folder.run("evaluate --force --set by.file=speakers.csv " + std::string(columns));
    ASSERT_EQ(shown.exit_code, 0) << columns << ": " << shown.err;
    for (const char* words : {"by gender", "(empty)", "by part", "macro-F1"})
      EXPECT_NE(shown.out.find(words), std::string::npos) << words << "\n" << shown.out;
    EXPECT_NE(folder.read("run/config.yaml").find("columns: [gender, part]"), std::string::npos) << columns;
  }
  // The name of a missing configuration is not taken for that of a column.
  expect_refused("evaluate --by gender nowhere.yaml", {"nowhere.yaml"});
  const auto report = folder.run("report run -o page.html");
  EXPECT_EQ(report.exit_code, 0) << report.err;
  EXPECT_NE(folder.read("page.html").find(R"("column":"gender")"), std::string::npos);
  const json seeds = evaluate("--seeds 2 --output many --by gender --set by.file=speakers.csv");
  double mean = 0;
  for (const char* seed : {"1", "2"})
    mean += json::parse(folder.read("many/seed-" + std::string(seed) +
                                    "/scores.json"))["posterior"]["by"][0]["values"][2]["log_loss"]
                .get<double>() /
            2;
  EXPECT_NEAR(seeds["posterior"]["by"][0]["values"][2]["log_loss"].get<double>(), mean, 1e-12);
  for (const auto& [more, words] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"--by sex --set by.file=speakers.csv", {"speakers.csv:1", "no column 'sex'", "gender"}},
           {"--by gender", {"by.columns", "by.file"}},
           {"--set by.file=speakers.csv", {"by.file", "by.columns"}}})
    expect_refused("evaluate config.yaml --force " + more, words);
}

// The corpora have different words for the labels, different sample rates and different speakers.
class SeveralCorpora : public testing::Softmax {
 protected:
  void SetUp() override {
    testing::Softmax::SetUp();
    if (IsSkipped()) return;
    std::string own = "path,label,speaker,corpus,language\n", common = own;
    const std::map<std::string, std::string> words{{"sad", "unhappy"}, {"glad", "joy"}, {"cross", "cross"}};
    int number = 0;
    for (const char* emotion : {"sad", "glad", "cross"}) {
      for (const int speaker : {1, 2, 3, 4})
        for (const int take : {0, 1, 2}) {
          std::string file =
              std::string(emotion) + "/s" + std::to_string(speaker) + "/take" + std::to_string(take) + ".wav";
          std::string corpus = speaker > 2 ? "two" : "one";
          std::string name = corpus + std::to_string(speaker);
          if (speaker > 2) {
            file = "b" + file;
            folder.write("corpus/" + file, testing::wav_of(number, speaker, take, 22050));
          }
          const std::string rest = "," + name + "," + corpus + (speaker > 2 ? ",en\n" : ",de\n");
          common += "corpus/" + file + "," + emotion + rest;
          own += "corpus/" + file + "," + (speaker > 2 ? words.at(emotion) : emotion) + rest;
        }
      ++number;
    }
    folder.write("own.csv", own);
    folder.write("common.csv", common);
    folder.write("own.yaml",
                 "corpus: {kind: manifest, path: own.csv, labels: {unhappy: sad, joy: glad}}\n"
                 "folds: {file: own.csv, column: corpus, test: [two]}\nby: {columns: [language]}\n"
                 "softmax: {chains: 2, warmup: 40, draws: 80}\noutput: {directory: run}\nthreads: 1\n");
  }
};

TEST_F(SeveralCorpora, TrainOnSomeAndTestOthers) {
  const auto result = folder.run("evaluate own.yaml --json -q");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json scores = json::parse(result.out);
  EXPECT_EQ(scores["classes"], (std::vector<std::string>{"cross", "glad", "sad"}));
  EXPECT_EQ(scores["test_speakers_of_fold"], (json(Names{{"two3", "two4"}})));
  EXPECT_EQ(scores["fold_names"], json({"two"}));
  const json& by = scores["posterior"]["by"][0]["values"];
  ASSERT_EQ(by.size(), 1u);  // recordings in the other language are used for training only
  EXPECT_EQ(by[0]["value"], "en");
  EXPECT_EQ(by[0]["utterances"], 18);
  EXPECT_EQ(by[0]["uar"], scores["posterior"]["uar"]);
  EXPECT_GT(scores["posterior"]["uar"].get<double>(), 0.7);  // chance is 1/3
  // The labels' map has the same result as a manifest with the common words.
  const auto common = folder.run(
      "evaluate own.yaml --set corpus.path=common.csv --set corpus.labels={} --set 'folds={test_speakers: "
      "[two3, "
      "two4]}' --output common --json -q");
  ASSERT_EQ(common.exit_code, 0) << common.err;
  EXPECT_EQ(folder.read("run/predictions.csv"), folder.read("common/predictions.csv"));
  // Each corpus is left out in turn.
  const auto each =
      folder.run("evaluate own.yaml --set 'folds={file: own.csv, column: corpus}' --force --json -q");
  ASSERT_EQ(each.exit_code, 0) << each.err;
  EXPECT_EQ(json::parse(each.out)["fold_names"], json({"one", "two"}));
}

TEST_F(SeveralCorpora, RefusesLabelsThatAreNotThereAndClassesThatTrainingLacks) {
  expect_refused("evaluate own.yaml --set 'corpus.labels={joyful: glad}'",
                 {"corpus.labels", "no recording is joyful", "cross, glad, joy, sad, unhappy"});
  expect_refused("evaluate own.yaml --set corpus.labels={}", {"folds", "class unhappy", "corpus.classes"});
  EXPECT_FALSE(folder.exists("run"));
}

}  // namespace
}  // namespace emomc
