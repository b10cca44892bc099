// Tests input from which the page of an evaluation is not made, and other commands that refuse evaluations.
#include "evaluation_report_fixture.hpp"

namespace emomc {
namespace {

using nlohmann::json;

class EvaluationReportRefusals : public testing::EvaluationReportTest {};

TEST_F(EvaluationReportRefusals, RefusesDamagedScoresNamingWhatIsWrong) {
  const auto refuses = [&](const std::function<void(json&)>& change, const std::string& why) {
    write();
    change_scores(change);
    expect_refusal("scores.json", why);
  };
  for (const char* key : {"classes", "speakers", "utterances", "frames", "seed", "test_speakers_of_fold",
                          "posterior", "convergence", "posterior_minus_em"})
    refuses([&](json& s) { s.erase(key); }, std::string(key) + " is missing");
  for (const char* key : {"uar", "accuracy", "confusion", "calibration_bins", "uar_by_speaker"})
    refuses([&](json& s) { s["em"].erase(key); }, std::string("em.") + key + " is missing");
  refuses([](json& s) { s = json::array(); }, "expected an object, not array");
  refuses([](json& s) { s["classes"] = json::array(); }, "classes: expected names");
  refuses([](json& s) { s["classes"][1] = 3; }, "classes[1]: expected a text, not number");
  refuses([](json& s) { s["posterior"]["uar"] = "0.5"; }, "posterior.uar: expected a number or null");
  refuses([](json& s) { s["posterior"]["uar_interval"] = {0.1}; }, "expected 2 items, not 1");
  refuses([](json& s) { s["em"]["confusion"][2][1] = -4; }, "em.confusion[2][1]: expected a count");
  refuses([](json& s) { s["posterior"]["confusion"].erase(0); }, "posterior.confusion: expected 3 items");
  refuses([](json& s) { s["posterior"]["calibration_bins"][3] = 1; }, "calibration_bins[3]: expected an obj");
  refuses([](json& s) { s["posterior"]["uar_by_speaker"]["ann"] = json::array(); }, "uar_by_speaker.ann");
  refuses([](json& s) { s["convergence"]["classes"].erase("Neutral"); }, "convergence.classes.Neutral");
  write();
  const std::string whole = folder.read("ev/scores.json");
  for (std::size_t length = 0; length < whole.size(); length += 97) {
    folder.write("ev/scores.json", whole.substr(0, length));
    expect_refusal("scores.json", "this is no JSON");
  }
  folder.write("ev/scores.json", std::string(1'000'000, '['));
  expect_refusal("scores.json", "this is no JSON");
  std::filesystem::remove(folder / "ev/scores.json");
  expect_refusal("scores.json", "there is no such file");
  std::filesystem::create_directory(folder / "ev/scores.json");
  expect_refusal("scores.json", "there is no such file");
}

TEST_F(EvaluationReportRefusals, RefusesDamagedPredictionsNamingWhatIsWrong) {
  write();
  const std::string whole = folder.read("ev/predictions.csv"), head = whole.substr(0, whole.find('\n') + 1);
  const auto refuses = [&](const std::string& text, const std::string& why) {
    folder.write("ev/predictions.csv", text);
    expect_refusal("predictions.csv", why);
  };
  refuses("", "columns");
  refuses("utterance,speaker,truth,predicted,p_Angry\n", "columns");
  refuses(head, "not those that scores.json counts");
  refuses(head + "u,ann,Angry,Angry,0.5,0.5\n", ":2: 6 fields, expected 7");
  refuses(head + "u,ann,Angry,Happy,0.5,0.5,0\n", ":2: there is no class 'Happy'");
  refuses(head + "u,ann,Angry,\"a\nb" + std::string(1000, 'x') + "\",0.5,0.5,0\n",
          ":2: there is no class 'a?bxxx");
  for (const char* p : {"nan", "", "-0.1", "1.5", "0.5x", "1e999"})
    refuses(head + "u,ann,Angry,Angry,0.5,0.5," + p + "\n", ":2: expected a probability");
  refuses(head + "\"u,ann,Angry,Angry,0.5,0.5,0\n", "a quote is never closed");
  for (std::size_t length = 0; length < whole.size() - 20; length += 41) {
    folder.write("ev/predictions.csv", whole.substr(0, length));
    expect_refusal("predictions.csv", "");
  }
  folder.write("ev/predictions.csv", whole);
  EXPECT_NO_THROW(page());
  std::filesystem::remove(folder / "ev/predictions.csv");
  expect_refusal("predictions.csv", "there is no such file");
}

// Without the refusal, the chains of many posteriors would be read as the chains of one.
TEST_F(EvaluationReportRefusals, OtherCommandsRefuseDirectoriesOfManyPosteriors) {
  write();
  folder.write("model/manifest.json", R"({"kind": "model"})");
  folder.write("seeds/seed-1/manifest.json", R"({"kind": "evaluation"})");
  std::filesystem::create_directory(folder / "ev/chains");
  for (const std::string command : {"summary", "summary --predictive", "diagnose", "export --format csv -o -",
                                    "export --format netcdf -o a.nc"})
    for (const auto& [directory, why] :
         {std::pair{
              "ev",
              "ev: an evaluation of many posteriors, not a run; see its scores.json, or emomc report ev\n"},
          {"model", "model: a model of many posteriors, not a run\n"},
          {"seeds",
           "seeds: evaluations of several seeds, not a run; see its scores.json, or emomc report "
           "seeds/seed-1\n"}}) {
      const auto result = folder.run(command + " " + directory);
      EXPECT_EQ(result.exit_code, 2) << command;
      EXPECT_EQ(result.err, std::string("emomc: error: ") + why) << command;
    }
}

}  // namespace
}  // namespace emomc
