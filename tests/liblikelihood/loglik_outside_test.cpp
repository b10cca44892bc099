// Compares log likelihoods with scikit-learn and R (data/make_loglik.py, data/make_loglik.R), to 1e-10
// relative in float64 and 2e-6 in mixed precision, on every engine. They are computed as in `emomc loglik`,
// from standardised columns.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "emomc/core/data_units.hpp"
#include "emomc/likelihood/parameter_file.hpp"
#include "emomc/likelihood/standardize.hpp"
#include "random_mixture.hpp"

namespace emomc {
namespace {

constexpr const char* kFolder = EMOMC_SOURCE_DIR "/tests/liblikelihood/data/";

struct Case {
  DataSet data;  ///< rows in the data's own units
  ModelSpec model;
  std::vector<double> theta;
  double scikit_learn, r;
  std::vector<double> first_rows;
};

std::vector<Case> read_cases() {
  std::ifstream file(std::string(kFolder) + "loglik.json"), r_file(std::string(kFolder) + "loglik_r.csv");
  std::vector<Case> cases;
  for (const auto& entry : nlohmann::json::parse(file)) {
    Case c;
    std::vector<double> values;
    for (const auto& row : entry["rows"])
      for (double x : row) values.push_back(x);
    c.data = DataSet::single_segment(static_cast<int>(entry["rows"][0].size()), values);
    c.model = model_of_parameters(entry["parameters"].dump(), "case", "gaussian_mixture");
    c.theta = parse_parameters(entry["parameters"].dump(), "case", model_layout(c.model, c.data.dim));
    c.scikit_learn = entry["scikit_learn"]["log_likelihood"];
    for (double x : entry["scikit_learn"]["first_rows"]) c.first_rows.push_back(x);
    r_file >> c.r;
    cases.push_back(std::move(c));
  }
  return cases;
}

void expect_agreement(Backend backend, Precision precision) {
  const auto cases = read_cases();
  ASSERT_EQ(cases.size(), 12u);
  const double tolerance = precision == Precision::mixed ? 2e-6 : 1e-10;
  for (const Case& c : cases) {
    const ColumnUnits units = column_units_for(model_layout(c.model, c.data.dim), c.data.values,
                                               static_cast<std::size_t>(c.data.dim));
    DataSet data = c.data;
    standardize(units, data.values);
    std::vector<double> theta = c.theta;
    to_sampler_units(model_layout(c.model, c.data.dim), units, theta);
    testing::Evaluator evaluator(backend, c.model, precision, data);
    const double value = evaluator(theta)[0] + log_likelihood_offset(units, data.num_rows);
    EXPECT_NEAR(value, c.scikit_learn, tolerance * std::abs(c.scikit_learn));
    EXPECT_NEAR(value, c.r, tolerance * std::abs(c.r));
    std::vector<double> rows(data.num_rows);
    evaluator.engine().evaluate_rows(theta.data(), rows.data());
    for (std::size_t i = 0; i < c.first_rows.size(); ++i)
      EXPECT_NEAR(rows[i] + log_likelihood_offset(units, 1), c.first_rows[i],
                  5 * tolerance * (1 + std::abs(c.first_rows[i])));
  }
}

TEST(OutsideLogLikelihood, ReferenceAgrees) { expect_agreement(Backend::reference, Precision::float64); }
TEST(OutsideLogLikelihood, CpuAgrees) { expect_agreement(Backend::cpu, Precision::float64); }
TEST(OutsideLogLikelihood, CpuMixedAgrees) { expect_agreement(Backend::cpu, Precision::mixed); }
TEST(OutsideLogLikelihood, CudaAgrees) {
  if (!testing::has_gpu()) GTEST_SKIP() << "no GPU";
  expect_agreement(Backend::cuda, Precision::float64);
  expect_agreement(Backend::cuda, Precision::mixed);
}

}  // namespace
}  // namespace emomc
