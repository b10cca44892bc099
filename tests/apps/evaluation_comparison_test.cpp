// Tests `emomc compare` of evaluations and `emomc evaluate --compare`.
#include "evaluation_comparison.hpp"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "predictions_file.hpp"
#include "softmax_corpus.hpp"

namespace emomc {
namespace {

using nlohmann::json;
using testing::ProgramFolder;

// Writes the files of an evaluation of six utterances of three speakers. `sure` has the probabilities of the
// predicted classes.
void write_evaluation(const ProgramFolder& folder, const std::string& name,
                      const std::vector<std::string>& predicted, const std::vector<double>& sure,
                      const std::string& folds = R"([["a"],["b"],["c"]])") {
  const std::string speakers = "aabbcc";
  std::string text = "utterance,speaker,truth,predicted,p_glad,p_sad\n";
  for (std::size_t i = 0; i < 6; ++i) {
    const double glad = predicted[i] == "glad" ? sure[i] : 1 - sure[i];
    text += "u" + std::to_string(i) + "," + speakers[i] + "," + (i % 2 == 0 ? "glad" : "sad") + "," +
            predicted[i] + "," + std::to_string(glad) + "," + std::to_string(1 - glad) + "\n";
  }
  folder.write(name + "/predictions.csv", text);
  folder.write(name + "/scores.json", R"({"test_speakers_of_fold": )" + folds + "}");
  folder.write(name + "/manifest.json", R"({"kind": "evaluation", "status": "finished"})");
}

const std::vector<std::string> kRight{"glad", "sad", "glad", "sad", "glad", "sad"};

class ComparedEvaluations : public ::testing::Test {
 protected:
  ProgramFolder folder;
  void SetUp() override {
    write_evaluation(folder, "all", kRight, {0.9, 0.8, 0.9, 0.8, 0.7, 0.6});
    auto wrong = kRight;
    wrong[0] = "sad";   // speaker a
    wrong[5] = "glad";  // speaker c
    write_evaluation(folder, "some", wrong, {0.6, 0.8, 0.9, 0.8, 0.7, 0.75});
  }
};

// The numbers are computed by hand: the UARs are 1 and 2/3. Without one of the speakers, they are 1 and 3/4,
// 1/2 or 3/4.
TEST_F(ComparedEvaluations, DifferencesHaveIntervalsOverSpeakers) {
  const auto result = folder.run("compare all some --json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json shown = json::parse(result.out);
  EXPECT_EQ(shown["utterances"], 6);
  EXPECT_EQ(shown["speakers"], (std::vector<std::string>{"a", "b", "c"}));
  ASSERT_EQ(shown["methods"].size(), 2u);
  EXPECT_EQ(shown["methods"][0]["evaluation"], "all");
  EXPECT_EQ(shown["methods"][0]["uar"], 1);
  EXPECT_NEAR(shown["methods"][1]["uar"].get<double>(), 2.0 / 3, 1e-12);
  const double loss = -std::log(0.9 * 0.8 * 0.9 * 0.8 * 0.7 * 0.6) / 6;
  EXPECT_NEAR(shown["methods"][0]["log_loss"].get<double>(), loss, 1e-6);
  const json& pair = shown["differences"][0];
  EXPECT_NEAR(pair["uar"].get<double>(), -1.0 / 3, 1e-12);
  // t(2) is 4.302653 at 97.5 %, and se^2 = 2/3 * (1/12^2 + 1/6^2 + 1/12^2).
  const double half = 4.302653 * std::sqrt(2.0 / 3 * (1.0 / 144 + 1.0 / 36 + 1.0 / 144));
  EXPECT_EQ(pair["uar_interval"][0], -1);  // the end at which no difference is possible
  EXPECT_NEAR(pair["uar_interval"][1].get<double>(), -1.0 / 3 + half, 1e-6);
  // The log losses of speakers a and c differ by log(0.9 / 0.4) and log(0.6 / 0.25), divided by 6 or 4.
  const double a = std::log(0.9 / 0.4), c = std::log(0.6 / 0.25), d = (a + c) / 6;
  const double without[] = {c / 4, (a + c) / 4, a / 4}, mean = (a + c) / 6;
  double squares = 0;
  for (const double x : without) squares += (x - mean) * (x - mean);
  EXPECT_NEAR(pair["log_loss"].get<double>(), d, 1e-5);
  EXPECT_NEAR(pair["log_loss_interval"][0].get<double>(), d - 4.302653 * std::sqrt(2.0 / 3 * squares), 1e-5);
  const auto text = folder.run("compare all some");
  EXPECT_NE(text.out.find("-0.333"), std::string::npos) << text.out;
  // An evaluation does not differ from itself.
  const json same = json::parse(folder.run("compare all all --json").out)["differences"][0];
  EXPECT_EQ(same["uar_interval"], (json{0.0, 0.0}));
}

TEST_F(ComparedEvaluations, SeedsAreAveraged) {
  std::filesystem::create_directories(folder / "two");
  std::filesystem::rename(folder / "all", folder / "two/seed-1");
  std::filesystem::copy(folder / "some", folder / "two/seed-2", std::filesystem::copy_options::recursive);
  testing::expect_refused(folder, "compare some two", {"two", "not all of its seeds", "--resume"});
  folder.write("two/scores.json", R"({"seeds": [1, 2]})");
  const json shown = json::parse(folder.run("compare some two --json").out);
  EXPECT_EQ(shown["methods"][1]["seeds"], 2);
  EXPECT_NEAR(shown["methods"][1]["uar"].get<double>(), 5.0 / 6, 1e-12);
  EXPECT_NEAR(shown["differences"][0]["uar"].get<double>(), 1.0 / 6, 1e-12);
}

TEST_F(ComparedEvaluations, RefusesOtherUtterancesFoldsAndFiles) {
  const auto refused = [&](const std::vector<std::string>& words) {
    testing::expect_refused(folder, "compare all other", words);
  };
  write_evaluation(folder, "other", kRight, {0.9, 0.8, 0.9, 0.8, 0.7, 0.6}, R"([["a", "b"], ["c"]])");
  refused({"other", "other folds", "all/predictions.csv"});
  write_evaluation(folder, "other", kRight, {0.9, 0.8, 0.9, 0.8, 0.7, 0.6});
  const std::string good = folder.read("other/predictions.csv");
  const auto change = [&](const std::string& from, const std::string& to,
                          const std::vector<std::string>& words) {
    folder.write("other/predictions.csv", testing::replaced(good, from, to));
    refused(words);
  };
  change("u3,", "u9,", {"no utterance u3"});
  change("u3,", "u2,", {"predictions.csv:5", "u2", "twice"});
  change("u3,b", "u3,c", {"u3", "speaker"});
  change("u2,b,glad", "u2,b,sad", {"u2", "label"});
  change("p_glad", "p_cross", {"predictions.csv:2", "glad"});
  change("u5,c,sad,sad,0.400000,0.600000\n", "", {"5 utterances"});
  change("0.900000", "0.8", {"predictions.csv:2", "sum to 0.9"});
  change("0.900000", "x", {"predictions.csv:2", "x"});
  change("speaker", "voice", {"predictions.csv:1", "columns"});
  std::filesystem::remove(folder / "other/predictions.csv");
  refused({"other/predictions.csv"});
  testing::expect_refused(folder, "compare all nowhere", {"nowhere"});
  testing::expect_refused(folder, "compare all some --loo-by speaker", {"--loo-by", "evaluation"});
  testing::expect_refused(folder, "compare all some --draws 200", {"--draws", "evaluation"});
}

class EvaluateAndCompare : public testing::Softmax {};

TEST_F(EvaluateAndCompare, EvaluatesEachConfigurationOnTheSameFolds) {
  folder.write("mixtures.yaml",
               "corpus: {kind: folders, path: corpus}\nlikelihood: {components: 2}\n"
               "features: {num_coefficients: 5}\nsampler: {draws: 20, warmup: 20, thin: 1}\n"
               "classification: {temper: 0.1}\nthreads: 1\n");
  const auto result = folder.run("evaluate config.yaml --compare mixtures.yaml --output both --json -q");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json shown = json::parse(result.out);
  EXPECT_EQ(shown, json::parse(folder.read("both/comparison.json")));
  std::vector<std::string> methods;
  for (const json& one : shown["methods"])
    methods.push_back(one["evaluation"].get<std::string>() + " " + one["method"].get<std::string>());
  EXPECT_EQ(methods, (std::vector<std::string>{"both/config posterior", "both/config penalised fit",
                                               "both/mixtures posterior", "both/mixtures EM"}));
  EXPECT_EQ(shown["differences"].size(), 6u);
  const json scores = json::parse(folder.read("both/config/scores.json"));
  EXPECT_NEAR(shown["methods"][0]["uar"].get<double>(), scores["posterior"]["uar"].get<double>(), 1e-12);
  EXPECT_NEAR(shown["methods"][0]["log_loss"].get<double>(), scores["posterior"]["log_loss"].get<double>(),
              1e-9);
  // The jackknife interval of the difference equals the one that the evaluation computes itself.
  for (int end : {0, 1})
    EXPECT_NEAR(-shown["differences"][0]["uar_interval"][1 - end].get<double>(),
                scores["posterior_minus_penalised"]["uar_interval"][end].get<double>(), 1e-12);
  EXPECT_EQ(json::parse(folder.run("compare both/config both/mixtures --json").out)["differences"],
            shown["differences"]);
  testing::expect_refused(folder, "evaluate config.yaml --compare mixtures.yaml --output both -q",
                          {"--force"});
}

TEST_F(EvaluateAndCompare, RefusesOtherCorporaBeforeAnyWork) {
  folder.write("other.yaml", "corpus: {kind: folders, path: corpus, classes: [sad, glad]}\n");
  folder.write("folds.yaml", "corpus: {kind: folders, path: corpus}\nfolds: {k_fold_by_speaker: 2}\n");
  folder.write("more/config.yaml", folder.read("config.yaml"));
  for (const std::string file : {"other.yaml", "folds.yaml"})
    testing::expect_refused(folder, "evaluate config.yaml --compare " + file, {"--compare", file, "differ"});
  testing::expect_refused(folder, "evaluate config.yaml --compare more/config.yaml", {"named config too"});
  testing::expect_refused(folder, "evaluate config.yaml --compare nowhere.yaml", {"nowhere.yaml"});
  folder.write("run/mine.txt", "x");
  testing::expect_refused(folder, "evaluate config.yaml --compare config.yaml", {"named config too"});
  folder.write("again.yaml", folder.read("config.yaml"));
  testing::expect_refused(folder, "evaluate config.yaml --compare again.yaml", {"run", "mine.txt"});
  EXPECT_FALSE(folder.exists("run/config"));
}

}  // namespace
}  // namespace emomc
