// Tests `emomc features`, `train` and `classify` on synthetic recordings.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "emomc/speech/audio.hpp"
#include "libspeech/wav_bytes.hpp"
#include "program.hpp"

namespace emomc {
namespace {

using nlohmann::json;
using testing::ProgramFolder;
using testing::ProgramResult;
using testing::Wav;

/// Returns 16-bit samples. A "calm" recording is a tone of the speaker's pitch with weak noise; an "angry"
/// one has more noise with stronger high frequencies.
std::vector<double> samples_of(bool angry, int speaker, int take, double seconds = 0.6, int rate = 16000) {
  std::vector<double> samples;
  std::uint32_t state = static_cast<std::uint32_t>(1000 * speaker + 10 * take + angry);
  double before = 0;
  for (int n = 0; n < static_cast<int>(seconds * rate); ++n) {
    state = state * 1664525u + 1013904223u;
    const double noise = state / 4294967296.0 - 0.5, t = n / static_cast<double>(rate);
    const double pitch = 110 + 25 * speaker + 3 * take + 20 * std::sin(2 * std::numbers::pi * 3 * t);
    double x =
        (0.3 + 0.1 * std::sin(2 * std::numbers::pi * 2 * t)) * std::sin(2 * std::numbers::pi * pitch * t);
    x += angry ? 0.35 * (noise - 0.6 * before) : 0.03 * (noise + 0.9 * before);
    before = noise;
    samples.push_back(std::round(12000 * x));
  }
  return samples;
}

std::string wav_of(bool angry, int speaker, int take, double seconds = 0.6, int rate = 16000) {
  return Wav{.sample_rate = rate, .samples = samples_of(angry, speaker, take, seconds, rate)}.bytes();
}

std::string raw(const std::vector<double>& samples) {
  const std::string bytes = Wav{.samples = samples}.bytes();
  return bytes.substr(bytes.size() - 2 * samples.size());
}

constexpr const char* kConfig =
    "corpus: {kind: folders, path: corpus}\n"
    "features: {num_coefficients: 5}\n"
    "likelihood: {components: 2}\n"
    "classification: {temper: 0.05, draws: 20}\n"
    "sampler: {chains: 2, warmup: 50, draws: 20, thin: 2, seed: 3}\n"
    "threads: 1\n";

class Classify : public ::testing::Test {
 protected:
  ProgramFolder folder;

  void SetUp() override {
    if (!has_audio()) GTEST_SKIP() << "a build without libsndfile";
    for (int speaker : {1, 2, 3})
      for (int take : {0, 1, 2, 3})
        for (bool angry : {false, true})
          folder.write(name_of(angry, speaker, take), wav_of(angry, speaker, take));
    folder.write("config.yaml", kConfig);
  }
  static std::string name_of(bool angry, int speaker, int take) {
    return std::string("corpus/") + (angry ? "angry" : "calm") + "/s" + std::to_string(speaker) + "/take" +
           std::to_string(take) + ".wav";
  }
  void train(const std::string& more = "") {
    const auto result = folder.run("train config.yaml -o model -q " + more);
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
  void expect_refused(const std::string& arguments, const std::vector<std::string>& words) {
    testing::expect_refused(folder, arguments, words);
  }
  /// Returns the JSON lines of a call, one for each recording.
  std::vector<json> lines(const std::string& arguments, int exit_code = 0) {
    const auto result = folder.run("classify model -q " + arguments);
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    EXPECT_EQ(result.err, "");
    std::vector<json> all;
    std::istringstream text(result.out);
    for (std::string line; std::getline(text, line);) all.push_back(json::parse(line));
    return all;
  }
};

void expect_probabilities(const json& line) {
  for (const char* key : {"file", "predicted", "probabilities", "sd", "frames"})
    ASSERT_TRUE(line.contains(key)) << line.dump();
  ASSERT_EQ(line["probabilities"].size(), 2u);
  const double angry = line["probabilities"]["angry"], calm = line["probabilities"]["calm"];
  EXPECT_NEAR(angry + calm, 1, 1e-12);
  EXPECT_EQ(line["predicted"], angry >= calm ? "angry" : "calm");
  for (const char* name : {"angry", "calm"}) {
    EXPECT_GE(line["sd"][name].get<double>(), 0);
    EXPECT_LE(line["sd"][name].get<double>(), 0.5 * std::sqrt(20.0 / 19) + 1e-12);
  }
  EXPECT_GT(line["sd"]["calm"].get<double>(), 0);  // many draws have a spread
  EXPECT_GT(line["frames"].get<int>(), 0);
}

TEST_F(Classify, TellsTheRecordingsOfANewSpeakerApart) {
  train();
  for (const char* file : {"model.json", "draws.npy", "manifest.json"})
    EXPECT_TRUE(folder.exists(std::string("model/") + file)) << file;
  std::string files;
  for (int take : {0, 1, 2})
    for (bool angry : {false, true}) {
      const std::string name = std::string(angry ? "angry" : "calm") + std::to_string(take) + ".wav";
      folder.write(name, wav_of(angry, 5, 40 + take));
      files += " " + name;
    }
  const auto all = lines(files);
  ASSERT_EQ(all.size(), 6u);
  for (const json& line : all) {
    expect_probabilities(line);
    EXPECT_EQ(line["file"].get<std::string>().find(line["predicted"].get<std::string>()), 0u) << line.dump();
    EXPECT_EQ(line["frames"], 58);  // frames of 25 ms every 10 ms
  }
  // Only model.json and draws.npy are read.
  std::filesystem::create_directory(folder / "moved");
  for (const char* file : {"model.json", "draws.npy"})
    std::filesystem::rename(folder / (std::string("model/") + file), folder / (std::string("moved/") + file));
  const auto moved = folder.run("classify moved -q" + files);
  EXPECT_EQ(moved.exit_code, 0) << moved.err;
  EXPECT_EQ(json::parse(moved.out.substr(0, moved.out.find('\n'))), all[0]);
}

TEST_F(Classify, KnowsSpeakersByTheirRecordings) {
  train();
  // Two speakers, one of them much louder: normalising them together gives wrong results.
  std::string all_files, first_files;
  for (bool angry : {false, true})
    for (int take : {0, 1}) {
      for (int speaker : {7, 8}) {
        auto samples = samples_of(angry, speaker, take);
        if (speaker == 8)
          for (double& x : samples) x = std::round(x / 50);
        folder.write(name_of(angry, speaker, take), Wav{.samples = samples}.bytes());
        all_files += " " + name_of(angry, speaker, take);
      }
      first_files += " " + name_of(angry, 7, take);
    }
  const auto together = lines(all_files), apart = lines("--group-by speaker --corpus folders" + all_files),
             by_default = lines("--group-by speaker" + all_files), first = lines(first_files),
             from = lines("--speaker-from " + name_of(false, 7, 0) + " --speaker-from " +
                          name_of(false, 7, 1) + " --speaker-from " + name_of(true, 7, 0) +
                          " --speaker-from " + name_of(true, 7, 1) + " -- " + name_of(true, 7, 1));
  ASSERT_EQ(apart.size(), 8u);
  EXPECT_EQ(by_default, apart);  // the model's corpus is of kind folders
  EXPECT_NE(together, apart);
  for (std::size_t i = 0; i < 8; ++i) {
    expect_probabilities(apart[i]);
    const bool angry = i >= 4;
    EXPECT_EQ(apart[i]["predicted"], angry ? "angry" : "calm") << apart[i].dump();
    if (i % 2 == 0) {
      EXPECT_EQ(apart[i], first[i / 2]);
    }
  }
  ASSERT_EQ(from.size(), 1u);
  for (const char* key : {"probabilities", "sd"}) EXPECT_EQ(from[0][key], first[3][key]);
  EXPECT_EQ(from[0]["standardised_by"], (json{{"kind", "enrolment"}, {"recordings", 4}}));
  EXPECT_EQ(first[3]["standardised_by"], (json{{"kind", "own"}, {"recordings", 4}}));
  EXPECT_EQ(lines(name_of(true, 7, 1))[0]["standardised_by"],
            (json{{"kind", "recording"}, {"recordings", 1}}));
  // For a single recording the corpus's mean and sd count too.
  EXPECT_NE(lines(name_of(true, 7, 1))[0]["probabilities"], first[3]["probabilities"]);
  EXPECT_EQ(lines(name_of(true, 7, 1)), lines("--group-by speaker " + name_of(true, 7, 1)));
  expect_refused("classify model -q --group-by speaker --corpus emodb " + name_of(true, 7, 1), {"emodb"});
  expect_refused("classify model -q --group-by speaker --speaker-from a.wav b.wav", {"--group-by"});
  // A file that is named twice would be standardised by itself, and unused options would be ignored.
  const std::string name = name_of(true, 7, 1);
  expect_refused("classify model -q " + name + " " + name, {name + ": named twice"});
  expect_refused("classify model -q " + name + " ./" + name,
                 {"./" + name + ": the file of " + name + " too"});
  expect_refused(
      "classify model -q " + name + " --speaker-from " + name_of(true, 7, 0) + " " + name_of(true, 7, 0),
      {"--speaker-from: ", "named twice"});
  expect_refused("classify model -q --corpus folders " + name, {"--corpus", "--group-by speaker"});
  expect_refused("classify model -q --table-names x " + name, {"--table-names", "--table"});
  expect_refused("classify model -q --stdin --group-by speaker", {"--group-by", "one speaker"});
  expect_refused("classify model -q " + name_of(true, 7, 1) + " --speaker-from nowhere.wav",
                 {"--speaker-from", "nowhere.wav"});
}

TEST_F(Classify, RefusesOptionsAboutSpeakersThatAModelDoesNotUse) {
  train("--set features.normalize=corpus");
  const std::string name = name_of(true, 2, 1);
  EXPECT_EQ(lines(name)[0]["standardised_by"]["kind"], "corpus");
  expect_refused("classify model -q " + name + " --speaker-from " + name_of(true, 2, 0),
                 {"--speaker-from", "features.normalize: corpus", "remove the option"});
  expect_refused("classify model -q --group-by speaker " + name,
                 {"--group-by", "features.normalize: corpus"});
}

TEST_F(Classify, RecordingsThatCannotBeClassifiedHaveALineThatSaysWhy) {
  train();
  folder.write("short.wav", wav_of(true, 1, 0, 0.01));
  folder.write("silent.wav", Wav{.samples = std::vector<double>(9600, 0.0)}.bytes());
  folder.write("text.wav", "this is no recording\n");
  folder.write("slow.wav", wav_of(true, 1, 0, 0.6, 8000));
  std::string cut = wav_of(true, 1, 0);
  folder.write("cut.wav", cut.substr(0, cut.size() / 2));
  folder.write("none.wav", Wav{}.bytes());
  const std::string good = name_of(false, 1, 0) + " " + name_of(true, 1, 0);
  const std::string bad = " short.wav silent.wav text.wav slow.wav cut.wav none.wav nowhere.wav";
  const auto all = lines(good + bad, 2), alone = lines(good);
  ASSERT_EQ(all.size(), 9u);
  EXPECT_EQ(all[0], alone[0]);
  EXPECT_EQ(all[1], alone[1]);
  for (std::size_t i = 2; i < 9; ++i) {
    ASSERT_TRUE(all[i].contains("error")) << all[i].dump();
    EXPECT_EQ(all[i].size(), 2u);
    const std::string error = all[i]["error"], file = all[i]["file"];
    EXPECT_NE(error.find(file), std::string::npos) << error;
  }
  EXPECT_NE(all[5]["error"].get<std::string>().find("8000"), std::string::npos) << all[5].dump();
  EXPECT_NE(all[5]["error"].get<std::string>().find("16000"), std::string::npos) << all[5].dump();
  EXPECT_EQ(lines("short.wav", 2).size(), 1u);
}

// A recording has a copy under another name and label, in another sample format.
TEST_F(Classify, RecordingsThatRepeatOthersAreNamed) {
  const std::string copy = "corpus/calm/s2/copy.wav";
  std::filesystem::copy_file(folder / name_of(true, 1, 0), folder / copy);
  expect_refused("features --corpus folders corpus -o tables",
                 {"1 recording repeats another", copy + ": the same sound as ", name_of(true, 1, 0),
                  "angry of speaker s1"});
  EXPECT_FALSE(folder.exists("tables"));
  const auto result = folder.run("features --corpus folders corpus -o tables --unparsed skip");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE((result.out + result.err).find("repeats another, left out"), std::string::npos) << result.err;
  std::filesystem::remove(folder / copy);
  EXPECT_EQ(folder.run("features --corpus folders corpus -o all").exit_code, 0);
}

TEST_F(Classify, TakesSamplesFromStandardInput) {
  train();
  const std::string name = name_of(true, 2, 1);
  folder.write("whole.raw", raw(samples_of(true, 2, 1)));
  const auto with_input = [&](const std::string& arguments, const std::string& input) {
    return folder.run("classify model -q --stdin " + arguments, "sh -c '\"$0\" \"$@\" <" + input + "'");
  };
  const auto lines_of = [](const ProgramResult& result) {
    std::vector<json> all;
    std::istringstream text(result.out);
    for (std::string line; std::getline(text, line);) all.push_back(json::parse(line));
    return all;
  };
  auto result = with_input("--every 0.25", "whole.raw");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto all = lines_of(result);
  ASSERT_EQ(all.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    expect_probabilities(all[i]);
    EXPECT_NEAR(all[i]["seconds"].get<double>(), i < 2 ? 0.25 * static_cast<double>(i + 1) : 0.6, 1e-9);
    EXPECT_EQ(all[i]["final"], i == 2);
  }
  const json alone = lines(name)[0];
  EXPECT_EQ(all[2]["probabilities"], alone["probabilities"]);
  EXPECT_EQ(all[2]["sd"], alone["sd"]);
  EXPECT_EQ(all[2]["frames"], alone["frames"]);
  // Recordings of the same speaker determine the normalisation.
  const std::string from = "--speaker-from " + name + " --speaker-from " + name_of(false, 2, 0);
  result = with_input(from, "whole.raw");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(lines_of(result)[0]["probabilities"], lines(from + " -- " + name)[0]["probabilities"]);
  // An error of reading is not taken for the end of the input.
  result = folder.run("classify model -q --stdin", "sh -c '\"$0\" \"$@\" <corpus'");
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_NE(result.err.find("standard input: reading failed after 0 samples"), std::string::npos)
      << result.err;
  // A file with a header is refused, since it is not raw samples.
  result = with_input("", name);
  EXPECT_EQ(result.exit_code, 2) << result.out;
  EXPECT_EQ(result.out, "");
  EXPECT_NE(result.err.find("--stdin: a file that begins with 'RIFF'"), std::string::npos) << result.err;
  // Only the samples of the window count.
  folder.write("two.raw", raw(samples_of(false, 2, 0)) + raw(samples_of(true, 2, 1)));
  result = with_input("--window 0.6 --every 100", "two.raw");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(lines_of(result)[0]["probabilities"], alone["probabilities"]);
  EXPECT_NEAR(lines_of(result)[0]["seconds"].get<double>(), 1.2, 1e-9);
  // The recordings have an incomplete last sample, or too few samples.
  folder.write("odd.raw", raw(samples_of(true, 2, 1)) + "x");
  EXPECT_NE(folder.run("classify model --stdin", "sh -c '\"$0\" \"$@\" <odd.raw'")
                .err.find("its last byte is left out"),
            std::string::npos);
  result = with_input("", "odd.raw");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(lines_of(result)[0]["probabilities"], alone["probabilities"]);
  folder.write("few.raw", std::string(100, 'x'));
  result = with_input("", "few.raw");
  EXPECT_EQ(result.exit_code, 2);
  ASSERT_EQ(lines_of(result).size(), 1u);
  EXPECT_TRUE(lines_of(result)[0].contains("error")) << result.out;
  result = with_input("--rate 8000", "whole.raw");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");  // the fault is printed once and not in every line
  EXPECT_NE(result.err.find("--rate: 8000 Hz"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("16000"), std::string::npos) << result.err;
  expect_refused("classify model -q --stdin", {"--stdin", "no samples"});
  expect_refused("classify model -q --stdin " + name, {"--stdin", "choose one"});
  expect_refused("classify model -q", {"--stdin"});
}

// Samples that are quieter by 20 dB change the log odds of the classes only by their rounding, unless the
// gain is kept. The temper is so small that the log odds are not far from 0.
TEST_F(Classify, AQuieterRecordingIsTheSame) {
  std::vector<double> quiet = samples_of(true, 2, 1);
  for (double& x : quiet) x = std::round(x / 10);
  folder.write("quiet.wav", Wav{.samples = quiet}.bytes());
  const auto difference = [&] {
    const json loud = lines("--speaker-from " + name_of(false, 2, 0) + " -- " + name_of(true, 2, 1))[0],
               soft = lines("--speaker-from " + name_of(false, 2, 0) + " -- quiet.wav")[0];
    const auto log_odds = [](const json& line) {
      return std::log(line["probabilities"]["angry"].get<double>() /
                      line["probabilities"]["calm"].get<double>());
    };
    return std::abs(log_odds(loud) - log_odds(soft));
  };
  const std::string temper = "--set classification.temper=0.0005";
  train(temper);
  const double removed = difference();
  train(temper + " --set features.gain=kept --force");
  EXPECT_LT(removed, 0.1);
  EXPECT_GT(difference(), 5 * removed);
}

TEST_F(Classify, RefusesDamagedModels) {
  train();
  const std::string good = name_of(false, 1, 0), model = folder.read("model/model.json"),
                    draws = folder.read("model/draws.npy");
  const auto refuse = [&](const std::string& file) {
    expect_refused("classify model -q " + good, {file});
    folder.write("model/model.json", model);
    folder.write("model/draws.npy", draws);
  };
  std::string damaged = draws;
  damaged[damaged.size() - 20] = static_cast<char>(damaged[damaged.size() - 20] ^ 1);
  folder.write("model/draws.npy", damaged);
  refuse("draws.npy");
  folder.write("model/draws.npy", draws.substr(0, draws.size() - 8));
  refuse("draws.npy");
  folder.write("model/draws.npy", "");
  refuse("draws.npy");
  folder.write("model/model.json", model.substr(0, model.size() / 2));
  refuse("model.json");
  folder.write("model/model.json", "{}");
  refuse("model.json");
  folder.write("model/model.json", "[1, 2]");
  refuse("model.json");
  const json right = json::parse(model);
  const auto change = [&](const std::string& key, const json& value) {
    json wrong = right;
    wrong[key] = value;
    folder.write("model/model.json", wrong.dump());
    refuse("model.json");
  };
  change("emomc_model", 99);
  change("classes", json::array({"calm"}));
  change("classes", "calm");
  change("columns", json::array());
  change("columns", json::array({"a", "b"}));
  change("temper", 0);
  change("temper", -1);
  change("temper", nullptr);
  change("log_prior", json::array({0.0}));
  change("draws", 0);
  change("draws", -1);
  change("draws", 1000000000000);
  change("units", json{{"mean", {0, 0, 0, 0, 0}}, {"sd", {1, 1, 1, 1, 0}}});
  change("evidence", "product");
  change("config", "corpus: {pth: x}");
  change("sample_rate", "fast");
  std::filesystem::remove(folder / "model/draws.npy");
  expect_refused("classify model -q " + good, {"draws.npy", "emomc train"});
  expect_refused("classify nowhere -q " + good, {"nowhere"});
}

TEST_F(Classify, FeaturesAreTables) {
  const auto result =
      folder.run("features --corpus folders corpus -o tables --json --set num_coefficients=5");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json told = json::parse(result.out);
  EXPECT_EQ(told["utterances"], 24);
  EXPECT_EQ(told["frames"], 24 * 58);
  EXPECT_EQ(told["speakers"], (std::vector<std::string>{"s1", "s2", "s3"}));
  EXPECT_EQ(told["utterances_of_class"], json::parse(R"({"angry": 12, "calm": 12})"));
  ASSERT_EQ(told["columns"].size(), 5u);
  for (const char* file : {"angry_s1.csv", "calm_s3.csv"})
    EXPECT_TRUE(folder.exists(std::string("tables/") + file)) << file;
  // An evaluation gives the same results from the tables as from the recordings.
  const std::string how = " -q --set baseline=none";
  ASSERT_EQ(folder.run("evaluate config.yaml --output one" + how).exit_code, 0);
  std::string config = kConfig;
  config.replace(0, config.find('\n', config.find('\n') + 1), "corpus: {path: tables}");
  folder.write("tables.yaml", config);
  const auto tables = folder.run("evaluate tables.yaml --output two" + how);
  ASSERT_EQ(tables.exit_code, 0) << tables.err;
  const json one = json::parse(folder.read("one/scores.json")),
             two = json::parse(folder.read("two/scores.json"));
  EXPECT_EQ(one["posterior"]["confusion"], two["posterior"]["confusion"]);
  EXPECT_NEAR(one["posterior"]["log_loss"].get<double>(), two["posterior"]["log_loss"].get<double>(), 1e-6);
  EXPECT_GT(one["posterior"]["uar"].get<double>(), 0.8);
  expect_refused("features --corpus folders corpus -o tables", {"tables", "not empty", "--force"});
  expect_refused("features --corpus folders corpus -o new --set num_filtres=3",
                 {"num_filtres", "did you mean features.num_filters"});
  expect_refused("features --corpus folders corpus -o new --set num_filters=0", {"num_filters"});
  expect_refused("features --corpus folders nowhere -o new", {"nowhere"});
  expect_refused("features --corpus emodb corpus -o new", {"corpus"});
  expect_refused("features --corpus folders corpus -o new --set deltas=1", {"deltas"});
  EXPECT_FALSE(folder.exists("new"));
  // A model that was trained on tables has no record of how they were made from recordings.
  ASSERT_EQ(folder.run("train tables.yaml -o of_tables -q").exit_code, 0);
  expect_refused("classify of_tables -q " + name_of(true, 1, 1), {"tables"});
}

TEST_F(Classify, FeaturesWithForceRemoveWhatTheyReplace) {
  const std::string how = " -o tables --set num_coefficients=5 --unparsed skip";
  ASSERT_EQ(folder.run("features --corpus folders corpus" + how).exit_code, 0);
  std::filesystem::create_directories(folder / "other");
  std::filesystem::copy(folder / "corpus/calm", folder / "other/still",
                        std::filesystem::copy_options::recursive);
  folder.write("tables/own.csv", "mine");
  const auto result = folder.run("features --corpus folders other --force" + how);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("removed: 6 tables of an earlier call"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("holds 1 tables that emomc features did not write"), std::string::npos)
      << result.out;
  EXPECT_FALSE(folder.exists("tables/angry_s1.csv"));
  EXPECT_TRUE(folder.exists("tables/still_s1.csv"));
  EXPECT_EQ(folder.read("tables/own.csv"), "mine");
  // A record from an untrusted source must not remove a file outside the directory.
  folder.write("away.csv", "x");
  folder.write("tables/features.json", R"({"tables": ["../away.csv", 3, "own.csv.txt"]})");
  ASSERT_EQ(folder.run("features --corpus folders other --force" + how).exit_code, 0);
  EXPECT_TRUE(folder.exists("away.csv"));
}

TEST_F(Classify, RecordingsOfACorpusThatCannotBeUsedAreRefusedOrSkipped) {
  folder.write("corpus/calm/s1/silent.wav", Wav{.samples = std::vector<double>(9600, 0.0)}.bytes());
  folder.write("corpus/stray.wav", wav_of(true, 1, 1));
  expect_refused("train config.yaml -o model -q", {"stray.wav", "unparsed: skip"});
  expect_refused("features --corpus folders corpus -o tables -q", {"stray.wav", "unparsed: skip"});
  std::filesystem::remove(folder / "corpus/stray.wav");
  expect_refused("train config.yaml -o model -q", {"silent.wav", "unparsed: skip"});
  EXPECT_FALSE(folder.exists("model"));
  EXPECT_FALSE(folder.exists("tables"));
  folder.write("corpus/stray.wav", wav_of(true, 1, 1));
  train("--set corpus.unparsed=skip");
  const std::string log = folder.read("model/run.log");
  EXPECT_NE(log.find("stray.wav"), std::string::npos) << log;
  EXPECT_NE(log.find("silent.wav"), std::string::npos) << log;
  EXPECT_EQ(lines(name_of(true, 1, 1)).size(), 1u);
  // A recording without a frame is always left out.
  folder.write("corpus/calm/s2/short.wav", wav_of(false, 2, 1, 0.01));
  const auto result = folder.run(
      "features --corpus folders corpus -o tables --json --unparsed skip --set num_coefficients=5");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(json::parse(result.out)["utterances"], 24);
  EXPECT_NE(json::parse(result.out)["notes"].dump().find("short.wav"), std::string::npos);
}

TEST_F(Classify, TrainRefusesWhatIsThere) {
  train();
  const std::string before = folder.read("model/model.json");
  expect_refused("train config.yaml -o model -q", {"model", "--force"});
  EXPECT_EQ(folder.read("model/model.json"), before);
  train("--force");
  EXPECT_EQ(folder.read("model/model.json"), before);
  train("--force --seed 4");
  EXPECT_NE(folder.read("model/draws.npy"), "");
  EXPECT_NE(folder.read("model/model.json"), before);
}

// docs/corpora.md describes this case: SAVEE's recordings may be in a folder for each speaker, and their
// names do not contain the folder's name.
TEST_F(Classify, FindsASpeakerInTheNameOfTheFolder) {
  train();
  std::string files;
  for (const auto& [folder_name, speaker] : {std::pair<std::string, int>{"DC", 7}, {"JE", 8}})
    for (const bool angry : {false, true}) {
      const std::string name = folder_name + (angry ? "/a01.wav" : "/n01.wav");
      folder.write(name, wav_of(angry, speaker, 0));
      files += " " + name;
    }
  const auto of_savee = lines("--group-by speaker --corpus savee" + files);
  ASSERT_EQ(of_savee.size(), 4u);
  EXPECT_EQ(of_savee, lines("--group-by speaker --corpus folders" + files));
  folder.write("XY/a01.wav", wav_of(true, 7, 0));
  expect_refused("classify model -q --group-by speaker --corpus savee XY/a01.wav", {"XY/a01.wav", "savee"});
  expect_refused("classify model -q --group-by speaker --corpus saveee DC/a01.wav", {"saveee"});
}

// The allowed values of a setting depend on the sample rate: 12 kHz is allowed at 48 kHz, but not at 16 kHz.
TEST_F(Classify, SettingsAreCheckedAtTheSampleRateOfTheCorpus) {
  testing::expect_refused(folder, "features --corpus folders corpus -o tables --set high_hz=12000",
                          {"high_hz", "8000"});
  EXPECT_FALSE(folder.exists("tables"));
  for (int speaker : {1, 2, 3})
    for (int take : {0, 1, 2, 3})
      for (bool angry : {false, true})
        folder.write(name_of(angry, speaker, take), wav_of(angry, speaker, take, 0.2, 48000));
  const auto result = folder.run("features --corpus folders corpus -o tables --set high_hz=12000");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  testing::expect_refused(folder, "features --corpus folders corpus -o other --set high_hz=25000",
                          {"high_hz", "24000"});
}

}  // namespace
}  // namespace emomc
