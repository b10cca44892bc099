// Tests emomc stack on chains in two modes, each of which predicts a part of the rows.
#include <cmath>
#include <nlohmann/json.hpp>

#include "emomc/core/errors.hpp"
#include "emomc/sampler/run_directory.hpp"
#include "program.hpp"

namespace emomc {
namespace {

using nlohmann::json;
using testing::expect_refused;

// In the mode m = 8 rows have mean 0, and in m = -8 mean 4; chains do not move between the modes.
class Stack : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string csv = "y\n";
    for (int i = 0; i < 120; ++i) {
      rows.push_back((i % 10 == 0 ? 4.2 : -0.1) + 0.06 * ((i * 17) % 40 - 19.5));
      csv += std::to_string(rows.back()) + "\n";
    }
    folder.write("rows.csv", csv);
    folder.write("run.yaml",
                 "data: {file: rows.csv}\nlikelihood: {parameters: {m: {}}, log_density: \"normal_lpdf(y, "
                 "if_else(m > 0, 0, 4), 1) + normal_lpdf(sqrt(m * m), 8, 3)\"}\n"
                 "prior: {m: {normal: {mean: 0, sd: 10}}}\n"
                 "sampler: {chains: 6, warmup: 500, draws: 400, seed: 5, init: prior, "
                 "proposal: {kind: random_walk}}\n");
    const auto run = folder.run("run run.yaml -q --output run");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    for (const ChainDraws& chain : read_chains(folder / "run"))
      is_positive.push_back(chain.parameters.back() > 0);
  }
  // Returns the weight of the first mode that maximises the log score.
  double best_weight() const {
    double low = 0, high = 1;
    for (int round = 0; round < 60; ++round) {
      const double w = 0.5 * (low + high);
      double slope = 0;
      for (const double y : rows) {
        const double a = std::exp(-0.5 * y * y), b = std::exp(-0.5 * (y - 4) * (y - 4));
        slope += (a - b) / (w * a + (1 - w) * b);
      }
      (slope > 0 ? low : high) = w;
    }
    return low;
  }
  testing::ProgramFolder folder;
  std::vector<double> rows;
  std::vector<bool> is_positive;
};

TEST_F(Stack, WeightsAreThoseOfTheModesThatPredictBest) {
  const auto positive = std::count(is_positive.begin(), is_positive.end(), true);
  ASSERT_GT(positive, 0);
  ASSERT_LT(positive, 6);
  const auto shown = folder.run("stack run --json");
  EXPECT_EQ(shown.exit_code, 0) << shown.err << shown.out;
  const json stacked = json::parse(shown.out);
  ASSERT_EQ(stacked["chain_weights"].size(), 6u);
  double weight = 0, sum = 0;
  for (std::size_t c = 0; c < 6; ++c) {
    const double w = stacked["chain_weights"][c];
    weight += is_positive[c] ? w : 0;
    sum += w;
  }
  const double expected = best_weight();
  EXPECT_NEAR(sum, 1, 1e-9);
  EXPECT_NEAR(weight, expected, 0.02);
  EXPECT_GT(stacked["elpd_loo"].get<double>(), stacked["elpd_loo_of_equal_weights"].get<double>());
  EXPECT_EQ(stacked["left_out_by"], "row");
  EXPECT_EQ(stacked["groups"], 120);
  const auto quantities = json::parse(folder.run("stack run --vars m --json").out)["quantities"];
  ASSERT_EQ(quantities.size(), 1u);
  EXPECT_NEAR(quantities[0]["mean"].get<double>(), 8 * (2 * expected - 1), 0.4);
  EXPECT_NEAR(quantities[0]["q95"].get<double>(), 8, 1.5);
  EXPECT_NEAR(quantities[0]["q50"].get<double>(), 8, 1.5);
  EXPECT_NEAR(quantities[0]["q5"].get<double>(), -8, 1.5);

  // All chains of a cluster share one weight equally.
  std::string clusters;
  for (std::size_t c = 0; c < 6; ++c)
    clusters += std::string(c ? "," : "") + (is_positive[c] == is_positive[0] ? "0" : "1");
  const json together = json::parse(folder.run("stack run --json --clusters " + clusters).out);
  ASSERT_EQ(together["clusters"].size(), 2u);
  const double of_first = together["clusters"][0]["weight"];
  EXPECT_NEAR(is_positive[0] ? of_first : 1 - of_first, expected, 0.02);
  EXPECT_NEAR(together["chain_weights"][0].get<double>(),
              of_first / static_cast<double>(together["clusters"][0]["chains"].size()), 1e-12);
}

TEST_F(Stack, SaysThatItIsTheCheapAnswerAndRefusesWhatItCannotDo) {
  const auto text = folder.run("stack run");
  EXPECT_NE(text.out.find("a cheap approximation"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("weight"), std::string::npos);
  expect_refused(folder, "stack run --clusters 0,0,1", {"clusters", "3 numbers for 6 chains"});
  expect_refused(folder, "stack run --clusters 0,0,2,2,2,2", {"clusters", "without gaps"});
  expect_refused(folder, "stack rows.csv", {"rows.csv"});
  expect_refused(folder, "stack run --loo-by z", {"--loo-by z"});
  expect_refused(folder, "stack run --vars nothing", {"nothing"});
}

}  // namespace
}  // namespace emomc
