// Compares the probabilities of a mixture's components with SciPy's (data/make_component_probabilities.py).
#include "emomc/likelihood/component_probabilities.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "emomc/core/data_units.hpp"
#include "emomc/likelihood/standardize.hpp"

namespace emomc {
namespace {

std::vector<double> numbers_of(const nlohmann::json& rows) {
  std::vector<double> values;
  for (const auto& row : rows)
    for (const auto& x : row) values.push_back(x);
  return values;
}

TEST(ComponentProbabilities, AreSciPysForEveryModel) {
  std::ifstream file(EMOMC_SOURCE_DIR "/tests/liblikelihood/data/component_probabilities.json");
  const nlohmann::json cases = nlohmann::json::parse(file);
  ASSERT_EQ(cases.size(), 6U);
  for (const auto& json : cases) {
    const ModelSpec model{json["model"], json["components"], json["covariance"]};
    const int dim = static_cast<int>(json["rows"][0].size());
    const auto width = static_cast<std::size_t>(dim);
    const ParameterLayout layout = model_layout(model, dim);
    std::vector<double> theta = json["theta"].get<std::vector<double>>();
    from_written(layout, theta);
    const std::vector<double> rows = numbers_of(json["rows"]), expected = numbers_of(json["probabilities"]);
    std::vector<double> found(expected.size());
    component_probabilities(model, dim, theta, rows, found.data());
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i], expected[i], 1e-12) << model.name << ' ' << model.covariance << ' ' << i;
    // In other units the probabilities are the same.
    std::vector<double> scaled = rows;
    const ColumnUnits units = column_units_for(layout, rows, width);
    standardize(units, scaled);
    to_sampler_units(layout, units, theta);
    component_probabilities(model, dim, theta, scaled, found.data());
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-12) << model.name;
  }
}

// There are more rows than are processed together.
TEST(ComponentProbabilities, OfManyRowsAreThoseOfEach) {
  const ModelSpec model{"gaussian_mixture", 2, "diagonal"};
  const std::vector<double> theta{0.25, 0.75, -1, 1, 0.5, 2};
  std::vector<double> rows(1300), all(2 * rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<double>(i % 41) / 10 - 2;
  component_probabilities(model, 1, theta, rows, all.data());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    double one[2];
    component_probabilities(model, 1, theta, {rows.data() + i, 1}, one);
    EXPECT_NEAR(all[2 * i], one[0], 1e-15);
    EXPECT_NEAR(all[2 * i] + all[2 * i + 1], 1, 1e-15);
  }
}

TEST(ComponentProbabilities, AComponentOfWeightZeroHasNoRows) {
  const std::vector<double> theta{0, 1, -1, 1, 0.5, 2}, rows{-1};
  double found[2];
  component_probabilities({"gaussian_mixture", 2, "diagonal"}, 1, theta, rows, found);
  EXPECT_EQ(found[0], 0);
  EXPECT_EQ(found[1], 1);
}

}  // namespace
}  // namespace emomc
