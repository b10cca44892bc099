// Tests the error of mixed precision that `check` and `run` measure for likelihoods of the user's own.
#include <cmath>
#include <nlohmann/json.hpp>

#include "emomc/device/random.hpp"
#include "program.hpp"

namespace emomc {
namespace {

using nlohmann::json;

class MixedPrecision : public ::testing::Test {
 protected:
  static constexpr int kRows = 5000;
  testing::ProgramFolder folder;

  void write_rows(double offset) {
    std::string text = "x\n";
    for (std::uint32_t i = 0; i < kRows; ++i)
      text += std::to_string(offset + device::RandomSource{5, i, 0}.normal(device::Purpose::simulation, 0)) +
              "\n";
    folder.write("x.csv", text);
  }
  void write_config(double offset, const std::string& more = ", precision: mixed") {
    folder.write("c.yaml",
                 "data: {file: x.csv}\n"
                 "likelihood: {log_density: \"normal_lpdf(x, m, s)\", parameters: {m: {}, s: {support: "
                 "positive}}" +
                     more + "}\nprior: {m: {normal: {mean: " + std::to_string(offset) +
                     ", sd: 10}}, s: {half_normal: 5}}\n"
                     "sampler: {warmup: 300, draws: 200, seed: 2}\noutput: {directory: run}\n");
  }
  json check() {
    const auto result = folder.run("check c.yaml --json");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return json::parse(result.out);
  }
  double log_likelihood(double m, double s, const std::string& precision) {
    folder.write("p.json", json{{"m", m}, {"s", s}}.dump());
    const auto result =
        folder.run("loglik --config c.yaml --parameters p.json --json --precision " + precision);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return json::parse(result.out)["log_likelihood"];
  }
};

// At the mode, (0, 1), the posterior sds are 1 / sqrt(N) and 1 / sqrt(2 N). Pairs of points 2.38 sds apart,
// evaluated by `loglik`, must have errors of the size that `check` reports. The ratio of the two RMS of 8 and
// 16 errors is outside 1/5 to 5 with a probability below 1e-6 for normal errors.
TEST_F(MixedPrecision, IsThatOfPairsOfPointsByLoglik) {
  write_rows(0);
  write_config(0);
  const json measured = check()["mixed_precision"];
  ASSERT_EQ(measured["pairs"], 16);
  EXPECT_EQ(measured["not_finite"], 0);
  double squares = 0;
  for (int i = 0; i < 8; ++i) {
    const double angle = 0.1 + i * 0.39, m = 1.19 * std::cos(angle) / std::sqrt(kRows),
                 s = 1.19 * std::sin(angle) / std::sqrt(2 * kRows);
    double error = 0;
    for (const double side : {-1, 1})
      error += side * (log_likelihood(side * m, 1 + side * s, "mixed") -
                       log_likelihood(side * m, 1 + side * s, "double"));
    squares += error * error / 8;
  }
  const double rms = measured["rms"], largest = measured["largest"], mean = measured["mean"];
  EXPECT_GT(rms, std::sqrt(squares) / 5);
  EXPECT_LT(rms, std::sqrt(squares) * 5);
  EXPECT_LE(mean, rms);
  EXPECT_LE(rms, largest);
  EXPECT_LE(largest, 4 * rms);
  EXPECT_LT(rms, 0.01);
}

TEST_F(MixedPrecision, IsSaidByCheckAndRunAndIsInTheManifest) {
  write_rows(0);
  write_config(0);
  const std::string words = "mixed precision: differences of log densities a step apart are off by ";
  EXPECT_NE(folder.run("check c.yaml").out.find(words), std::string::npos);
  const auto run = folder.run("run c.yaml");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.err.find(words), std::string::npos) << run.err;
  const json manifest = json::parse(folder.read("run/manifest.json"));
  EXPECT_EQ(manifest["mixed_precision"], check()["mixed_precision"]);
  const auto longer = folder.run("run c.yaml --resume --set sampler.draws=300");
  ASSERT_EQ(longer.exit_code, 0) << longer.err;
  EXPECT_EQ(longer.err.find(words), std::string::npos) << longer.err;
  EXPECT_EQ(json::parse(folder.read("run/manifest.json"))["mixed_precision"], manifest["mixed_precision"]);
}

TEST_F(MixedPrecision, IsNotMeasuredWhereThereIsNone) {
  write_rows(0);
  write_config(0, "");
  EXPECT_FALSE(check().contains("mixed_precision"));
  write_config(0, ", precision: double");
  EXPECT_FALSE(check().contains("mixed_precision"));
  write_config(0);
  const auto interpreted = folder.run("check c.yaml --json --backend reference");
  ASSERT_EQ(interpreted.exit_code, 0) << interpreted.err;
  EXPECT_FALSE(json::parse(interpreted.out).contains("mixed_precision"));
}

// float32 represents rows near 1e6 with an error of up to 0.03.
TEST_F(MixedPrecision, AWarningSaysWhereItIsTooLarge) {
  write_rows(1e6);
  write_config(1e6);
  EXPECT_GT(check()["mixed_precision"]["rms"].get<double>(), 0.01);
  const std::string words = "warning: likelihood.precision: mixed: differences of log densities";
  const auto checked = folder.run("check c.yaml");
  EXPECT_NE(checked.out.find(words), std::string::npos) << checked.out;
  EXPECT_NE(checked.out.find("likelihood.precision: double has no such error"), std::string::npos);
  const auto run = folder.run("run c.yaml");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.err.find(words), std::string::npos) << run.err;
}

// The largest float32 is near exp(88.7). Densities near the mode, m = 60, exceed this, but not the densities
// at the starts.
TEST_F(MixedPrecision, DensitiesThatAreNotFiniteAreSaid) {
  std::string text = "x\n";
  for (int i = 0; i < 50; ++i) text += std::to_string(59.8 + i % 5 / 10.0) + "\n";
  folder.write("x.csv", text);
  folder.write("c.yaml",
               "data: {file: x.csv}\n"
               "likelihood: {log_density: \"-square(log(exp(m + x) * exp(m - x)) - 2 * x)\", parameters: {m: "
               "{}}, precision: mixed}\n"
               "prior: {m: {normal: {mean: 10, sd: 10}}}\nsampler: {chains: 2}\n");
  const auto checked = folder.run("check c.yaml");
  ASSERT_EQ(checked.exit_code, 0) << checked.err;
  EXPECT_NE(checked.out.find(
                "warning: likelihood.precision: mixed: the log density is not finite in 16 of 16 pairs"),
            std::string::npos)
      << checked.out;
}

}  // namespace
}  // namespace emomc
