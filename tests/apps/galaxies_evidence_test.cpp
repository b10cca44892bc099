// Compares the evidence of mixtures of the galaxy velocities with that of nested sampling.
// make_galaxies_evidence.py has computed the latter with dynesty and the same priors.
#include <cmath>
#include <nlohmann/json.hpp>

#include "program.hpp"

namespace emomc {
namespace {

using nlohmann::json;

json nested_sampling(int components) {
  std::ifstream file(EMOMC_SOURCE_DIR "/tests/apps/data/galaxies_evidence.json");
  const json all = json::parse(file);
  for (const json& model : all["models"])
    if (model["components"] == components) return model;
  ADD_FAILURE() << "no value for " << components << " components";
  return {};
}

// The bound of five standard errors gives a false alarm with probability below 1e-6.
void expect_the_evidence_of_nested_sampling(int components, int warmup, int draws, double most_error) {
  const testing::ProgramFolder folder;
  folder.write(
      "run.yaml",
      "data: {file: " EMOMC_SOURCE_DIR
      "/configs/galaxies.csv, standardize: false}\n"
      "likelihood: {components: " +
          std::to_string(components) +
          ", precision: double}\n"
          "prior: {weights: {dirichlet: 1}, means: {normal: {mean: 20, sd: 10}}, scales: {half_normal: 1}}\n"
          "sampler: {chains: 4, warmup: " +
          std::to_string(warmup) + ", draws: " + std::to_string(draws) +
          ", thin: 1, init: prior, tempering: {rungs: 12},\n"
          "  proposal: {kind: component_wise, shape: diagonal}}\nbackend: cpu\n");
  const auto run = folder.run("run run.yaml -q --output run");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json found = json::parse(folder.run("evidence run --json").out), nested = nested_sampling(components);
  const double value = found["log_evidence"], se = found["se_log_evidence"];
  const double error = std::hypot(se, nested["standard_error"].get<double>());
  EXPECT_NEAR(value, nested["log_evidence"].get<double>(), 5 * error) << components << " components";
  EXPECT_LT(error, most_error) << components << " components";
  // The integral agrees with the stepping stones within both errors, including that of the integration rule.
  const json& integral = found["thermodynamic"];
  EXPECT_NEAR(
      integral["log_evidence"].get<double>(), value,
      5 * std::hypot(se, integral["se_log_evidence"].get<double>()) + integral["rule_error"].get<double>())
      << components << " components";
}

TEST(GalaxiesEvidence, OfTwoComponentsIsThatOfNestedSampling) {
  expect_the_evidence_of_nested_sampling(2, 1000, 2000, 0.25);
}

TEST(GalaxiesEvidenceLong, OfTwoToSixComponentsIsThatOfNestedSampling) {
  for (int components = 2; components <= 6; ++components)
    expect_the_evidence_of_nested_sampling(components, 2000, 10'000, 0.2);
}

}  // namespace
}  // namespace emomc
