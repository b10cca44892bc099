// Samples the Sad frames of the thesis as a user would: 5,316 x 13, K = 8, four chains. The tests are skipped
// if the data are missing.
#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "emomc/core/data_units.hpp"
#include "emomc/likelihood/mixture_start.hpp"
#include "emomc/likelihood/parameter_file.hpp"
#include "emomc/likelihood/standardize.hpp"
#include "emomc/likelihood/table.hpp"
#include "liblikelihood/random_mixture.hpp"
#include "program.hpp"
#include "shared_data.hpp"

namespace emomc {
namespace {

using nlohmann::json;
using testing::ProgramFolder;

// These values come from sad_baseline.py with scikit-learn 1.9.1.
constexpr double kMedianOfFits = -245380.339;
constexpr int kFreeParameters = 215;

std::map<int, double> mean_log_likelihood_of_chains(const ProgramFolder& folder) {
  EXPECT_EQ(folder.run("export run --format csv -o draws.csv").exit_code, 0);
  std::istringstream lines(folder.read("draws.csv"));
  std::string line;
  std::getline(lines, line);
  std::map<int, double> sum, count;
  while (std::getline(lines, line)) {
    std::istringstream cells(line);
    std::string chain, draw, density, likelihood;
    std::getline(cells, chain, ',');
    std::getline(cells, draw, ',');
    std::getline(cells, density, ',');
    std::getline(cells, likelihood, ',');
    sum[std::stoi(chain)] += std::stod(likelihood);
    count[std::stoi(chain)] += 1;
  }
  for (auto& [chain, total] : sum) total /= count[chain];
  return sum;
}

std::string configuration(const std::filesystem::path& data, const std::string& sampler) {
  return "data: {file: \"" + (data / "Sad_*.csv").string() +
         "\", standardize: true}\nlikelihood: {components: 8}\noutput: {directory: run}\nsampler: {" +
         sampler + "}\n";
}

TEST(Sad, ChainsReachTheModesThatEmFindsAndEveryBlockMoves) {
  const auto data = testing::shared_data("thesis");
  if (!data) GTEST_SKIP() << "no shared data: set EMOMC_SHARED_DATA";
  ProgramFolder folder;
  folder.write("sad.yaml",
               configuration(
                   std::filesystem::absolute(*data),
                   "chains: 4, warmup: 2000, draws: 1000, seed: 20260101, proposal: {kind: component_wise}"));
  const auto run = folder.run("run sad.yaml -q");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json summary = json::parse(folder.run("summary run --json").out);
  ASSERT_EQ(summary["acceptance"].size(), 17u);
  for (const auto& block : summary["acceptance"]) {
    EXPECT_GE(block["rate"].get<double>(), 0.1) << block;
    EXPECT_LE(block["rate"].get<double>(), 0.6) << block;
  }
  const auto means = mean_log_likelihood_of_chains(folder);
  ASSERT_EQ(means.size(), 4u);
  for (const auto& [chain, mean] : means)
    EXPECT_GE(mean, kMedianOfFits - kFreeParameters) << "chain " << chain;
}

std::vector<double> em_fit(const DataSet& data, const ModelSpec& model) {
  const MixturePool pool(data, model, {.seed = 1});
  return refine_by_em(data, model, pool.fits()[pool.best()].theta, 1000);
}

// Half of the number of free parameters, 107, is the expected difference between the maximum of a mode and
// its draws.
TEST(Sad, AChainThatStartsAtAnEmFitStaysTheExpectedDistanceBelowIt) {
  const auto folder_of_data = testing::shared_data("thesis");
  if (!folder_of_data) GTEST_SKIP() << "no shared data: set EMOMC_SHARED_DATA";
  const auto data_folder = std::filesystem::absolute(*folder_of_data);
  Table table = read_table({{(data_folder / "Sad_*.csv").string()}, {}});
  ASSERT_EQ(table.num_rows, 5316u);
  const ColumnUnits units = column_units(table.values, 13);
  standardize(units, table.values);
  const DataSet data = DataSet::single_segment(13, table.values);
  const ModelSpec model{"gaussian_mixture", 8};
  std::vector<double> fit = em_fit(data, model);
  const double log_likelihood = testing::Evaluator(Backend::cpu, model, Precision::float64, data)(fit)[0] +
                                log_likelihood_offset(units, data.num_rows);
  const ParameterLayout layout = model_layout(model, 13);
  to_data_units(layout, units, fit);
  ProgramFolder folder;
  folder.write("fit.json", parameters_to_json(layout, fit));
  folder.write("sad.yaml",
               configuration(data_folder, "chains: 1, warmup: 1000, draws: 2000, init: fit.json, seed: 1"));
  const auto run = folder.run("run sad.yaml -q");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const double mean = mean_log_likelihood_of_chains(folder).at(0);
  EXPECT_GE(mean, log_likelihood - 160);
  const double highest = json::parse(folder.run("summary run --json").out)["parameters"][1]["q95"];
  const bool better_mode = highest >= log_likelihood;
  EXPECT_TRUE(better_mode || mean <= log_likelihood - 60) << mean << " below " << log_likelihood;
}

}  // namespace
}  // namespace emomc
