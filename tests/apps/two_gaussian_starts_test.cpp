// Tests sampler.init: kmeans and em for two_gaussian.
#include <nlohmann/json.hpp>

#include "program.hpp"

namespace emomc {
namespace {

using nlohmann::json;
using testing::ProgramFolder;

// The data are a peak of two widths.
class TwoGaussianStarts : public ::testing::Test {
 protected:
  ProgramFolder folder;

  void simulate() {
    folder.write("simulation.yaml",
                 "model: two_gaussian\nparameters: {fraction: 0.3, mean: 5.2, sigma: [0.1, 0.5]}\n"
                 "rows: 4000\ncolumns: [mass]\nseed: 3\n");
    const auto result = folder.run("simulate simulation.yaml -o data");
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
};

TEST_F(TwoGaussianStarts, KmeansAndEmStartFromFitsToTheData) {
  simulate();
  for (const std::string init : {"kmeans", "em"})
    for (const std::string standardize : {"true", "false"}) {
      folder.write("config.yaml", "data: {file: data/data.csv, standardize: " + standardize +
                                      "}\nlikelihood: {model: two_gaussian}\nprior: {order: sigma}\n"
                                      "sampler: {chains: 4, warmup: 0, draws: 1, init: " +
                                      init + "}\noutput: {directory: run}\n");
      const auto result = folder.run("run config.yaml -q --force");
      ASSERT_EQ(result.exit_code, 0) << result.err;
      const json starts = json::parse(folder.read("run/manifest.json"))["starts"];
      EXPECT_GE(starts["fits"].get<int>(), 48) << starts;
      EXPECT_EQ(starts["points"], 4) << starts;  // the starts are spread about the optimum
      // Each chain is near the data; a start from the prior would be far away.
      ASSERT_EQ(folder.run("export run --format csv -o draws.csv").exit_code, 0);
      std::istringstream lines(folder.read("draws.csv"));
      std::string line;
      std::getline(lines, line);
      ASSERT_EQ(line, "chain,draw,log_density,log_likelihood,log_prior,fraction,mean,sigma[0],sigma[1]");
      int num_chains = 0;
      while (std::getline(lines, line)) {
        std::istringstream cells(line);
        std::vector<double> draw;
        for (std::string cell; std::getline(cells, cell, ',');) draw.push_back(std::stod(cell));
        ++num_chains;
        EXPECT_NEAR(draw[6], 5.2, 0.1) << line;
        EXPECT_GT(draw[7], 0.05) << line;
        EXPECT_LT(draw[7], 0.3) << line;
        EXPECT_GT(draw[8], 0.35) << line;
        EXPECT_LT(draw[8], 0.9) << line;
        if (init == "kmeans") continue;  // the groups of a clustering do not overlap
        EXPECT_NEAR(draw[5], 0.3, 0.15) << line;
        EXPECT_NEAR(draw[7], 0.1, 0.06) << line;
        EXPECT_NEAR(draw[8], 0.5, 0.15) << line;
      }
      EXPECT_EQ(num_chains, 4);
    }
}

TEST_F(TwoGaussianStarts, ARunFromEmConverges) {
  simulate();
  folder.write("config.yaml",
               "data: {file: data/data.csv}\nlikelihood: {model: two_gaussian}\nprior: {order: sigma}\n"
               "sampler: {init: em, seed: 2}\noutput: {directory: run}\n");
  const auto result = folder.run("run config.yaml -q");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(folder.run("diagnose run").exit_code, 0) << folder.run("diagnose run").out;
}

// Where the prior prefers the other numbering, the fraction is changed together with its component.
TEST_F(TwoGaussianStarts, AParameterFileIsNumberedAsThePriorPrefers) {
  simulate();
  folder.write("start.json", R"({"fraction": 0.7, "mean": 5.2, "sigma": [0.5, 0.1]})");
  folder.write("config.yaml",
               "data: {file: data/data.csv, standardize: false}\nlikelihood: {model: two_gaussian}\n"
               "prior: {sigma: {lognormal: {meanlog: [-2.3, -0.7], sdlog: 0.1}}}\n"
               "sampler: {chains: 1, warmup: 0, draws: 1, init: start.json}\noutput: {directory: run}\n");
  const auto result = folder.run("run config.yaml -q");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  ASSERT_EQ(folder.run("export run --format csv -o draws.csv").exit_code, 0);
  const std::string text = folder.read("draws.csv"), line = text.substr(text.find('\n') + 1);
  std::istringstream cells(line);
  std::vector<double> draw;
  for (std::string cell; std::getline(cells, cell, ',');) draw.push_back(std::stod(cell));
  ASSERT_EQ(draw.size(), 9u) << text;
  EXPECT_NEAR(draw[5], 0.3, 0.1) << line;
  EXPECT_NEAR(draw[7], 0.1, 0.05) << line;
}

}  // namespace
}  // namespace emomc
