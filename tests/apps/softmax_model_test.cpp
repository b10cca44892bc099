// Tests `emomc train` and `classify` by softmax regression, on synthetic recordings.
#include <cmath>
#include <nlohmann/json.hpp>

#include "softmax_corpus.hpp"

namespace emomc {
namespace {

using nlohmann::json;
using testing::wav_of;

class SoftmaxModel : public testing::Softmax {
 protected:
  void SetUp() override {
    testing::Softmax::SetUp();
    if (IsSkipped()) return;
    // The model was trained without this speaker.
    for (int take : {0, 1, 2, 3})
      for (int emotion : {0, 1, 2}) folder.write(name_of(emotion, take), wav_of(emotion, 6, take));
  }
  static std::string name_of(int emotion, int take) {
    const char* emotions[] = {"sad", "glad", "cross"};
    return "new/" + std::string(emotions[emotion]) + "/s6/t" + std::to_string(take) + ".wav";
  }
  static std::string all_names(int takes) {
    std::string names;
    for (int take = 0; take < takes; ++take)
      for (int emotion : {0, 1, 2}) names += " " + name_of(emotion, take);
    return names;
  }
  void train(const std::string& more = "") {
    const auto result = folder.run("train config.yaml -o model -q " + more);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, "");
  }
  std::vector<json> lines(const std::string& arguments, int exit_code = 0,
                          const std::string& model = "model") {
    const auto result = folder.run("classify " + model + " -q " + arguments);
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    EXPECT_EQ(result.err, "");
    std::vector<json> all;
    std::istringstream text(result.out);
    for (std::string line; std::getline(text, line);) all.push_back(json::parse(line));
    return all;
  }
  static int right(const std::vector<json>& all) {
    int count = 0;
    for (const json& line : all)
      count += line["file"].get<std::string>().find("/" + line["predicted"].get<std::string>() + "/") !=
               std::string::npos;
    return count;
  }
};

void expect_probabilities(const json& line) {
  double sum = 0, most = 0;
  for (const auto& [name, p] : line["probabilities"].items()) {
    sum += p.get<double>();
    most = std::max(most, p.get<double>());
    EXPECT_GE(line["sd"][name].get<double>(), 0);
    EXPECT_LE(line["sd"][name].get<double>(), 0.5 + 1e-12);
  }
  EXPECT_EQ(line["probabilities"].size(), 3u);
  EXPECT_NEAR(sum, 1, 1e-9);
  EXPECT_EQ(line["probabilities"][line["predicted"].get<std::string>()], most);
}

TEST_F(SoftmaxModel, ClassifiesANewSpeakerAndSaysWhatItKnows) {
  train();
  for (const char* file :
       {"model.json", "draws.npy", "rotation.npy", "config.yaml", "manifest.json", "run.log"})
    EXPECT_TRUE(folder.exists(std::string("model/") + file)) << file;
  const json model = json::parse(folder.read("model/model.json"));
  EXPECT_EQ(model["functionals"], (json{{"set", "full"}, {"version", 3}}));
  EXPECT_EQ(model["trained_on"]["speakers"], (std::vector<std::string>{"s1", "s2", "s3", "s4"}));
  EXPECT_EQ(model["trained_on"]["utterances_of_class"], (json{{"cross", 12}, {"glad", 12}, {"sad", 12}}));
  EXPECT_EQ(json::parse(folder.read("model/manifest.json"))["kind"], "model");
  const auto own = lines(all_names(4)), nine = lines(all_names(3)), alone = lines(name_of(1, 0));
  ASSERT_EQ(own.size(), 12u);
  for (const json& line : own) {
    expect_probabilities(line);
    EXPECT_EQ(line["standardised_by"], (json{{"kind", "own"}, {"recordings", 12}}));
    EXPECT_EQ(line["frames"], 48);  // frames of 25 ms every 10 ms, in half a second
  }
  EXPECT_GE(right(own), 10);
  for (const json& line : nine)
    EXPECT_EQ(line["standardised_by"], (json{{"kind", "enrolment"}, {"recordings", 8}}));
  EXPECT_GE(right(nine), 6);  // 9 recordings, where chance is 3
  EXPECT_EQ(alone[0]["standardised_by"], (json{{"kind", "corpus"}, {"recordings", 0}}));
  expect_probabilities(alone[0]);
  // The same enrolment is given in another way; a recording is not part of its own enrolment.
  const auto from = lines(name_of(1, 0) + " --speaker-from" + all_names(3));
  EXPECT_EQ(from[0], nine[1]);
  // The speaker of each recording is found in the recording's name.
  const auto grouped = lines("--group-by speaker" + all_names(4) + " corpus/sad/s1/take0.wav");
  ASSERT_EQ(grouped.size(), 13u);
  EXPECT_EQ(grouped[3], own[3]);
  EXPECT_EQ(grouped[12]["standardised_by"]["kind"], "corpus");
  // Only the three files are read, and the output for a recording does not depend on other recordings.
  std::filesystem::create_directory(folder / "moved");
  for (const char* file : {"model.json", "draws.npy", "rotation.npy"})
    std::filesystem::rename(folder / (std::string("model/") + file), folder / (std::string("moved/") + file));
  EXPECT_EQ(lines(name_of(1, 0) + " --json", 0, "moved"), alone);
}

TEST_F(SoftmaxModel, SaysWhereARecordingIsShorterThanAllClips) {
  train();
  folder.write("new/short.wav", wav_of(1, 6, 0, 16000, 0.19));
  folder.write("new/longer.wav", wav_of(1, 6, 0, 16000, 0.2));
  const auto all = lines("new/short.wav new/longer.wav");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0]["frames"], 17);
  EXPECT_NE(all[0]["note"].get<std::string>().find("18 frames"), std::string::npos);
  EXPECT_EQ(all[1]["frames"], 18);
  EXPECT_FALSE(all[1].contains("note"));
  const json model = json::parse(folder.read("model/model.json"));
  for (const auto& [name, temper] : model["tempers"].items()) EXPECT_GE(temper["frames"], 0) << name;
}

TEST_F(SoftmaxModel, TempersShortRecordingsByTheFramesOfTheModel) {
  train("--set softmax.temper_frames=30 --set softmax.temper=1");
  json model = json::parse(folder.read("model/model.json"));
  EXPECT_EQ(model["tempers"]["own"]["frames"], 30);
  const json with = lines(name_of(1, 0))[0]["probabilities"];
  model["tempers"]["corpus"]["frames"] = 0;
  folder.write("model/model.json", model.dump());
  const json without = lines(name_of(1, 0))[0]["probabilities"];
  const auto log_odds = [](const json& p) {
    return std::log(p["sad"].get<double>() / p["glad"].get<double>());
  };
  EXPECT_NEAR(log_odds(with), log_odds(without) * 48 / (48 + 30), 1e-9);
  model["tempers"]["corpus"].erase("frames");  // models of earlier versions lack this field
  folder.write("model/model.json", model.dump());
  EXPECT_EQ(lines(name_of(1, 0))[0]["probabilities"], without);
  model["tempers"]["corpus"]["frames"] = -1;
  folder.write("model/model.json", model.dump());
  expect_refused("classify model " + name_of(1, 0), {"model.json", "frames"});
}

TEST_F(SoftmaxModel, NamesNoClassBelowAConfidence) {
  train();
  const json plain = lines(name_of(1, 0))[0];
  double largest = 0;
  for (const auto& [name, p] : plain["probabilities"].items()) largest = std::max(largest, p.get<double>());
  ASSERT_LT(largest, 0.9999);
  const json rejected = lines(name_of(1, 0) + " --reject-below 0.9999")[0];
  EXPECT_TRUE(rejected["predicted"].is_null());
  EXPECT_EQ(rejected["rejected"], true);
  EXPECT_EQ(rejected["probabilities"], plain["probabilities"]);
  const json kept = lines(name_of(1, 0) + " --reject-below 0.1")[0];
  EXPECT_EQ(kept["predicted"], plain["predicted"]);
  EXPECT_EQ(kept["rejected"], false);
  EXPECT_FALSE(plain.contains("rejected"));
  expect_refused("classify model --reject-below 1.5 " + name_of(1, 0), {"--reject-below"});
}

// `classify` with the other recordings of a speaker as enrolment must predict what an evaluation predicts
// that leaves this speaker out. The bound is that of 160 draws, of which at least 40 are effective: 5
// standard errors of at most 0.08.
TEST_F(SoftmaxModel, DoesWhatAnEvaluationOfTheSameSpeakersDoes) {
  for (int take : {0, 1, 2, 3})
    for (int emotion : {0, 1, 2})
      folder.write("all/" + name_of(emotion, take).substr(4), wav_of(emotion, 6, take));
  std::filesystem::copy(
      folder / "corpus", folder / "all",
      std::filesystem::copy_options::recursive | std::filesystem::copy_options::skip_existing);
  const std::string fixed = " --set softmax.temper=0.5 --set softmax.prior_sds=[3]";
  const json scores =
      evaluate("--set corpus.path=all --output fold --set 'folds={test_speakers: [s6]}'" + fixed);
  train(fixed);
  const auto all = lines(all_names(4));
  std::map<std::string, json> by_name;
  for (const json& line : all) {
    const std::string file = line["file"];
    by_name[file.substr(4, file.size() - 8)] = line;
  }
  const auto rows = testing::csv(folder.read("fold/predictions.csv"));
  ASSERT_EQ(rows.size(), 13u);
  for (std::size_t i = 1; i < rows.size(); ++i)
    for (std::size_t k = 4; k < 7; ++k)
      EXPECT_NEAR(by_name.at(rows[i][0])["probabilities"][rows[0][k].substr(2)].get<double>(),
                  std::stod(rows[i][k]), 0.05)
          << rows[i][0];
}

TEST_F(SoftmaxModel, IsReproducible) {
  train("--threads 2");
  const std::string model = folder.read("model/model.json"), draws = folder.read("model/draws.npy");
  expect_refused("train config.yaml -o model -q", {"model", "--force"});
  train("--force --threads 1");
  EXPECT_TRUE(folder.read("model/draws.npy") == draws);
  EXPECT_TRUE(folder.read("model/model.json") == testing::replaced(model, "threads: 2", "threads: 1"));
  train("--force --seed 9");
  EXPECT_FALSE(folder.read("model/draws.npy") == draws);
}

TEST_F(SoftmaxModel, TakesSamplesFromStandardInput) {
  train();
  const std::string bytes = wav_of(1, 6, 0);
  folder.write("whole.raw", bytes.substr(bytes.size() - 2 * 8000));
  const auto streamed = [&](const std::string& arguments) {
    const auto result =
        folder.run("classify model -q --stdin " + arguments, "sh -c '\"$0\" \"$@\" <whole.raw'");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::vector<json> all;
    std::istringstream text(result.out);
    for (std::string line; std::getline(text, line);) all.push_back(json::parse(line));
    return all;
  };
  const auto all = streamed("--every 0.3");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1]["final"], true);
  EXPECT_EQ(all[1]["probabilities"], lines(name_of(1, 0))[0]["probabilities"]);
  EXPECT_EQ(all[1]["standardised_by"]["kind"], "corpus");
  const std::string from = "--speaker-from " + name_of(0, 1) + " " + name_of(2, 2);
  EXPECT_EQ(streamed(from)[0]["probabilities"], lines(name_of(1, 0) + " " + from)[0]["probabilities"]);
}

// Models of earlier versions have one prior sd, which model.json names for all draws.
TEST_F(SoftmaxModel, ClassifiesByModelsOfEarlierVersions) {
  train("--set softmax.prior_sds=[3]");
  const auto before = lines(all_names(4));
  json model = json::parse(folder.read("model/model.json"));
  ASSERT_EQ(model["prior_sds"], json::array({{{"prior_sd", 3.0}, {"draws", model["draws"]}}}));
  model["emomc_model"] = 2;
  model.erase("prior_sds");
  model["prior_sd"] = 3.0;
  folder.write("model/model.json", model.dump());
  EXPECT_EQ(lines(all_names(4)), before);
}

// The classifier keeps draws with each prior sd, whose numbers are the shares of the average.
TEST_F(SoftmaxModel, HasDrawsWithEachPriorSdOfTheAverage) {
  const auto trained =
      folder.run("train config.yaml -o model --set 'softmax.prior_sds=[2, 3]' --set softmax.temper=1");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  json model = json::parse(folder.read("model/model.json"));
  ASSERT_EQ(model["prior_sds"].size(), 2u);
  int sum = 0;
  for (const json& one : model["prior_sds"]) {
    sum += one["draws"].get<int>();
    EXPECT_NE(trained.out.find(one["draws"].dump() + " with prior sd " +
                               std::to_string(static_cast<int>(one["prior_sd"].get<double>()))),
              std::string::npos)
        << trained.out;
  }
  EXPECT_EQ(model["draws"], sum);
  // In directions that no training row has, weights are drawn with the prior sd of the draw: a model that
  // says otherwise gives other probabilities.
  const auto before = lines(all_names(4));
  for (json& one : model["prior_sds"]) one["prior_sd"] = 30;
  folder.write("model/model.json", model.dump());
  EXPECT_NE(lines(all_names(4)), before);
}

TEST_F(SoftmaxModel, RefusesWhatDoesNotFit) {
  train();
  const std::string good = name_of(1, 0);
  folder.write("slow.wav", wav_of(1, 6, 0, 8000));
  folder.write("short.wav", testing::Wav{.samples = std::vector<double>(50, 100.0)}.bytes());
  const auto all = lines("slow.wav short.wav nowhere.wav " + good, 2);
  ASSERT_EQ(all.size(), 4u);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_NE(all[i]["error"].get<std::string>().find(all[i]["file"].get<std::string>()), std::string::npos);
  EXPECT_NE(all[0]["error"].get<std::string>().find("16000"), std::string::npos) << all[0];
  EXPECT_EQ(all[3], lines(good)[0]);
  expect_refused("classify model -q " + good + " --backend cuda", {"--backend cuda", "CPU"});
  expect_refused("classify model -q --table x.csv", {"--table", "recordings"});
  expect_refused("classify model -q " + good + " --speaker-from nowhere.wav",
                 {"--speaker-from", "nowhere.wav"});
  expect_refused("classify model -q --group-by speaker --corpus emodb " + good, {"emodb"});
  const std::string model = folder.read("model/model.json"), draws = folder.read("model/draws.npy");
  const json right = json::parse(model);
  const auto change = [&](const std::string& key, const json& value, const std::string& word) {
    json wrong = right;
    wrong[json::json_pointer(key)] = value;
    folder.write("model/model.json", wrong.dump());
    expect_refused("classify model -q " + good, {"model.json", word});
  };
  change("/functionals/version", 99, "version 99");
  change("/columns/3", "other", "columns");
  change("/emomc_model", 1, "another version");
  change("/emomc_model", 4, "another version");
  change("/classes", json::array({"sad"}), "classes");
  change("/classes", json::array({"sad", "sad", "glad"}), "classes");
  change("/temperature", 0, "temperature");
  change("/tempers/five/temper", -1, "temper");
  change("/tempers", json::object(), "damaged");
  change("/corpus/within/0", -1, "variance");
  change("/corpus/mean", json::array({1}), "another length");
  change("/rank", 0, "rank");
  change("/rank", 1000000, "rank");
  change("/draws", 1000000000000, "draws");
  change("/draws", 159, "add up");
  change("/prior_sds", json::array(), "add up");
  change("/prior_sds/0/draws", 0, "add up");
  change("/prior_sds/0/draws", -1, "add up");
  change("/prior_sds/0/draws", 1000, "add up");
  change("/prior_sds/0/prior_sd", 0, "prior_sd");
  change("/prior_sds/0", 3, "damaged");
  json fewer = right;
  fewer["draws"] = 159;
  fewer["prior_sds"] = json::array({{{"prior_sd", 3}, {"draws", 159}}});
  folder.write("model/model.json", fewer.dump());
  expect_refused("classify model -q " + good, {"model.json", "another size"});
  change("/draws_sha256", "0", "damaged");
  change("/config", "corpus: {pth: x}", "corpus.pth");
  folder.write("model/model.json", model);
  folder.write("model/draws.npy", draws.substr(0, draws.size() - 8));
  expect_refused("classify model -q " + good, {"draws.npy"});
  std::filesystem::remove(folder / "model/draws.npy");
  expect_refused("classify model -q " + good, {"draws.npy", "emomc train"});
  expect_refused("classify nowhere -q " + good, {"nowhere"});
}

}  // namespace
}  // namespace emomc
