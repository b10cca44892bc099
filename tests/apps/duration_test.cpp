// Tests the probabilities of mixtures for utterances that are cut to a shorter length.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "emomc/device/random.hpp"
#include "evaluation_report.hpp"
#include "evaluation_report_data.hpp"
#include "program.hpp"

namespace emomc::testing {
namespace {

using nlohmann::json;

// Frames of an utterance share an offset, which a mixture of frames ignores. The mixture is therefore too
// sure about a short part of an utterance.
void write_corpus(const ProgramFolder& folder) {
  const std::vector<std::string> emotions{"calm", "glad", "cross"};
  for (std::uint32_t speaker = 0; speaker < 5; ++speaker)
    for (std::uint32_t e = 0; e < 3; ++e) {
      std::string text = "utterance,frame,x\n";
      for (std::uint32_t u = 0; u < 16; ++u) {
        const device::RandomSource random{100 * speaker + 20 * e + u, 0, 7};
        const double offset = 0.25 * random.normal(device::Purpose::start, 0);
        for (std::uint32_t t = 0; t < 110; ++t)
          text += std::to_string(u) + "," + std::to_string(t) + "," +
                  std::to_string(0.35 * (e - 1.0) + offset + random.normal(device::Purpose::start, t + 1)) +
                  "\n";
      }
      folder.write("corpus/" + emotions[e] + "_s" + std::to_string(speaker) + ".csv", text);
    }
  folder.write("config.yaml",
               "corpus: {path: corpus}\nlikelihood: {components: 1}\nfeatures: {deltas: 0}\nbaseline: none\n"
               "sampler: {chains: 2, warmup: 30, draws: 20}\nthreads: 1\noutput: {directory: run}\n");
}

TEST(Duration, ShortUtterancesAreGivenLessCertainProbabilities) {
  const ProgramFolder folder;
  write_corpus(folder);
  const auto evaluate = [&](const std::string& more) {
    const auto result = folder.run("evaluate config.yaml -q --json --force " + more);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.exit_code == 0 ? json::parse(result.out)["posterior"] : json();
  };
  const json learned = evaluate(""), mean = evaluate("--set classification.evidence=mean");
  ASSERT_TRUE(learned.contains("cut_to_frames"));
  ASSERT_EQ(learned["cut_to_frames"].size(), 3u);  // no utterance has 200 frames
  const std::vector<int> lengths{20, 50, 100};
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const json &ours = learned["cut_to_frames"][i], &theirs = mean["cut_to_frames"][i];
    EXPECT_EQ(ours["frames"], lengths[i]);
    EXPECT_EQ(ours["utterances"], 240);
    const double accuracy = ours["accuracy"], confidence = ours["confidence"];
    // The bound is 5 standard errors of an accuracy of 240 utterances.
    EXPECT_NEAR(confidence, accuracy, 5 * std::sqrt(accuracy * (1 - accuracy) / 240));
    EXPECT_LE(ours["log_loss"], theirs["log_loss"]);
  }
  // The offset's variance of 1/16 is the variance of the mean of 16 frames, so that n0 should be near 16.
  for (const json& n0 : learned["damping_frames_of_fold"]) {
    EXPECT_GT(n0, 4);
    EXPECT_LT(n0, 64);
  }
  for (const json& n0 : mean["damping_frames_of_fold"]) EXPECT_EQ(n0, 0);
  const json &ours = learned["cut_to_frames"][0], &theirs = mean["cut_to_frames"][0];
  EXPECT_LT(ours["confidence"].get<double>(), theirs["confidence"].get<double>() - 0.05);
  EXPECT_NEAR(learned["log_loss"].get<double>(), mean["log_loss"].get<double>(), 0.01);
}

TEST(Duration, ReportsNameTheMethodWhoseUtterancesAreCut) {
  const ProgramFolder folder;
  write_corpus(folder);
  const auto mixtures = folder.run("evaluate config.yaml");
  ASSERT_EQ(mixtures.exit_code, 0) << mixtures.err;
  EXPECT_NE(mixtures.out.find("\ncut to frames"), std::string::npos) << mixtures.out;
  const auto product = folder.run(
      "evaluate config.yaml --output product --set classifier=fused --set softmax.draws=60 --set "
      "softmax.warmup=40");
  ASSERT_EQ(product.exit_code, 0) << product.err;
  EXPECT_NE(product.out.find("\nmixtures, cut to frames"), std::string::npos) << product.out;
  EXPECT_EQ(product.out.find("\ncut to frames"), std::string::npos) << product.out;
  if (!app::has_evaluation_report()) GTEST_SKIP() << "a build without libjs-chart.js";
  for (const auto& [directory, method] : {std::pair{"run", "posterior"}, {"product", "mixtures"}}) {
    const json data = app::evaluation_report_data(folder / directory);
    ASSERT_EQ(data["cuts"].size(), 3u) << directory;
    const json cut =
        json::parse(folder.read(std::string(directory) + "/scores.json"))[method]["cut_to_frames"][1];
    EXPECT_EQ(data["cuts"][1]["method"], method);
    for (const char* key : {"frames", "utterances", "accuracy", "confidence", "uar", "log_loss"})
      EXPECT_EQ(data["cuts"][1][key], cut[key]) << key;
  }
}

}  // namespace
}  // namespace emomc::testing
