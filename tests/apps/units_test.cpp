// Tests columns that are far from 0, nearly constant or in extreme units, and priors in the data's own units.
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numbers>

#include "emomc/device/random.hpp"
#include "program.hpp"

namespace emomc {
namespace {

using nlohmann::json;

std::string digits(double x) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.17g", x);
  return text.data();
}

/// Returns rows of one column: `offset` plus standard normal numbers.
std::vector<double> column_at(double offset) {
  std::vector<double> x;
  for (std::uint32_t i = 0; i < 400; ++i)
    x.push_back(offset + device::RandomSource{5, i, 0}.normal(device::Purpose::simulation, 0));
  return x;
}

std::string csv_of(const std::vector<double>& x) {
  std::string text = "x\n";
  for (const double value : x) text += digits(value) + "\n";
  return text;
}

json parameter(const json& summary, const std::string& name) {
  for (const auto& one : summary["parameters"])
    if (one["name"] == name) return one;
  return {};
}

// A mean with a normal prior and known scales has a normal posterior. Each of 16 comparisons allows 6
// standard errors, which gives a false alarm with probability below 1e-7.
TEST(DataUnits, PosteriorsHaveTheirClosedFormFarFromZeroInBothPrecisions) {
  constexpr double kBound = 6, kPriorSd = 0.1;
  const testing::ProgramFolder folder;
  for (const double offset : {1e3, 1e5, 1e6, 1e8}) {
    const std::vector<double> x = column_at(offset);
    folder.write("data.csv", csv_of(x));
    double sum = 0;
    for (const double value : x) sum += value - offset;
    const double n = static_cast<double>(x.size()), precision = n + 1 / (kPriorSd * kPriorSd);
    const double mean = sum / precision, sd = 1 / std::sqrt(precision);  // the mean is relative to the offset
    for (const std::string kind : {"mixed", "double"}) {
      folder.write(
          "run.yaml",
          "data: {file: data.csv, standardize: false}\nlikelihood: {components: 1, precision: " + kind +
              "}\nprior: {means: {normal: {mean: " + digits(offset) + ", sd: 0.1}}, scales: {fixed: 1}}\n" +
              "sampler: {draws: 4000, warmup: 500}\noutput: {directory: run}\n");
      const auto run = folder.run("run run.yaml -q --force");
      ASSERT_EQ(run.exit_code, 0) << run.err;
      const json one = parameter(json::parse(folder.run("summary run --json").out), "means[0,0]");
      const double ulp = offset * 1e-15;  // draws are written in the data's units
      EXPECT_NEAR(one["mean"].get<double>() - offset, mean, kBound * one["mcse_mean"].get<double>() + ulp)
          << offset << " " << kind;
      EXPECT_NEAR(one["sd"], sd, kBound * one["mcse_sd"].get<double>() + ulp) << offset << " " << kind;
    }
  }
}

TEST(DataUnits, LogDensitiesOfDrawsAreThoseOfTheUnitsThatPriorsAreStatedIn) {
  const testing::ProgramFolder folder;
  const std::vector<double> x = column_at(1e5);
  folder.write("data.csv", csv_of(x));
  folder.write(
      "run.yaml",
      "data: {file: data.csv, standardize: false}\nlikelihood: {components: 1, precision: double}\n"
      "prior: {means: {normal: {mean: 100000, sd: 20}}, scales: {exponential: 0.5}, scale_floor: 0}\n"
      "sampler: {draws: 20, warmup: 100, chains: 1}\noutput: {directory: run}\n");
  ASSERT_EQ(folder.run("run run.yaml -q").exit_code, 0);
  ASSERT_EQ(folder.run("export run --format csv -o draws.csv").exit_code, 0);
  std::istringstream rows(folder.read("draws.csv"));
  std::string line;
  std::getline(rows, line);
  int count = 0;
  for (; std::getline(rows, line); ++count) {
    std::vector<double> values;
    std::stringstream fields(line);
    for (std::string field; std::getline(fields, field, ',');) values.push_back(std::stod(field));
    // The values are chain, draw, log_density, log_likelihood, log_prior, weight, mean and scale.
    const double mean = values.at(6), scale = values.at(7),
                 log_sqrt_two_pi = 0.5 * std::log(2 * std::numbers::pi);
    const double z = (mean - 1e5) / 20;
    const double prior = -0.5 * z * z - std::log(20.0) - log_sqrt_two_pi + std::log(0.5) - 0.5 * scale;
    EXPECT_NEAR(values.at(4), prior, 1e-9);
    double likelihood = 0;
    for (const double value : x) {
      const double t = (value - mean) / scale;
      likelihood += -0.5 * t * t - std::log(scale) - log_sqrt_two_pi;
    }
    EXPECT_NEAR(values.at(3), likelihood, 1e-6);
  }
  EXPECT_EQ(count, 20);
}

TEST(DataUnits, ColumnsWhoseSquaresFloat64CannotHoldAreRefusedByName) {
  const testing::ProgramFolder folder;
  folder.write("run.yaml", "data: {file: data.csv}\nlikelihood: {components: 1}\noutput: {directory: run}\n");
  folder.write("p.json", R"({"weights": [1], "means": [[1e200, 0]], "scales": [[1e200, 1]]})");
  for (const std::string unit : {"e200", "e-200"}) {
    folder.write("data.csv", "a,b\n1" + unit + ",1\n2" + unit + ",2\n3" + unit + ",4\n4" + unit + ",3\n");
    testing::expect_refused(folder, "check run.yaml", {"column a", "1e150", "1e-150"});
    testing::expect_refused(folder, "run run.yaml", {"column a"});
    testing::expect_refused(folder, "loglik --data data.csv --parameters p.json", {"column a"});
    EXPECT_FALSE(folder.exists("run"));
  }
}

TEST(DataUnits, ColumnsThatAreConstantButForRoundingAreNamedAndCountAsConstant) {
  const testing::ProgramFolder folder;
  std::string data = "a,b\n";
  for (int i = 0; i < 40; ++i)
    data += digits(14.62 + (i % 5) * 4e-15) + "," + std::to_string(i * i % 17) + "\n";
  folder.write("data.csv", data);
  folder.write("run.yaml", "data: {file: data.csv}\nlikelihood: {components: 1}\n");
  const auto check = folder.run("check run.yaml");
  EXPECT_EQ(check.exit_code, 0) << check.err;
  EXPECT_NE((check.out + check.err).find("constant columns (but for rounding), only centred: a\n"),
            std::string::npos)
      << check.out << check.err;
  const json fit = json::parse(folder.run("fit run.yaml -q --json").out);
  EXPECT_NEAR(fit["parameters"]["scales"][0][0], 0.001,
              1e-9);  // the floor of a column that is only centred
}

TEST(DataUnits, LoglikOfADensityOfZeroIsNotASuccess) {
  const testing::ProgramFolder folder;
  folder.write("data.csv", "a\n0\n1e9\n3\n");
  folder.write("p.json", R"({"weights": [1], "means": [[0]], "scales": [[1e-160]]})");
  const auto result = folder.run("loglik --data data.csv --parameters p.json");
  EXPECT_EQ(result.exit_code, 1) << result.out;
  EXPECT_NE(result.err.find("not finite"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace emomc
