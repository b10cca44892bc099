// Tests how columns are drawn if the log density of a row implies their distributions.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "emomc/core/errors.hpp"
#include "emomc/likelihood/expression.hpp"

namespace emomc {
namespace {

const std::vector<std::string> kColumns{"x", "y", "z"};

ExpressionSpec spec_of(const std::string& log_density) {
  ExpressionSpec spec;
  for (const char* name : {"a", "b"}) spec.parameters.push_back({name, "", Support::real, {}});
  spec.parameters.push_back({"s", "", Support::positive, {}});
  spec.parameters.push_back({"f", "", Support::unit_interval, {}});
  spec.parameters.push_back({"w", "", Support::simplex, {3}});
  spec.where = {{"eta", {"where.eta", "a + b * x"}}, {"of_y", {"where.of_y", "normal_lpdf(y, eta, s)"}}};
  spec.log_density = {"log_density", log_density};
  return spec;
}

const std::vector<double> kTheta{0.5, -1.5, 0.8, 0.3, 0.2, 0.5, 0.3};  // a, b, s, f, w

/// Returns [rows x columns] what `spec` draws, for rows of x = 0.1 i, y = 1 and z = 2.
std::vector<double> drawn(const ExpressionSpec& spec, std::size_t num_rows = 100) {
  const Expression expression(spec, kColumns);
  std::vector<double> rows;
  for (std::size_t i = 0; i < num_rows; ++i)
    for (const std::size_t j : expression.used_columns())
      rows.push_back(j == 0 ? 0.1 * static_cast<double>(i) : static_cast<double>(j));
  std::vector<double> values(num_rows * expression.simulated().size());
  expression.simulate(kTheta.data(), rows, 20261127, 3, values.data());
  return values;
}

/// Expects that a log density implies the same draws as a `simulate` that states `stated`.
void expect_stated(const std::string& log_density,
                   const std::vector<std::pair<std::string, std::string>>& stated) {
  ExpressionSpec expected = spec_of(log_density);
  for (const auto& [column, draw] : stated) expected.simulate.push_back({column, {"simulate", draw}});
  const ExpressionSpec implied = with_simulation(spec_of(log_density));
  ASSERT_EQ(simulated_columns(implied), simulated_columns(expected)) << log_density;
  EXPECT_EQ(drawn(implied), drawn(expected)) << log_density;
}

TEST(ImpliedSimulation, IsThatOfTheNamedDensities) {
  expect_stated("normal_lpdf(y, a + b * x, s)", {{"y", "normal_rng(a + b * x, s)"}});
  expect_stated("poisson_log_lpmf( y ,eta - (a + [b, a][0]) )",
                {{"y", "poisson_log_rng(eta - (a + [b, a][0]))"}});
  expect_stated("student_t_lpdf(y, 4, max([a, b]), s)", {{"y", "student_t_rng(4, max([a, b]), s)"}});
  expect_stated("of_y", {{"y", "normal_rng(eta, s)"}});
  expect_stated("std_normal_lpdf(z) + of_y", {{"z", "normal_rng(0, 1)"}, {"y", "normal_rng(eta, s)"}});
  expect_stated("(exponential_lpdf(z, s)) + (of_y)",
                {{"z", "exponential_rng(s)"}, {"y", "normal_rng(eta, s)"}});
  expect_stated("categorical_lpmf(z, w)", {{"z", "categorical_rng(w)"}});
  expect_stated("ordered_logistic_lpmf(z, a * x, [b, s])", {{"z", "ordered_logistic_rng(a * x, [b, s])"}});
}

// The density of z given y is written first, but y is drawn first.
TEST(ImpliedSimulation, GoesFromColumnsToThoseThatDependOnThem) {
  expect_stated("normal_lpdf(z, a + y, s) + normal_lpdf(y, b * x, s)",
                {{"y", "normal_rng(b * x, s)"}, {"z", "normal_rng(a + y, s)"}});
}

TEST(ImpliedSimulation, ChoosesComponentsByTheirWeights) {
  expect_stated("log_mix(f, normal_lpdf(y, a, s), normal_lpdf(y, b, 2 * s))",
                {{"y", "if_else(bernoulli_rng(f) == 1, normal_rng(a, s), normal_rng(b, 2 * s))"}});
  expect_stated("log_mix(0.25, of_y, log_mix(f, cauchy_lpdf(y, a, s), normal_lpdf(y, b, s)))",
                {{"y",
                  "if_else(bernoulli_rng(0.25) == 1, normal_rng(eta, s), if_else(bernoulli_rng(f) == 1, "
                  "cauchy_rng(a, s), normal_rng(b, s)))"}});
  // The components are so far apart that a draw identifies its component. The bounds are 5.5 standard errors,
  // which chance exceeds in 4 of 10^8 cases.
  const std::size_t rows = 100000;
  const std::vector<double> y =
      drawn(with_simulation(spec_of("log_mix(w, [normal_lpdf(y, a, 1e-3), normal_lpdf(y, a + 10, 1e-3), "
                                    "normal_lpdf(y, a + 20, 1e-3)])")),
            rows);
  std::vector<double> counts(3, 0.0);
  for (const double value : y) ++counts.at(static_cast<std::size_t>(std::lround((value - kTheta[0]) / 10)));
  for (std::size_t k = 0; k < 3; ++k) {
    const double weight = kTheta[4 + k];
    EXPECT_NEAR(counts[k] / rows, weight, 5.5 * std::sqrt(weight * (1 - weight) / rows)) << k;
  }
}

TEST(ImpliedSimulation, WhatIsStatedStays) {
  ExpressionSpec spec = spec_of("normal_lpdf(y, a, s)");
  spec.simulate = {{"y", {"simulate.y", "normal_rng(a, 2 * s)"}}};
  EXPECT_EQ(with_simulation(spec), spec);
}

TEST(ImpliedSimulation, IsRefusedWithTheReason) {
  const auto refusal = [](const ExpressionSpec& spec) {
    try {
      const Expression drawing(with_simulation(spec), kColumns);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  const std::string state = "; state it by simulate, as in simulate: {y: \"poisson_log_rng(eta)\"}";
  const std::string does_not = "how columns are drawn does not follow from ";
  for (const auto& [log_density, place, why] : std::vector<std::array<std::string, 3>>{
           {"-0.5 * (y - a)^2", "column 6", "no density (NAME_lpdf, NAME_lpmf, or log_mix of such)"},
           {"normal_lpdf(y, a, s) - log(s)", "column 22",
            "no density (NAME_lpdf, NAME_lpmf, or log_mix of such)"},
           {"normal_lpdf(y - x, a, s)", "column 1", "no density of a column of the data"},
           {"normal_lpdf(y, a, s) + normal_lpdf(a, 0, 1)", "column 24", "no density of a column of the data"},
           {"normal_lpdf(y, a, s) + normal_lpdf(y, b, s)", "column 24", "another density of column y"},
           {"frechet_lpdf(y, s, 1)", "column 1", "a density without a function frechet_rng"},
           {"log_mix(f, normal_lpdf(y, a, s), normal_lpdf(x, b, s))", "column 1",
            "a mixture of densities of different columns"},
           {"log_mix(w, normal_lpdf(y, [a, b, s], s))", "column 1",
            "a mixture whose components are not written one by one"},
           {"normal_lpdf(y, z, s) + normal_lpdf(z, y, s)", "column 1",
            "a density of columns that each depend on the others, or on themselves"},
           {"normal_lpdf(y, a + y, s)", "column 1",
            "a density of columns that each depend on the others, or on themselves"}})
    EXPECT_EQ(refusal(spec_of(log_density)),
              "log_density, " + place + ": " + does_not + "this, which is " + why + state);
  EXPECT_EQ(
      refusal(spec_of("of_y + normal_lpdf(x, a, s)")),
      "where.of_y: it depends on the data's values of x, which is simulated itself; allowed: other columns, "
      "parameters, and columns that are simulated before");
  // A text that is not a likelihood is refused with the usual message.
  EXPECT_NE(refusal(spec_of("normal_lpdf()")).find("normal_lpdf takes 3 arguments, not 0"),
            std::string::npos);
  EXPECT_NE(refusal(spec_of("log_mix(w, []) + a * x")).find("an empty list"), std::string::npos);
  ExpressionSpec endless = spec_of("itself");
  endless.where.push_back({"itself", {"where.itself", "itself"}});
  EXPECT_NE(refusal(endless).find("where.itself, column 1: there is no column, parameter or constant itself"),
            std::string::npos)
      << refusal(endless);
  ExpressionSpec weighted = spec_of("normal_lpdf(y, a, s)");
  weighted.weights = "z";
  EXPECT_EQ(refusal(weighted), "log_density: " + does_not + "a density that is weighted by column z" + state);
  ExpressionSpec header = spec_of("");
  header.code.key = "likelihood.source";
  header.code.file = "orbit.hpp";
  EXPECT_EQ(refusal(header), "likelihood.source: " + does_not + "a header" + state);
}

}  // namespace
}  // namespace emomc
