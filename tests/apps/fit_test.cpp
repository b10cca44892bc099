// Tests maximum-likelihood fits and their standard errors.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "emomc/device/random.hpp"
#include "program.hpp"

namespace emomc {
namespace {

using nlohmann::json;

class Fit : public ::testing::Test {
 protected:
  testing::ProgramFolder folder;

  json fit(const std::string& config, const std::string& more = "") {
    folder.write("fit.yaml", config);
    const auto result = folder.run("fit fit.yaml --json -q " + more);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return json::parse(result.out);
  }
};

TEST_F(Fit, RefusesALikelihoodOfTheUsersOwn) {
  folder.write("d.csv", "x\n1\n2\n4\n");
  folder.write("own.yaml",
               "data: {file: d.csv}\nlikelihood: {parameters: {m: {}, s: {support: positive}}, "
               "log_density: "
               "\"normal_lpdf(x, m, s)\"}\nprior: {m: {normal: {mean: 0, sd: 9}}, s: {half_normal: 9}}\n");
  testing::expect_refused(folder, "fit own.yaml -o out.yaml",
                          {"own.yaml", "likelihood of your own", "emomc run"});
  EXPECT_FALSE(folder.exists("out.yaml"));
}

// For one Gaussian with a full covariance C, the standard error of a mean is sqrt(C_ii / N), and that of a
// covariance is sqrt((C_ii C_jj + C_ij^2) / N), at the maximum of the likelihood (Anderson 2003, theorem
// 3.4.4). The columns have very different units and offsets.
TEST_F(Fit, StandardErrorsOfOneGaussianAreThoseInClosedForm) {
  constexpr int kRows = 4000;
  std::string data = "a,b\n";
  for (std::uint64_t i = 0; i < kRows; ++i) {
    const device::RandomSource random{5, i, 0};
    const double x = random.normal(device::Purpose::simulation, 0),
                 y = random.normal(device::Purpose::simulation, 1);
    data += std::to_string(1e4 + 20 * x) + "," + std::to_string(0.5 + 0.3 * x + 0.4 * y) + "\n";
  }
  folder.write("data.csv", data);
  const json found = fit("data: {file: data.csv}\nlikelihood: {components: 1, covariance: full}\n");
  const auto c = found["parameters"]["covariances"][0].get<std::vector<std::vector<double>>>();
  const json& errors = found["standard_errors"];
  for (int i = 0; i < 2; ++i) {
    EXPECT_NEAR(errors["means"][0][i].get<double>() / std::sqrt(c[i][i] / kRows), 1, 2e-3);
    for (int j = 0; j < 2; ++j)
      EXPECT_NEAR(errors["covariances"][0][i][j].get<double>() /
                      std::sqrt((c[i][i] * c[j][j] + c[i][j] * c[i][j]) / kRows),
                  1, 2e-3);
  }
  EXPECT_EQ(errors["weights"][0], 0);  // the only weight is always 1

  // Without --json the errors are printed unless -q is given, and always if --errors asks for them.
  EXPECT_EQ(folder.run("fit fit.yaml -q -o p.json").err, "");
  const std::string said = folder.run("fit fit.yaml -q --errors -o p.json").err;
  EXPECT_NE(said.find("means"), std::string::npos) << said;
}

// The expected values are those of the fit and of HESSE of iminuit 2.x for the same 20,000 events
// (tests/apps/data/two_gaussian_iminuit.py).
TEST_F(Fit, TwoGaussiansAreThoseOfIminuit) {
  folder.write("simulation.yaml",
               "model: two_gaussian\nparameters: {fraction: 0.7, mean: 0.3, sigma: [0.8, 2.2]}\nrows: 20000\n"
               "columns: [x]\nseed: 11\n");
  ASSERT_EQ(folder.run("simulate simulation.yaml -o data").exit_code, 0);
  const json found = fit("data: {file: data/data.csv}\nlikelihood: {model: two_gaussian}\n");
  const json &p = found["parameters"], &e = found["standard_errors"];
  const double fitted[] = {p["fraction"], p["mean"], p["sigma"][0], p["sigma"][1]};
  const double errors[] = {e["fraction"], e["mean"], e["sigma"][0], e["sigma"][1]};
  const double of_iminuit[] = {0.69745506, 0.2981111, 0.81042261, 2.1890447};
  const double of_hesse[] = {0.010466, 0.0077683, 0.010013, 0.032003};
  for (int i = 0; i < 4; ++i) {
    EXPECT_NEAR(fitted[i], of_iminuit[i], 0.02 * of_hesse[i]) << i;
    EXPECT_NEAR(errors[i], of_hesse[i], 0.01 * of_hesse[i]) << i;
  }
}

// There are more rows than the 20,000 that the first fits use.
TEST_F(Fit, ManyEventsAreFittedOnAllRows) {
  folder.write("simulation.yaml",
               "model: two_gaussian\nparameters: {fraction: 0.6, mean: -1, sigma: [1, 3]}\nrows: 100000\n"
               "columns: [x]\nseed: 12\n");
  ASSERT_EQ(folder.run("simulate simulation.yaml -o data").exit_code, 0);
  const std::string config = "data: {file: data/data.csv}\nlikelihood: {model: two_gaussian}\n";
  const json found = fit(config);
  folder.write("start.json", found["parameters"].dump());
  // EM with a smaller tolerance, started at this fit, does not find a higher likelihood.
  const json further = fit(config, "--start start.json --tolerance 1e-13 --max-rounds 100000");
  EXPECT_NEAR(found["log_likelihood"].get<double>(), further["log_likelihood"].get<double>(), 1e-4);
}

// Two equal components are a stationary point at which the likelihood does not change with their weights.
TEST_F(Fit, StandardErrorsAreRefusedWhereTheHessianIsNotPositiveDefinite) {
  std::string data = "x\n";
  for (std::uint64_t i = 0; i < 300; ++i)
    data += std::to_string(device::RandomSource{6, i, 0}.normal(device::Purpose::simulation, 0)) + "\n";
  folder.write("data.csv", data);
  folder.write("start.json", R"({"weights": [0.5, 0.5], "means": [[0], [0]], "scales": [[1], [1]]})");
  const json found = fit("data: {file: data.csv}\nlikelihood: {components: 2}\n", "--start start.json");
  EXPECT_TRUE(found["standard_errors"].is_null());
  EXPECT_NE(found["no_standard_errors"].get<std::string>().find("not positive definite"), std::string::npos);
}

// The density of a Dirichlet prior with arguments below 1 has no maximum.
TEST_F(Fit, APosteriorModeUnderASparsePriorIsSaidToBeLocal) {
  std::string data = "x\n";
  for (std::uint64_t i = 0; i < 200; ++i)
    data += std::to_string((i % 2 ? 5 : 0) +
                           device::RandomSource{8, i, 0}.normal(device::Purpose::simulation, 0)) +
            "\n";
  folder.write("data.csv", data);
  const std::string config =
      "data: {file: data.csv}\nlikelihood: {components: 2}\nprior: {weights: {dirichlet: ";
  folder.write("sparse.yaml", config + "0.5}}\n");
  folder.write("flat.yaml", config + "1}}\n");
  const auto warns = [&](const std::string& arguments) {
    return folder.run("fit -q " + arguments).err.find("this is a local mode") != std::string::npos;
  };
  EXPECT_TRUE(warns("sparse.yaml --maximize posterior"));
  EXPECT_FALSE(warns("sparse.yaml"));
  EXPECT_FALSE(warns("flat.yaml --maximize posterior"));
}

TEST_F(Fit, StandardErrorsArePrintedWithTheDigitsThatTheyAllow) {
  std::string data = "x\n";
  for (std::uint64_t i = 0; i < 400; ++i)
    data += std::to_string(1e6 + device::RandomSource{7, i, 0}.normal(device::Purpose::simulation, 0)) + "\n";
  folder.write("data.csv", data);
  folder.write("fit.yaml", "data: {file: data.csv}\nlikelihood: {components: 1}\n");
  const auto result = folder.run("fit fit.yaml");
  EXPECT_NE(result.err.find("means[0,0] = 1000000.0"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find(" +- 0.05"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace emomc
