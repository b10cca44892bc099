// Tests regressions of numbers by `emomc evaluate`, `train`, `classify`, `report` and `compare`, on synthetic
// recordings.
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "browser.hpp"
#include "evaluation_report.hpp"
#include "score_text.hpp"
#include "softmax_corpus.hpp"

namespace emomc {
namespace {

using nlohmann::json;

// A quiet, falling voice has a low arousal, and a loud one a high arousal; valence is high if the voice
// rises. Takes and speakers differ in ways that no functional measures.
class Regression : public testing::Softmax {
 protected:
  void SetUp() override {
    testing::Softmax::SetUp();
    if (IsSkipped()) return;
    folder.write("labels.csv", labels());
    folder.write("config.yaml",
                 "corpus: {kind: folders, path: corpus, dimensions: [arousal, valence], dimensions_file: "
                 "labels.csv}\nfeatures: {set: prosody}\noutput: {directory: run}\nthreads: 1\n");
  }
  // Returns the labels. The speaker `changed` has other numbers.
  static std::string labels(int changed = 0) {
    std::string text = "utterance,arousal,valence,note\n";
    const char* emotions[] = {"sad", "glad", "cross"};
    for (int speaker : {1, 2, 3, 4})
      for (int take : {0, 1, 2})
        for (int emotion : {0, 1, 2}) {
          const double noise = 0.1 * ((speaker * 7 + take * 5 + emotion * 3) % 4);
          const double arousal = 1 + 1.5 * emotion + noise, valence = (emotion == 1 ? 4 : 1.5) - noise;
          text += std::string(emotions[emotion]) + "/s" + std::to_string(speaker) + "/take" +
                  std::to_string(take) + ".wav," +
                  std::to_string(speaker == changed ? 9 - arousal : arousal) + "," +
                  std::to_string(speaker == changed ? take : valence) + ",x\n";
        }
    return text;
  }
  std::vector<json> lines(const std::string& arguments, int exit_code = 0) {
    const auto result = folder.run("classify model -q " + arguments);
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    std::vector<json> all;
    std::istringstream text(result.out);
    for (std::string line; std::getline(text, line);) all.push_back(json::parse(line));
    return all;
  }
};

TEST_F(Regression, IsEvaluatedSpeakerBySpeaker) {
  const json scores = evaluate();
  EXPECT_EQ(scores["dimensions"], (json{"arousal", "valence"}));
  EXPECT_EQ(scores["utterances"], 36);
  EXPECT_EQ(scores["test_speakers_of_fold"], (json{{"s1"}, {"s2"}, {"s3"}, {"s4"}}));
  EXPECT_FALSE(scores.contains("classes"));
  for (const char* name : {"arousal", "valence"}) {
    const json& one = scores["regression"][name];
    EXPECT_GT(one["ccc"], 0.8) << name;
    EXPECT_LT(one["ccc_interval"][0], one["ccc"]);
    EXPECT_EQ(one["ccc_by_speaker"].size(), 4u);
    EXPECT_EQ(one["prior_sd_of_fold"].size(), 4u);
    EXPECT_EQ(one["coverage_levels"].size(), one["coverage_of_level"].size());
    EXPECT_EQ(one["coverage_of_level"][8], one["coverage_90"]);
    EXPECT_GT(one["log_density"], -1.2);
  }
  ASSERT_EQ(scores["known_of_speaker"].size(), 4u);
  EXPECT_EQ(scores["known_of_speaker"][0]["dimensions"]["arousal"]["ccc"],
            scores["regression"]["arousal"]["ccc"]);
  EXPECT_TRUE(scores["known_of_speaker"][3]["dimensions"]["valence"].contains("ccc_less_own"));
  const auto rows = testing::csv(folder.read("run/predictions.csv"));
  ASSERT_EQ(rows.size(), 37u);
  EXPECT_EQ(rows[0], (std::vector<std::string>{"utterance", "speaker", "arousal", "arousal_mean",
                                               "arousal_sd", "arousal_low", "arousal_high",
                                               "arousal_log_density", "valence", "valence_mean", "valence_sd",
                                               "valence_low", "valence_high", "valence_log_density"}));
  double squares = 0;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const double truth = std::stod(rows[i][2]), mean = std::stod(rows[i][3]);
    squares += (truth - mean) * (truth - mean) / 36;
    EXPECT_LT(std::stod(rows[i][5]), mean);
    EXPECT_NEAR(std::stod(rows[i][5]) + std::stod(rows[i][6]), 2 * mean, 1e-9);
  }
  EXPECT_NEAR(std::sqrt(squares), scores["regression"]["arousal"]["rmse"], 1e-12);
  // The written configuration can be used for another evaluation.
  EXPECT_EQ(folder.run("evaluate run/config.yaml -q --output again").exit_code, 0);
  EXPECT_EQ(folder.read("again/predictions.csv"), folder.read("run/predictions.csv"));
  const auto text = folder.run("evaluate config.yaml -q --force");
  EXPECT_EQ(text.exit_code, 0);
  const auto shown = folder.run("evaluate config.yaml --resume");
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  for (const char* word : {"CCC", "90 % cover", "arousal, known of the speaker", "five others"})
    EXPECT_NE(shown.out.find(word), std::string::npos) << word << "\n" << shown.out;
}

TEST_F(Regression, NumbersOfATestSpeakerChangeNoPredictionOfTheirs) {
  evaluate("--output one");
  folder.write("labels.csv", labels(2));
  evaluate("--output two");
  const auto one = testing::csv(folder.read("one/predictions.csv")),
             two = testing::csv(folder.read("two/predictions.csv"));
  ASSERT_EQ(one.size(), two.size());
  bool others_differ = false;
  for (std::size_t i = 1; i < one.size(); ++i)
    for (std::size_t j : {3u, 4u, 5u, 6u, 9u, 10u, 11u, 12u}) {
      if (one[i][1] == "s2") {
        EXPECT_EQ(one[i][j], two[i][j]) << one[i][0];
      }
      others_differ = others_differ || one[i][j] != two[i][j];
    }
  EXPECT_TRUE(others_differ);
}

TEST_F(Regression, TakesAManifestWithoutLabelsAndFoldsFromAFile) {
  std::string manifest = "path;speaker;arousal;valence;part\n";
  const auto rows = testing::csv(labels());
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const std::string speaker = rows[i][0].substr(rows[i][0].find("/s") + 1, 2);
    manifest += "corpus/" + rows[i][0] + ";" + speaker + ";" + rows[i][1] + ";" + rows[i][2] + ";" +
                (speaker < "s3" ? "a" : "b") + "\n";
  }
  folder.write("corpus.csv", manifest);
  folder.write("config.yaml",
               "corpus: {kind: manifest, path: corpus.csv, dimensions: [arousal]}\nfeatures: {set: prosody}\n"
               "folds: {file: corpus.csv, column: part}\nthreads: 1\noutput: {directory: run}\n");
  const json scores = evaluate();
  EXPECT_EQ(scores["fold_names"], (json{"a", "b"}));
  EXPECT_EQ(scores["test_speakers_of_fold"], json::parse(R"([["s1", "s2"], ["s3", "s4"]])"));
  EXPECT_GT(scores["regression"]["arousal"]["ccc"], 0.7);
}

// The scores of each group are computed anew from the predictions.
TEST_F(Regression, IsScoredByAColumn) {
  folder.write("speakers.csv", "speaker,gender\ns1,f\ns2,m\ns3,f\ns4,\n");
  const json plain = evaluate("--output plain");
  const json scores = evaluate("--by gender --set by.file=speakers.csv");
  EXPECT_FALSE(plain.contains("by"));
  EXPECT_EQ(folder.read("run/predictions.csv"), folder.read("plain/predictions.csv"));
  ASSERT_EQ(scores["by"].size(), 1u);
  EXPECT_EQ(scores["by"][0]["column"], "gender");
  const json& groups = scores["by"][0]["values"];
  ASSERT_EQ(groups.size(), 3u);
  const auto rows = testing::csv(folder.read("run/predictions.csv"));
  const std::vector<std::pair<std::string, std::set<std::string>>> expected{
      {"", {"s4"}}, {"f", {"s1", "s3"}}, {"m", {"s2"}}};
  for (std::size_t g = 0; g < 3; ++g) {
    const auto& [value, speakers] = expected[g];
    SCOPED_TRACE(value);
    EXPECT_EQ(groups[g]["value"], value);
    EXPECT_EQ(groups[g]["utterances"], 9 * speakers.size());
    EXPECT_EQ(groups[g]["speakers"], speakers.size());
    for (const auto& [name, first] : {std::pair{"arousal", 2}, {"valence", 8}}) {
      double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0, squares = 0;
      for (std::size_t i = 1; i < rows.size(); ++i) {
        if (!speakers.contains(rows[i][1])) continue;
        const double truth = std::stod(rows[i][static_cast<std::size_t>(first)]),
                     mean = std::stod(rows[i][static_cast<std::size_t>(first + 1)]);
        n += 1, x += truth, y += mean, xx += truth * truth, yy += mean * mean, xy += truth * mean;
        squares += (truth - mean) * (truth - mean);
      }
      const double ccc = 2 * (xy - x * y / n) / (xx - x * x / n + yy - y * y / n + (x - y) * (x - y) / n);
      const json& one = groups[g]["dimensions"][name];
      EXPECT_NEAR(one["ccc"], ccc, 1e-9) << name;
      EXPECT_NEAR(one["rmse"], std::sqrt(squares / n), 1e-9) << name;
      EXPECT_EQ(one["ccc_interval"][0].is_null(), speakers.size() == 1) << name;
    }
  }
  // Where only some utterances are tested, these alone are in the groups.
  const json some = evaluate(
      "--by gender --set by.file=speakers.csv --output some --set 'folds={test_speakers: [s3, s4]}'")["by"]
                                                                                                     [0];
  ASSERT_EQ(some["values"].size(), 2u);
  EXPECT_EQ(some["values"][0]["value"], "");
  EXPECT_EQ(some["values"][1]["value"], "f");
  EXPECT_EQ(some["values"][1]["utterances"], 9);
  const auto shown = folder.run("evaluate config.yaml --by gender --set by.file=speakers.csv --resume");
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  for (const char* word : {"arousal by gender", "valence by gender", "(empty)"})
    EXPECT_NE(shown.out.find(word), std::string::npos) << word << "\n" << shown.out;
}

TEST_F(Regression, RefusesNumbersThatAreNone) {
  const std::string text = labels();
  const auto with = [&](const std::string& value) {
    const auto at = text.find(',', text.find("glad/s1/take0")) + 1;
    folder.write("labels.csv", text.substr(0, at) + value + text.substr(text.find(',', at)));
  };
  const auto refused = [&](const std::vector<std::string>& words, const std::string& more = "") {
    expect_refused("evaluate config.yaml -q " + more, words);
    EXPECT_FALSE(folder.exists("run"));
  };
  with("loud");
  refused({"corpus.dimensions: labels.csv:3", "arousal", "loud", "a finite number"});
  with("inf");
  refused({"labels.csv:3", "a finite number"});
  with("");
  refused({"labels.csv:3", "missing", "unparsed: skip"});
  expect_refused("train config.yaml -o model -q", {"labels.csv:3", "missing"});
  expect_refused("check config.yaml", {"labels.csv:3", "missing"});
  const json scores = evaluate("--set corpus.unparsed=skip");
  EXPECT_EQ(scores["utterances"], 35);
  EXPECT_NE(folder.read("run/run.log").find("1 recording without a number of arousal, valence left out"),
            std::string::npos);
  std::filesystem::remove_all(folder / "run");
  folder.write("labels.csv", text.substr(0, text.rfind("cross/s4/take2")));
  refused({"recording", "cross/s4/take2", "has no row"});
  folder.write("labels.csv", text);
  refused({"labels.csv:1", "no column 'dominance'"}, "--set 'corpus.dimensions=[dominance]'");
  folder.write("labels.csv", "speaker,arousal,valence\ns1,1,2\n");
  refused({"labels.csv", "about speakers"});
}

TEST_F(Regression, RefusesKeysAndOptionsOfClasses) {
  const auto refused = [&](const std::string& set, const std::vector<std::string>& words) {
    expect_refused("evaluate config.yaml -q " + set, words);
  };
  refused("--set 'corpus.classes=[sad, glad]'", {"corpus.classes", "classifiers of classes", "remove it"});
  refused("--set 'corpus.labels={sad: low}'", {"corpus.labels", "remove it"});
  refused("--set classification.class_prior=observed", {"classification.class_prior", "remove it"});
  refused("--set softmax.draws=100", {"softmax.draws", "remove it"});
  refused("--set likelihood.components=4", {"likelihood.components", "mixtures"});
  refused("--by mood --set by.file=labels.csv", {"no column 'mood'", "labels.csv"});
  refused("--set classifier=softmax", {"corpus.dimensions", "classifier: regression"});
  refused("--set 'corpus.dimensions=[]'", {"corpus.dimensions", "missing", "[arousal, valence]"});
  refused("--set corpus.dimensions_file=", {"corpus.dimensions", "dimensions_file"});
  refused("--set 'corpus.dimensions=[file]'", {"corpus.dimensions", "file", "rename"});
  refused("--set 'regression.prior_sds=[0]'", {"regression.prior_sds", "above 0"});
  refused("--set regression.sd_factor=0", {"regression.sd_factor", "learned"});
  refused("--seeds 3", {"--seeds", "once"});
  EXPECT_FALSE(folder.exists("run"));
  folder.write("plain.yaml", "corpus: {kind: folders, path: corpus}\nclassifier: regression\n");
  expect_refused("evaluate plain.yaml -q", {"corpus.dimensions", "missing"});
  folder.write("plain.yaml", "corpus: {kind: folders, path: corpus}\nregression: {sd_factor: 1}\n");
  expect_refused("evaluate plain.yaml -q", {"regression.sd_factor", "remove it"});
}

TEST_F(Regression, TrainsAModelThatPredictsNewRecordings) {
  const auto trained = folder.run("train config.yaml -o model");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_NE(trained.out.find("arousal: prior sd"), std::string::npos) << trained.out;
  for (const char* again : {"--resume", "--force"})
    EXPECT_EQ(folder.run("train config.yaml -o model -q " + std::string(again)).exit_code, 0) << again;
  std::string names;
  for (int take : {0, 1, 2, 3})
    for (int emotion : {0, 1, 2}) {
      const std::string name = "new/" + std::to_string(emotion) + std::to_string(take) + ".wav";
      folder.write(name, testing::wav_of(emotion, 6, take));
      names += " " + name;
    }
  const auto own = lines(names);
  ASSERT_EQ(own.size(), 12u);
  double low = 0, high = 0;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const json& arousal = own[i]["arousal"];
    EXPECT_EQ(own[i]["standardised_by"], (json{{"kind", "own"}, {"recordings", 12}}));
    EXPECT_EQ(own[i]["frames"], 48);
    EXPECT_GT(arousal["sd"], 0);
    EXPECT_LT(arousal["interval_90"][0], arousal["mean"]);
    EXPECT_TRUE(own[i].contains("valence"));
    EXPECT_FALSE(own[i].contains("predicted"));
    if (i % 3 == 0) low += arousal["mean"].get<double>() / 4;
    if (i % 3 == 2) high += arousal["mean"].get<double>() / 4;
  }
  EXPECT_GT(high, low + 1.5);
  const auto alone = lines("new/10.wav");
  EXPECT_EQ(alone[0]["standardised_by"]["kind"], "corpus");
  EXPECT_GT(alone[0]["arousal"]["sd"], own[3]["arousal"]["sd"]);
  const auto from = lines("new/10.wav --speaker-from new/20.wav new/00.wav");
  EXPECT_EQ(from[0]["standardised_by"], (json{{"kind", "enrolment"}, {"recordings", 2}}));
  const auto missing = lines("new/none.wav", 2);
  EXPECT_TRUE(missing[0].contains("error"));
  expect_refused("classify model -q new/10.wav --reject-below 0.5", {"--reject-below", "numbers"});
  // `classify` reads only three files, and detects damage in them.
  std::filesystem::create_directory(folder / "moved");
  for (const char* file : {"model.json", "weights.npy", "rotation.npy"})
    std::filesystem::copy(folder / (std::string("model/") + file), folder / (std::string("moved/") + file));
  std::filesystem::remove_all(folder / "model");
  std::filesystem::rename(folder / "moved", folder / "model");
  EXPECT_EQ(lines("new/10.wav"), alone);
  json model = json::parse(folder.read("model/model.json"));
  model["dimensions"][0]["noise_sd"] = -1;
  folder.write("bad/model.json", model.dump());
  for (const char* file : {"weights.npy", "rotation.npy"})
    folder.write(std::string("bad/") + file, folder.read(std::string("model/") + file));
  expect_refused("classify bad -q new/10.wav", {"bad/model.json", "noise_sd"});
  std::string bytes = folder.read("model/weights.npy");
  bytes[bytes.size() - 3] = static_cast<char>(bytes[bytes.size() - 3] ^ 1);
  folder.write("model/weights.npy", bytes);
  expect_refused("classify model -q new/10.wav", {"model.json", "weights.npy is damaged"});
}

TEST_F(Regression, TakesRowsOfATableAndAnEvaluationAgreesWithTheSameFunctionals) {
  ASSERT_EQ(folder.run("features --corpus folders corpus -o own --functionals prosody -q").exit_code, 0);
  const json own = evaluate("--output one");
  folder.write("config.yaml",
               "corpus: {kind: folders, path: corpus, dimensions: [arousal, valence], dimensions_file: "
               "labels.csv}\nfeatures: {table: own/functionals.csv}\nthreads: 1\n");
  const json scores = evaluate("--output two");
  EXPECT_EQ(scores["regression"], own["regression"]);
  EXPECT_EQ(folder.read("two/predictions.csv"), folder.read("one/predictions.csv"));
  // The numbers to predict are no features where they are columns of the table.
  std::istringstream table(folder.read("own/functionals.csv")), numbers(labels());
  std::map<std::string, std::string> numbers_of;
  std::string line, with_numbers;
  for (std::getline(numbers, line); std::getline(numbers, line);)
    numbers_of[line.substr(0, line.find(".wav"))] =
        line.substr(line.find(','), line.rfind(',') - line.find(','));
  for (bool is_first = true; std::getline(table, line); is_first = false)
    with_numbers +=
        line + (is_first ? ",arousal,valence" : numbers_of.at(line.substr(0, line.find(',')))) + "\n";
  folder.write("with.csv", with_numbers);
  EXPECT_EQ(evaluate("--output three --set features.table=with.csv")["regression"], own["regression"]);
  EXPECT_NE(folder.read("three/run.log").find("arousal"), std::string::npos);
}

TEST_F(Regression, IsComparedWithOtherRegressions) {
  evaluate("--output one");
  evaluate("--output two --set features.set=cepstra");
  const auto result = folder.run("compare one two --json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json comparison = json::parse(result.out);
  const json scores = json::parse(folder.read("two/scores.json"))["regression"]["arousal"],
             first = json::parse(folder.read("one/scores.json"))["regression"]["arousal"];
  const json& of_two = comparison["methods"][1]["scores"]["arousal"];
  EXPECT_NEAR(of_two["ccc"].get<double>(), scores["ccc"].get<double>(), 1e-12);
  EXPECT_NEAR(of_two["log_density"].get<double>(), scores["log_density"].get<double>(), 1e-12);
  const json& less = comparison["differences"][0]["scores"]["arousal"];
  EXPECT_NEAR(less["ccc"].get<double>(), scores["ccc"].get<double>() - first["ccc"].get<double>(), 1e-12);
  EXPECT_LE(less["ccc_interval"][0], less["ccc"]);
  const auto text = folder.run("compare one two");
  EXPECT_NE(text.out.find("CCC less the first one's"), std::string::npos) << text.out;
  folder.write("labels.csv", labels(3));
  evaluate("--output three");
  expect_refused("compare one three", {"three/predictions.csv", "another number or speaker"});
  folder.write("other.yaml",
               "corpus: {kind: folders, path: corpus}\nsoftmax: {chains: 2, warmup: 40, draws: 80}\n");
  ASSERT_EQ(folder.run("evaluate other.yaml -q --output four").exit_code, 0);
  expect_refused("compare one four", {"four", "evaluations of one kind"});
  expect_refused("compare four one", {"one", "evaluations of one kind"});
  expect_refused("evaluate config.yaml -q --compare other.yaml", {"other.yaml", "corpus or folds differ"});
}

TEST_F(Regression, ErrorsOfSmallNumbersHaveThreeDigits) {
  EXPECT_EQ(app::in_unit(1.2345e-7), "1.23e-07");
  EXPECT_EQ(app::in_unit(-0.05), "-0.0500");
  EXPECT_EQ(app::in_unit(0), "0.000");
  EXPECT_EQ(app::in_unit(12.3456), "12.346");
  EXPECT_EQ(app::signed_in_unit(0.00012), "+0.000120");
  EXPECT_EQ(app::signed_in_unit(-2), "-2.000");
  std::string small = "utterance,arousal,valence\n";
  const auto rows = testing::csv(labels());
  for (std::size_t i = 1; i < rows.size(); ++i)
    small += rows[i][0] + "," + rows[i][1] + "e-6," + rows[i][2] + "\n";
  folder.write("labels.csv", small);
  const auto result = folder.run("evaluate config.yaml");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json scores = json::parse(folder.read("run/scores.json"));
  for (const char* key : {"rmse", "mae"}) {
    const double error = scores["regression"]["arousal"][key];
    ASSERT_LT(error, 1e-5);
    EXPECT_NE(result.out.find(app::in_unit(error)), std::string::npos) << error << "\n" << result.out;
  }
  const auto compared = folder.run("compare run run");
  EXPECT_NE(compared.out.find(app::in_unit(scores["regression"]["arousal"]["rmse"])), std::string::npos)
      << compared.out;
}

TEST_F(Regression, HasAReport) {
  if (!app::has_evaluation_report()) GTEST_SKIP() << "a build without libjs-chart.js";
  folder.write("speakers.csv", "speaker,gender\ns1,f\ns2,m\ns3,f\ns4,m\n");
  evaluate("--by gender --set by.file=speakers.csv");
  ASSERT_EQ(folder.run("report run -o page.html").exit_code, 0);
  EXPECT_EQ(folder.read("page.html"), folder.read("run/report.html"));
  const std::string text = folder.read("run/predictions.csv");
  folder.write("run/predictions.csv", text.substr(0, text.rfind('\n', text.size() - 2) + 1));
  expect_refused("report run -o other.html", {"predictions.csv", "scores.json counts"});
  folder.write("run/predictions.csv", text + "x,s1,1,2,3,4,5,loud,1,2,3,4,5,6\n");
  expect_refused("report run -o other.html", {"predictions.csv:38", "expected a number", "loud"});
  if (!testing::has_chromium()) GTEST_SKIP() << "no chromium";
  const json shown = testing::self_test(folder, "page.html");
  EXPECT_EQ(shown["errors"], json::array());
  EXPECT_EQ(shown["drawn"]["scatter-0"], (json{9, 9, 9, 9, 2, 2, 2}));
  EXPECT_EQ(shown["drawn"]["coverage-1"], (json{11, 2}));
  EXPECT_EQ(shown["drawn"]["speakers"], (json{4, 4}));
  for (const auto& [id, colors] : shown["charts"].items()) EXPECT_GT(colors, 3) << id;
  EXPECT_EQ(shown["sorted"], true);
  EXPECT_EQ(shown["none"], 0);
  const std::string all = shown["text"];
  EXPECT_NE(all.find("36 utterances of 4 speakers"), std::string::npos);
  EXPECT_NE(all.find("arousal, predicted"), std::string::npos);
  EXPECT_NE(all.find("valence by gender"), std::string::npos);
}

}  // namespace
}  // namespace emomc
