// Predictions of rows from draws in memory and of a directory.
#include "emomc/posterior/row_prediction.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "apps/program.hpp"
#include "libposterior/equal_chains.hpp"

namespace emomc {
namespace {

using testing::kFaithful;
using testing::line;
using testing::refusal;

/// The line with an output: its value at a row's duration.
Posterior line_with_output(const std::string& output = "a + b * duration") {
  ExpressionModel model = line();
  model.likelihood.rows = {{"expected", {"rows.expected", output}}};
  return {model, read_table(kFaithful)};
}

Draws few_draws(const Posterior& posterior, const std::filesystem::path& directory = {}) {
  return sample(
      posterior,
      {.chains = 2, .draws = 50, .warmup = 200, .seed = 3, .directory = directory, .backend = Backend::cpu});
}

TEST(RowPredictor, HasMeansSdsAndQuantilesOfTheFormula) {
  const Posterior posterior = line_with_output();
  const Draws draws = few_draws(posterior);
  const RowPredictor predictor(posterior, draws);
  EXPECT_EQ(predictor.columns(), std::vector<std::string>{"duration"});
  const RowPrediction predicted =
      predictor.predict(make_table({"note", "duration"}, {7, 2, 8, 4.5}), {.quantiles = {1, 0.5}});
  ASSERT_EQ(predicted.outputs, std::vector<std::string>{"expected"});
  EXPECT_EQ(predicted.num_draws, 100U);
  EXPECT_FALSE(predicted.partition);
  for (std::size_t row = 0; row < 2; ++row) {
    std::vector<double> values;
    for (std::size_t s = 0; s < 100; ++s)
      values.push_back(draws.of("a")[s] + draws.of("b")[s] * (row == 0 ? 2 : 4.5));
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / 100;
    double squares = 0;
    for (const double x : values) squares += (x - mean) * (x - mean);
    std::sort(values.begin(), values.end());
    EXPECT_NEAR(predicted.rows.mean[row], mean, 1e-10);
    EXPECT_NEAR(predicted.rows.sd[row], std::sqrt(squares / 99), 1e-9);
    EXPECT_NEAR(predicted.rows.quantiles[2 * row], values[99], 1e-12);
    EXPECT_NEAR(predicted.rows.quantiles[2 * row + 1], (values[49] + values[50]) / 2, 1e-12);
  }
}

TEST(RowPredictor, ADirectoryPredictsByItsManifest) {
  const testing::ProgramFolder folder;
  const Posterior posterior = line_with_output();
  const Draws draws = few_draws(posterior, folder / "run");
  const Draws again = read_run(folder / "run");
  const Table rows = make_table({"duration"}, {2, 3, 4});
  EXPECT_EQ(RowPredictor(again).predict(rows).rows.mean,
            RowPredictor(posterior, draws).predict(rows).rows.mean);
}

TEST(RowPredictor, SaysWhatItCannotPredict) {
  const Posterior posterior = line_with_output(), plain(line(), read_table(kFaithful));
  const Draws draws = few_draws(posterior);
  EXPECT_EQ(refusal([&] { RowPredictor(plain, draws); }),
            "these draws: the likelihood has no rows, which say what to predict for each row, such as p: "
            "inv_logit(eta)");
  const RowPredictor predictor(posterior, draws);
  EXPECT_EQ(refusal([&] { predictor.predict(make_table({"duratoin"}, {2})); }),
            "data: there is no column duration; did you mean duratoin? found: duratoin");
  const Table rows = make_table({"duration"}, {2});
  EXPECT_EQ(refusal([&] { predictor.predict(rows, {.draws = 0}); }),
            "draws: 0 is out of range; allowed: 1 or more");
  EXPECT_EQ(refusal([&] { predictor.predict(rows, {.quantiles = {-0.5}}); }),
            "quantiles: -0.5 is out of range; allowed: 0 to 1");
  const Posterior infinite = line_with_output("a / (duration - 2)");
  EXPECT_NE(refusal([&] { RowPredictor(infinite, draws).predict(rows); }).find("inf in row 1 of the data"),
            std::string::npos);
}

}  // namespace
}  // namespace emomc
