// Simulation-based calibration of every model, prior family and proposal: docs/statistics.md, "Calibration".
//
// The false-alarm rate of each test is kFalseAlarms divided by the number of tests, and is divided equally
// among its quantities. All tests together have a rate of at most kFalseAlarms = 1e-6 for independent uniform
// ranks.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "ecdf_band.hpp"
#include "gradient_scenarios.hpp"

namespace emomc {
namespace {

using testing::calibration_scenarios;
using testing::EcdfBand;
using testing::gradient_scenarios;
using testing::Ranks;
using testing::Scenario;

constexpr double kFalseAlarms = 1e-6;
constexpr std::uint64_t kSeed = 20261122;
constexpr int kReplicates = 300, kGradientReplicates = 200, kPriorReplicates = 1000, kLongReplicates = 2000;
/// The least ESS of the ranked draws, as a share of their number. With a lower ESS, ranks accumulate at the
/// ends (Talts et al. 2018, section 5).
constexpr double kLeastEffectiveShare = 0.5;

EcdfBand band_for(const Ranks& ranks) {
  const double tests =
      2.0 * static_cast<double>(calibration_scenarios().size() + gradient_scenarios().size());
  return testing::EcdfBands(ranks.num_replicates, ranks.num_draws)
      .band(kFalseAlarms / tests / static_cast<double>(ranks.quantities.size()));
}

std::string text_of(const std::vector<int>& counts) {
  std::string text;
  for (int count : counts) text += std::to_string(count) + " ";
  return text;
}

/// Returns the names of the quantities whose ranks leave the band.
std::vector<std::string> not_uniform(const Ranks& ranks, const EcdfBand& band) {
  std::vector<std::string> names;
  for (const auto& quantity : ranks.quantities)
    if (testing::outside_band(band, quantity.counts) > 0) names.push_back(quantity.name);
  return names;
}

void expect_uniform(const Ranks& ranks) {
  const EcdfBand band = band_for(ranks);
  for (const auto& quantity : ranks.quantities)
    EXPECT_EQ(testing::outside_band(band, quantity.counts), 0)
        << quantity.name << ": ranks " << text_of(quantity.counts);
}

void expect_independent_draws(const Ranks& ranks) {
  for (const auto& quantity : ranks.quantities)
    EXPECT_GT(quantity.effective_share, kLeastEffectiveShare) << quantity.name;
}

/// Writes the ranks for bench/sbc_plot.py if EMOMC_SBC_FOLDER is set.
void write_ranks(const Scenario& scenario, const Ranks& ranks) {
  const char* folder = std::getenv("EMOMC_SBC_FOLDER");
  if (!folder) return;
  const EcdfBand band = band_for(ranks);
  nlohmann::ordered_json json{{"scenario", scenario.name},
                              {"proposal", scenario.proposal.kind},
                              {"replicates", ranks.num_replicates},
                              {"band", {{"lower", band.lower}, {"upper", band.upper}}}};
  for (const auto& quantity : ranks.quantities)
    json["quantities"][quantity.name] = {{"counts", quantity.counts},
                                         {"effective_share", quantity.effective_share}};
  std::filesystem::create_directories(folder);
  std::ofstream(std::filesystem::path(folder) / (scenario.name + ".json")) << json << "\n";
}

class Calibration : public ::testing::TestWithParam<Scenario> {};
class CalibrationLong : public Calibration {};

TEST_P(Calibration, RanksOfTheTruthAreUniform) {
  const Ranks ranks = testing::sbc(GetParam(), kReplicates, kSeed);
  expect_independent_draws(ranks);
  expect_uniform(ranks);
}

// The test compares Target::draw_from_prior, which makes starts, with independent implementations of the
// distributions.
TEST_P(Calibration, PriorDrawsAreOfThePrior) {
  expect_uniform(testing::prior_ranks(GetParam(), kPriorReplicates, kSeed));
}

TEST_P(CalibrationLong, RanksOfTheTruthAreUniform) {
  const Ranks ranks = testing::sbc(GetParam(), kLongReplicates, kSeed + 1);
  write_ranks(GetParam(), ranks);
  expect_independent_draws(ranks);
  expect_uniform(ranks);
}

const auto kName = [](const auto& scenario) { return scenario.param.name; };
INSTANTIATE_TEST_SUITE_P(Scenarios, Calibration, ::testing::ValuesIn(calibration_scenarios()), kName);
INSTANTIATE_TEST_SUITE_P(Scenarios, CalibrationLong, ::testing::ValuesIn(calibration_scenarios()), kName);

class GradientCalibration : public Calibration {};

TEST_P(GradientCalibration, RanksOfTheTruthAreUniform) {
  const Ranks ranks = testing::sbc(GetParam(), kGradientReplicates, kSeed);
  expect_independent_draws(ranks);
  expect_uniform(ranks);
}

INSTANTIATE_TEST_SUITE_P(Gradients, GradientCalibration, ::testing::ValuesIn(gradient_scenarios()), kName);
INSTANTIATE_TEST_SUITE_P(Gradients, CalibrationLong,
                         ::testing::ValuesIn(gradient_scenarios(testing::ChainLength::longer)), kName);

TEST(CalibrationDesign, HasEveryModelFamilyProposalAndEngineTwice) {
  std::map<std::string, int> seen;
  for (const Scenario& scenario : calibration_scenarios()) {
    const ModelSpec& model = scenario.truth.model;
    ++seen[model.name == "gaussian_mixture" ? "covariance " + model.covariance : model.name];
    ++seen[scenario.proposal.kind];
    seen["order"] += !scenario.truth.prior.order.empty();
    seen["floor"] += scenario.truth.prior.scale_floor > 0;
    seen["mixed"] += scenario.precision == Precision::mixed;
    seen["reference"] += scenario.backend == Backend::reference;
    for (const auto& [name, prior] : scenario.truth.prior.blocks) {
      ++seen[family_name(prior.family)];
      for (const auto& argument : prior.arguments)
        if (argument.is_sampled) ++seen["sampled arguments of " + family_name(prior.family)];
    }
  }
  std::vector<std::string> wanted{"two_gaussian", "order", "floor", "mixed", "reference"};
  for (const char* covariance : {"spherical", "diagonal", "tied", "full"})
    wanted.push_back(std::string("covariance ") + covariance);
  for (const std::string& kind : proposal_names())
    if (!proposal_use(kind).gradient) wanted.push_back(kind);
  for (const std::string& family : family_names())
    if (family != "von_mises")
      wanted.push_back(family);  // mixtures have no angles; ExpressionCalibration has one
  for (const std::string& level : wanted) EXPECT_GE(seen[level], 2) << level;
  for (const std::string& family : family_names()) {
    const bool has_sampled_arguments = !sampled_argument_names(*family_from_name(family)).empty();
    EXPECT_GE(seen["sampled arguments of " + family], has_sampled_arguments ? 1 : 0) << family;
  }
}

TEST(CalibrationDesign, HasEveryGradientSamplerOnEveryModel) {
  std::set<std::string> seen;
  for (const Scenario& scenario : gradient_scenarios()) {
    const ModelSpec& model = scenario.truth.model;
    seen.insert(scenario.proposal.kind + " " +
                (model.name == "gaussian_mixture" ? model.covariance : model.name));
  }
  for (const std::string& kind : proposal_names()) {
    if (!proposal_use(kind).gradient) continue;
    for (const char* model : {"spherical", "diagonal", "tied", "full", "two_gaussian", "student_t_mixture"})
      EXPECT_TRUE(seen.contains(kind + " " + model)) << kind << " " << model;
  }
}

Scenario scenario_named(const std::string& name) {
  for (const Scenario& scenario : calibration_scenarios())
    if (scenario.name == name) return scenario;
  throw std::logic_error(name);
}

// The following tests make deliberate errors, which must be detected.
TEST(CalibrationSees, AnotherPriorThanTheTruths) {
  Scenario scenario = scenario_named("diagonal_1");
  scenario.assumed_prior = scenario.truth.prior;
  scenario.assumed_prior->blocks["scales"] = testing::families::half_normal(0.75);
  const Ranks ranks = testing::sbc(scenario, kReplicates, kSeed);
  EXPECT_FALSE(not_uniform(ranks, band_for(ranks)).empty());
}

// A chain that ignores its data draws from the prior, and the rank of the true parameters among these draws
// is uniform: only the log likelihood reveals the error (Modrak et al. 2023, section 3).
TEST(CalibrationSees, DataThatAreIgnoredByTheLogLikelihoodAlone) {
  Scenario scenario = scenario_named("fixed_scales");
  scenario.beta = 0;
  const Ranks ranks = testing::sbc(scenario, kReplicates, kSeed);
  EXPECT_EQ(not_uniform(ranks, band_for(ranks)), std::vector<std::string>{"log_likelihood"});
}

}  // namespace
}  // namespace emomc
