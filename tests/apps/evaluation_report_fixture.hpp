// Writes an evaluation of two speakers and three classes into a folder, by the evaluation's own functions.
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "browser.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/emotion/evaluation_results.hpp"
#include "evaluation_report.hpp"

namespace emomc::testing {

inline const char* const kEvilId = "a</script><script>alert(1)</script>\"&amp;, @DATA@ \xff <!-- <b>";

class EvaluationReportTest : public ::testing::Test {
 protected:
  ProgramFolder folder;
  LabelledFrames frames;
  EvaluationPlan plan;
  EvaluationResults results;

  void SetUp() override {
    if (!app::has_evaluation_report()) GTEST_SKIP() << "a build without libjs-chart.js";
    frames.classes = {"Angry", "<i>Sad</i>", "Neutral"};
    frames.speakers = {"ann", "bob & co"};
    for (int u = 0; u < 24; ++u) {
      UtteranceFrames utterance;
      utterance.id = u == 7 ? kEvilId : "utterance " + std::to_string(u);
      frames.speaker_of.push_back(u / 12);
      frames.class_of.push_back(u % 3);
      utterance.speaker = frames.speakers[static_cast<std::size_t>(u / 12)];
      utterance.emotion = frames.classes[static_cast<std::size_t>(u % 3)];
      frames.features.utterances.push_back(utterance);
    }
    frames.rows.num_rows = 2400;
    plan.folds = {{0, {0}, {}}, {1, {1}, {}}};
    results.seed = 11;
    results.posterior = judge_method(frames, folds(0.97, 3), 11, &results.utterances);
    results.em = judge_method(frames, folds(0.97, 2), 11, nullptr);
  }

  /// Returns folds in which about every `period`th utterance is predicted wrongly. `share` of the pairs have
  /// converged.
  std::vector<FoldResult> folds(double share, int period) const {
    std::vector<FoldResult> result(2);
    for (int u = 0; u < 24; ++u) {
      FoldResult& fold = result[static_cast<std::size_t>(u / 12)];
      fold.utterances.push_back(static_cast<std::size_t>(u));
      const int predicted = u % period == 0 ? (u + 1) % 3 : u % 3;
      const double sure = 0.51 + 0.02 * u;
      for (int c = 0; c < 3; ++c)
        fold.log_probability.push_back(std::log(c == predicted ? sure : (1 - sure) / 2));
    }
    for (FoldResult& fold : result)
      for (int c = 0; c < 3; ++c) {
        Convergence convergence;
        convergence.num_pairs = 100;
        convergence.num_converged = static_cast<std::size_t>(std::lround(100 * share));
        convergence.worst_rhat = 1.23456;
        convergence.least_ess = 77.4;
        fold.of_class.push_back(convergence);
      }
    return result;
  }

  void write() const {
    folder.write("ev/scores.json", scores_json(frames, plan, results).dump(1));
    folder.write("ev/predictions.csv",
                 predictions_csv(frames, results.utterances, results.posterior.predictions));
    folder.write("ev/config.yaml", "# </script><script>alert(2)</script>\ncorpus: {}\n");
    folder.write(
        "ev/manifest.json",
        R"({"kind": "evaluation", "engine": "cpu <b>", "seconds": {"sampling": 12.5}, "steps": 70})");
  }
  void change_scores(const std::function<void(nlohmann::json&)>& change) const {
    nlohmann::json scores = nlohmann::json::parse(folder.read("ev/scores.json"));
    change(scores);
    folder.write("ev/scores.json", scores.dump());
  }
  std::string page() const { return app::evaluation_report_html(folder / "ev"); }
  nlohmann::json shown() const {
    folder.write("ev/report.html", page());
    return self_test(folder, "ev/report.html");
  }
  void expect_refusal(const std::string& file, const std::string& why) const {
    try {
      page();
      ADD_FAILURE() << "accepted; expected: " << why;
    } catch (const InputError& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find((folder / "ev" / file).string()), std::string::npos) << message;
      EXPECT_NE(message.find(why), std::string::npos) << message;
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    }
  }
};

}  // namespace emomc::testing
