// Tests likelihoods that a C++ header defines (likelihood.source): they run only where code is allowed, and
// give the same results as an expression of the same density.
#include <cmath>
#include <nlohmann/json.hpp>

#include "program.hpp"

namespace emomc {
namespace {

using testing::expect_refused;
using testing::ProgramFolder;
using testing::ProgramResult;
using testing::replaced;

const std::string kHeader = R"(#include "emomc/device/density.hpp"
#include "emomc/device/expression_calls.hpp"
namespace mine {
struct Fit {
  static constexpr const char* name = "mine::Fit";
  static constexpr int num_columns = 2;
  static constexpr emomc::device::ParameterDescription parameters[] = {
      {"a"}, {"s", emomc::device::Support::positive}, {"b", emomc::device::Support::real, 2}};
  template <class T, class Coefficients, class Row>
  EMOMC_HD T log_density(const Coefficients& c, const Row& x) const {
    namespace f = emomc::device::calls;
    const T z = (x[1] - (c[0] + c[2] * x[0] + c[3] * f::exp(x[0]))) / c[1];
    return T(-0.5) * z * z - f::log(c[1]) - T(0.91893853320467274);
  }
};
}  // namespace mine
)";
const std::string kConfig = R"yaml(data: {file: x.csv}
likelihood:
  source: fit.hpp
  type: mine::Fit
  columns: [x, y]
  parameters: {a: {}, s: {support: positive}, b: {shape: [2]}}
  derived: {v: "s * s"}
  rows: {line: "a + b[0] * x"}
prior: {a: {normal: {mean: 0, sd: 5}}, s: {half_normal: 5}, b: {normal: {mean: 0, sd: 5}}}
)yaml";
const std::string kExpression = R"yaml(data: {file: x.csv}
likelihood:
  parameters: {a: {}, s: {support: positive}, b: {shape: [2]}}
  log_density: "normal_lpdf(y, a + b[0] * x + b[1] * exp(x), s)"
prior: {a: {normal: {mean: 0, sd: 5}}, s: {half_normal: 5}, b: {normal: {mean: 0, sd: 5}}}
)yaml";

class Code : public ::testing::Test {
 protected:
  Code() {
    std::string rows = "y,w,x\n";
    for (int i = 0; i < 70; ++i) {
      const double x = (i * 37 % 70) / 35.0 - 1;
      rows += std::to_string(0.5 + 1.5 * x + 0.3 * std::sin(9.0 * i)) + "," + std::to_string(i % 3) + "," +
              std::to_string(x) + "\n";
    }
    folder.write("x.csv", rows);
    folder.write("fit.hpp", kHeader);
    folder.write("c.yaml", kConfig);
    folder.write("e.yaml", kExpression);
    folder.write("p.json", R"({"a": 0.4, "s": 0.7, "b": [1.2, 0.1]})");
  }
  double log_likelihood(const std::string& arguments) const {
    const ProgramResult result = folder.run("loglik --parameters p.json --json --config " + arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.exit_code == 0 ? nlohmann::json::parse(result.out).at("log_likelihood").get<double>() : NAN;
  }
  ProgramFolder folder;
};

TEST_F(Code, RunsOnlyWhereItIsAllowed) {
  const std::vector<std::string> words{"c.yaml:3: likelihood.source: fit.hpp is code", "--allow-code",
                                       "EMOMC_ALLOW_CODE=1"};
  for (const char* command : {"check c.yaml", "run c.yaml", "loglik --config c.yaml --parameters p.json",
                              "bench --config c.yaml --method cpu"})
    expect_refused(folder, command, words);
  EXPECT_FALSE(folder.exists("runs"));
  EXPECT_EQ(folder.shell("EMOMC_ALLOW_CODE=0 $EMOMC check c.yaml").exit_code, 2);
  EXPECT_EQ(folder.shell("EMOMC_ALLOW_CODE=1 $EMOMC check c.yaml").exit_code, 0);
  // A configuration cannot allow its own code.
  folder.write("d.yaml", kConfig + "allow_code: true\n");
  expect_refused(folder, "check d.yaml", {"allow_code: unknown key"});
}

TEST_F(Code, HasTheDensityOfTheSameExpression) {
  const double expected = log_likelihood("e.yaml --backend reference");
  for (const char* backend : {"reference", "cpu"})
    EXPECT_NEAR(log_likelihood("c.yaml --allow-code --backend " + std::string(backend)), expected,
                1e-13 * std::abs(expected));
  EXPECT_NEAR(log_likelihood("c.yaml --allow-code --backend cpu --precision mixed"), expected,
              1e-5 * std::abs(expected));
  folder.write("c.yaml", replaced(kConfig, "x.csv", "x.csv, weights: w"));
  folder.write("e.yaml", replaced(kExpression, "x.csv", "x.csv, weights: w"));
  const double weighted = log_likelihood("e.yaml --backend reference");
  EXPECT_GT(std::abs(weighted - expected), 0.1);
  for (const char* backend : {"reference", "cpu"})
    EXPECT_NEAR(log_likelihood("c.yaml --allow-code --backend " + std::string(backend)), weighted,
                1e-13 * std::abs(weighted));
}

TEST_F(Code, HasTheGradientOfTheSameExpression) {
  const auto gradient = [&](const std::string& arguments) {
    const ProgramResult result = folder.run("gradient --at p.json " + arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return nlohmann::json::parse(result.out).at("gradient").get<std::vector<double>>();
  };
  const std::vector<double> expected = gradient("e.yaml --backend reference");
  for (const char* backend : {"reference", "cpu"}) {
    const auto actual = gradient("c.yaml --allow-code --backend " + std::string(backend));
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(actual[i], expected[i], 1e-11 * (1 + std::abs(expected[i]))) << i;
  }
  const std::string sampler = " -q --set sampler.proposal.kind=nuts sampler.warmup=200 sampler.draws=200";
  const ProgramResult run = folder.run("run c.yaml --allow-code --output run" + sampler);
  EXPECT_EQ(run.exit_code, 0) << run.err;

  // A function of the standard library does not accept dual numbers.
  folder.write("fit.hpp", replaced(replaced(kHeader, "f::log(c[1])", "std::log(c[1])"), "#include",
                                   "#include <cmath>\n#include"));
  expect_refused(folder, "gradient c.yaml --allow-code",
                 {"there is no gradient", "cannot be differentiated", "fit.hpp:14"});
  expect_refused(folder, "run c.yaml --allow-code --output other" + sampler, {"nuts needs a gradient"});
  const ProgramResult walk =
      folder.run("run c.yaml --allow-code --output walk -q --set sampler.warmup=50 sampler.draws=50");
  EXPECT_EQ(walk.exit_code, 0) << walk.err;
}

// The result of prepare() is part of each row's log density and is therefore multiplied by the row's weight,
// too.
TEST_F(Code, HasTheDensityOfTheSameExpressionWherePartsArePrepared) {
  std::string header =
      replaced(kHeader, "  template <class T, class Coefficients, class Row>",
               "  static constexpr int num_coefficients = 4;\n"
               "  template <class Team>\n"
               "  EMOMC_HD double prepare(const Team& team, const double* t, double* c) const {\n"
               "    for (int i = team.rank(); i < 4; i += team.size()) c[i] = t[i];\n"
               "    return -emomc::device::log(t[1]) - 0.91893853320467274;\n"
               "  }\n"
               "  template <class T, class Coefficients, class Row>");
  folder.write("fit.hpp", replaced(header, " - f::log(c[1]) - T(0.91893853320467274)", ""));
  for (const char* data : {"x.csv", "x.csv, weights: w"}) {
    folder.write("c.yaml", replaced(kConfig, "x.csv", data));
    folder.write("e.yaml", replaced(kExpression, "x.csv", data));
    const double expected = log_likelihood("e.yaml --backend reference");
    for (const char* backend : {"reference", "cpu"})
      EXPECT_NEAR(log_likelihood("c.yaml --allow-code --backend " + std::string(backend)), expected,
                  1e-13 * std::abs(expected))
          << data;
  }
}

TEST_F(Code, RunsGoOnAndAreComparedWithTheHeaderThatTheyWereMadeWith) {
  const std::string sizes = " --allow-code -q --set sampler.warmup=100 --set sampler.chains=2";
  ASSERT_EQ(folder.run("run c.yaml -o whole --set sampler.draws=60" + sizes).exit_code, 0);
  const std::string table = folder.run("export whole --format csv -o -").out;
  EXPECT_EQ(folder.read("whole/likelihood_source.hpp"), kHeader);
  // Commands that need no density need no permission to run code.
  EXPECT_EQ(folder.run("summary whole").exit_code, 0);
  EXPECT_NE(folder.run("predict whole --draws 10").out.find("line_q95"), std::string::npos);
  expect_refused(folder, "compare whole", {"whole/likelihood_source.hpp is code"});
  folder.write("fit.hpp", "#error the user has changed it\n");
  EXPECT_NE(folder.run("compare whole --allow-code").out.find("elpd"), std::string::npos);
  expect_refused(folder, "run c.yaml -o whole --resume --set sampler.draws=90" + sizes,
                 {"fit.hpp:1:2: error"});
  folder.write("fit.hpp", replaced(kHeader, "T(-0.5)", "T(-0.6)"));
  expect_refused(folder, "run c.yaml -o whole --resume --set sampler.draws=90" + sizes, {"likelihood"});
  folder.write("fit.hpp", kHeader);
  EXPECT_EQ(folder.run("run c.yaml -o whole --resume --set sampler.draws=90" + sizes).exit_code, 0);
}

TEST_F(Code, FaultsOfAHeaderAreNamed) {
  const auto expect_header_refused = [&](const std::string& from, const std::string& to,
                                         const std::vector<std::string>& words) {
    folder.write("fit.hpp", replaced(kHeader, from, to));
    expect_refused(folder, "run c.yaml --allow-code", words);
  };
  expect_header_refused("f::exp(x[0])", "f::exq(x[0])", {"fit.hpp:12:", "error:", "exq"});
  expect_header_refused("struct Fit", "struct Fot", {"fit.hpp: it does not compile as a likelihood", "Fit"});
  expect_header_refused("T log_density", "T log_densty", {"fit.hpp: it does not compile as a likelihood"});
  expect_header_refused("num_columns = 2", "num_columns = 3",
                        {"fit.hpp: mine::Fit has 3 columns, and likelihood.columns names 2"});
  expect_header_refused("real, 2}", "real, 3}",
                        {"declares the parameters a (real), s (positive), b (real, shape [3])",
                         "the configuration a (real), s (positive), b (real, shape [2])"});
  folder.write("fit.hpp", kHeader);
  const auto expect_config_refused = [&](const std::string& from, const std::string& to,
                                         const std::vector<std::string>& words) {
    folder.write("c.yaml", replaced(kConfig, from, to));
    expect_refused(folder, "run c.yaml --allow-code", words);
  };
  expect_config_refused("source: fit.hpp", "source: none.hpp", {"none.hpp", "cannot be read"});
  expect_config_refused("mine::Fit", "\"mine; Fit\"",
                        {"c.yaml:4: likelihood.type", "not the name of a C++ type"});
  expect_config_refused("  columns: [x, y]\n", "", {"likelihood.columns is missing"});
  expect_config_refused("[x, y]", "[x, z]", {"z"});
  expect_config_refused("  type", "  log_density: \"normal_lpdf(x, a, s)\"\n  type",
                        {"c.yaml:3: likelihood.source", "there is likelihood.log_density too"});
  expect_config_refused("source: fit.hpp", "log_density: \"normal_lpdf(x, a, s)\"",
                        {"likelihood.type", "write likelihood.source"});
  EXPECT_FALSE(folder.exists("runs"));
}

TEST_F(Code, ADebugBuildKeepsItsTextAndHasTheSameDensity) {
  const double expected = log_likelihood("c.yaml --allow-code --backend cpu");
  const ProgramResult result = folder.shell(
      "EMOMC_CACHE_DIR=$PWD/cache $EMOMC loglik --config c.yaml --parameters p.json --json --allow-code "
      "--debug-build");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NEAR(nlohmann::json::parse(result.out).at("log_likelihood").get<double>(), expected,
              1e-13 * std::abs(expected));
  EXPECT_EQ(folder.shell("ls cache/host/*.src/likelihood.cpp | wc -l").out, "1\n");
  EXPECT_NE(folder.shell("grep -c debug_info cache/host/*.so").out, "0\n") << "no debug information";
}

// The test compares docs/examples/likelihoods/orbit.yaml with the same formula, computed with many steps of
// bisection instead of Newton's method.
TEST_F(Code, TheOrbitOfTheExamplesHasTheFormulasDensity) {
  const std::string source = EMOMC_SOURCE_DIR;
  folder.shell("ln -s '" + source + "/docs' docs");
  folder.write("p.json",
               R"({"period": 12.4, "phase": 0.3, "eccentricity": 0.45, "amplitude": 50, "omega": 0.7,
                   "velocity": 8, "jitter": 4})");
  std::istringstream rows(folder.read("docs/examples/likelihoods/data/velocities.csv"));
  std::string line;
  std::getline(rows, line);
  double expected = 0;
  for (double t, v, error; std::getline(rows, line);) {
    ASSERT_EQ(std::sscanf(line.c_str(), "%lf,%lf,%lf", &t, &v, &error), 3);
    const double turns = t / 12.4 + 0.3, mean = 2 * M_PI * (turns - std::floor(turns)), e = 0.45;
    double low = 0, high = 2 * M_PI;
    for (int i = 0; i < 100; ++i) {
      const double E = (low + high) / 2;
      (E - e * std::sin(E) < mean ? low : high) = E;
    }
    const double nu =
        2 * std::atan2(std::sqrt(1 + e) * std::sin(low / 2), std::sqrt(1 - e) * std::cos(low / 2));
    const double model = 50 * (std::cos(nu + 0.7) + e * std::cos(0.7)) + 8, variance = error * error + 16;
    expected += -0.5 * std::log(2 * M_PI * variance) - (v - model) * (v - model) / (2 * variance);
  }
  for (const char* backend : {"reference", "cpu"})
    EXPECT_NEAR(
        log_likelihood("docs/examples/likelihoods/orbit.yaml --allow-code --backend " + std::string(backend)),
        expected, 1e-10 * std::abs(expected));
}

}  // namespace
}  // namespace emomc
