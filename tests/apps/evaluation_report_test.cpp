// Tests the page of an evaluation.
#include "evaluation_report_fixture.hpp"

namespace emomc {
namespace {

using nlohmann::json;

class EvaluationReport : public testing::EvaluationReportTest {};

void expect_all(const json& result, const std::vector<std::string>& texts) {
  const auto page = result.value("text", std::string());
  for (const auto& text : texts)
    EXPECT_NE(page.find(text), std::string::npos) << "no '" << text << "' in " << page;
}

TEST_F(EvaluationReport, NeedsNothingButItselfAndRunsNothingThatFilesHold) {
  write();
  const std::string html = page();
  for (const char* text : {"src=", "<link", "<script>alert", "@SCRIPT@", "@STYLE@", "@TITLE@", "<i>Sad"})
    EXPECT_EQ(html.find(text), std::string::npos) << text;
  EXPECT_NE(html.find("\\u003c/script>"), std::string::npos);
}

TEST_F(EvaluationReport, ShowsScoresAndChartsInABrowserWithoutErrors) {
  write();
  if (!testing::has_chromium()) GTEST_SKIP() << "no chromium";
  const json result = shown();
  EXPECT_EQ(result["errors"], json::array());
  EXPECT_EQ(result["charts"].size(), 3u);  // the charts are reliability, confidence and speakers
  for (const auto& [name, colors] : result["charts"].items()) EXPECT_GT(colors.get<int>(), 30) << name;
  // The reliability chart has the posterior, EM and the diagonal. Confidences are 0.51, 0.53, ..., 0.97, in
  // five bins.
  EXPECT_EQ(result["drawn"],
            json({{"reliability", {5, 5, 2}}, {"confidence", {5, 5}}, {"speakers", {2, 2}}}));
  EXPECT_EQ(result["first"], "utterance 0");
  EXPECT_EQ(result["sorted"], true);
  EXPECT_EQ(result["wrong"], 8);
  EXPECT_EQ(result["marked"], 8);
  EXPECT_EQ(result["none"], 0);
  // The numbers are computed by hand: utterances 0, 3, ... are all Angry and predicted as Sad. EM is wrong in
  // every second utterance, four of each class.
  EXPECT_EQ(result["confusion"], json({0, 8, 0, 0, 8, 0, 0, 0, 8}));
  EXPECT_EQ(result["confusion_em"], json({4, 4, 0, 0, 4, 4, 4, 0, 4}));
  expect_all(result,
             {"24 utterances (2400 frames) of 2 speakers and 3 classes, in 2 folds; seed 11", "chance 0.333",
              "EM 0.500", "The chains have converged.", "97.0 % of 600", "95 % are required", "UAR +0.167",
              "8 utterances are right by the posterior alone, 4 by EM alone", "McNemar p 0.388", "1.235",
              "77", "cpu <b>", "@software{emomc", "12.5 s", "<i>Sad</i>", "bob & co",
              "a</script><script>alert(1)</script>\"&amp;, @DATA@ \xEF\xBF\xBD <!-- <b>"});
}

TEST_F(EvaluationReport, ShowsScoresOfCutUtterances) {
  write();
  change_scores([](json& scores) {
    scores["em"]["cut_to_frames"] = {{{"frames", 50},
                                      {"utterances", 23},
                                      {"uar", 0.375},
                                      {"accuracy", 0.625},
                                      {"confidence", 0.8125},
                                      {"log_loss", nullptr}}};
  });
  if (!testing::has_chromium()) GTEST_SKIP() << "no chromium";
  const json result = shown();
  EXPECT_EQ(result["errors"], json::array());
  expect_all(result, {"Shorter utterances", "cut to frames", "EM\t50\t23\t0.625\t0.813\t0.375\t-"});
  write();
  EXPECT_EQ(shown()["text"].get<std::string>().find("Shorter utterances"), std::string::npos);
}

TEST_F(EvaluationReport, SaysWhereScoresShouldNotBeCounted) {
  results.posterior.folds = folds(0.94, 3);
  write();
  change_scores([](json& scores) { scores["posterior_minus_em"]["right_by_posterior_only"] = 1; });
  if (!testing::has_chromium()) GTEST_SKIP() << "no chromium";
  expect_all(shown(), {"These scores should not be counted", "94.0 % of 600",
                       "1 utterance is right by the posterior alone, 4 by EM alone"});
}

TEST_F(EvaluationReport, HasDashesForWhatIsNotFiniteAndNothingOfAnEmThatWasNotAskedFor) {
  results.em.reset();
  write();
  std::filesystem::remove(folder / "ev/manifest.json");
  std::filesystem::remove(folder / "ev/config.yaml");
  change_scores([](json& scores) {
    for (const char* key : {"log_loss", "calibration_error"}) scores["posterior"][key] = nullptr;
    for (const char* key : {"uar_interval", "calibration_error_99_percent_range"})
      scores["posterior"][key] = {nullptr, nullptr};
    scores["posterior"]["precision"][2] = nullptr;
    scores["posterior"]["uar_by_speaker"].erase("ann");
    scores["convergence"]["classes"]["Neutral"]["worst_rhat"] = nullptr;
    scores["inner_log_loss"] = {1, {{"new", "keys"}}};
  });
  if (!testing::has_chromium()) GTEST_SKIP() << "no chromium";
  const json result = shown();
  EXPECT_EQ(result["errors"], json::array());
  EXPECT_FALSE(result.contains("confusion_em"));
  expect_all(result, {"log loss\n-", "ECE\n-", "95 % - over speakers", "99 % - if calibrated"});
  const auto text = result["text"].get<std::string>();
  for (const char* absent : {"McNemar", "null", "NaN", "undefined", "EM 0", "Configuration"})
    EXPECT_EQ(text.find(absent), std::string::npos) << absent;
}

TEST_F(EvaluationReport, IsAsGoodWithoutAManifestAsWithADamagedOne) {
  write();
  for (const char* text :
       {"", "[1]", R"({"seconds": 3, "steps": "many", "adaptation_drift": {}, "engine": []})",
        R"({"seconds": {"warmup": null}, "adaptation_drift": [null, "x"], "status": 1})"}) {
    folder.write("ev/manifest.json", text);
    EXPECT_NO_THROW(page()) << text;
  }
}

TEST_F(EvaluationReport, IsWhatReportWritesOfAnEvaluation) {
  write();
  const auto written = folder.run("report ev");
  EXPECT_EQ(written.exit_code, 0) << written.err;
  EXPECT_EQ(written.out, "ev/report.html\n");
  EXPECT_NE(folder.read("ev/report.html").find("<canvas id=\"reliability\""), std::string::npos);
  EXPECT_EQ(folder.run("report ev -o page.html").exit_code, 0);
  EXPECT_TRUE(folder.exists("page.html"));
  for (const char* arguments : {"report ev ev", "report ev --raw", "report ev --vars mean"})
    EXPECT_EQ(folder.run(arguments).exit_code, 2) << arguments;
  folder.write("ev/scores.json", "{");
  const auto damaged = folder.run("report ev");
  EXPECT_EQ(damaged.exit_code, 2);
  EXPECT_NE(damaged.err.find("ev/scores.json: this is no JSON"), std::string::npos) << damaged.err;
}

}  // namespace
}  // namespace emomc
