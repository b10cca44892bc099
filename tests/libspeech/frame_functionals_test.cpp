#include "emomc/speech/frame_functionals.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

namespace emomc {
namespace {

nlohmann::json by_numpy() {
  std::ifstream file(EMOMC_SOURCE_DIR "/tests/libspeech/data/frame_functionals.json");
  return nlohmann::json::parse(file);
}

FeatureSet frames_of(const nlohmann::json& json) {
  FeatureSet frames;
  frames.columns = json["columns"].get<std::vector<std::string>>();
  for (const auto& one : json["utterances"]) {
    const std::string speaker = one["speaker"], emotion = one["emotion"];
    frames.utterances.push_back({speaker + "_" + emotion + "_" + std::to_string(one["take"].get<int>()),
                                 speaker, emotion, frames.num_rows(), one["frames"].size()});
    for (const auto& frame : one["frames"])
      for (const double x : frame) frames.values.push_back(x);
  }
  return frames;
}

TEST(FrameFunctionals, AgreeWithNumPy) {
  const nlohmann::json json = by_numpy();
  const FunctionalTable table = frame_functionals(frames_of(json));
  ASSERT_EQ(table.columns.size(), 20u);
  EXPECT_EQ(table.columns[0], "c0.mean");
  EXPECT_EQ(table.columns[9], "c1.p90");
  EXPECT_EQ(table.columns[11], "d_c0.sd");
  ASSERT_EQ(table.rows.size(), json["utterances"].size());
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const auto& one = json["utterances"][i];
    EXPECT_EQ(table.rows[i].speaker, one["speaker"].get<std::string>());
    EXPECT_EQ(table.rows[i].emotion, one["emotion"].get<std::string>());
    for (std::size_t j = 0; j < 20; ++j)
      EXPECT_NEAR(table.values[i * 20 + j], one["functionals"][j].get<double>(), 1e-12)
          << table.columns[j] << " of " << table.rows[i].id;
  }
}

TEST(FrameFunctionals, OfThirteenCepstraAreAHundredAndThirty) {
  std::vector<std::string> columns;
  for (int i = 0; i < 13; ++i) columns.push_back("c" + std::to_string(i));
  EXPECT_EQ(frame_functional_names(columns).size(), 130u);
}

TEST(FrameFunctionals, OfFewerThanThreeFramesAreNotDefined) {
  FeatureSet frames{{"x"}, {1, 2, 4, 8, 16}, {{"short", "A", "calm", 0, 2}, {"long", "A", "calm", 2, 3}}};
  const FunctionalTable table = frame_functionals(frames);
  ASSERT_EQ(table.values.size(), 20u);
  for (std::size_t j = 0; j < 10; ++j) {
    EXPECT_TRUE(std::isnan(table.values[j])) << table.columns[j];
    EXPECT_TRUE(std::isfinite(table.values[10 + j])) << table.columns[j];
  }
  EXPECT_NEAR(table.values[10], 28.0 / 3, 1e-12);
}

}  // namespace
}  // namespace emomc
