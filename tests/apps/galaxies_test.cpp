// The galaxy velocities (Roeder 1990): the shipped configurations against Stan's posterior of the same model.
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "emomc/sampler/diagnostics.hpp"
#include "emomc/sampler/run_directory.hpp"
#include "program.hpp"

namespace emomc {
namespace {

using nlohmann::json;

// Draws x chains of one parameter.
std::vector<double> column(const std::vector<ChainDraws>& chains, std::size_t parameter) {
  std::vector<double> values;
  for (const auto& chain : chains) {
    const auto dim = static_cast<std::size_t>(chain.header.layout.dim());
    for (std::size_t i = 0; i < static_cast<std::size_t>(chain.num_draws); ++i)
      values.push_back(chain.parameters[i * dim + parameter]);
  }
  return values;
}

// Every mean, sd, 5 %, 50 % and 95 % quantile of `K` components differs from Stan's by at most z combined
// Monte Carlo standard errors: 3 K quantities of 5 numbers for K = 3 and 6, 135 comparisons; z = 5.8 gives a
// normal one 6.6e-9, so a false alarm in less than 1e-6 of all seeds.
void expect_stans_posterior(const std::filesystem::path& run, int K) {
  constexpr double z = 5.8;
  std::ifstream file(std::string(EMOMC_SOURCE_DIR) + "/tests/apps/data/galaxies_" + std::to_string(K) +
                     ".json");
  std::map<std::string, json> stan;
  const json reference = json::parse(file);
  for (const auto& parameter : reference["parameters"]) {
    EXPECT_LT(parameter["rhat"].get<double>(), 1.01);
    EXPECT_GT(std::min(parameter["ess_bulk"].get<double>(), parameter["ess_tail"].get<double>()), 1000);
    stan[parameter["name"]] = parameter;
  }
  const auto chains = read_chains(run);
  const auto names = element_names(chains[0].header.layout);
  int num_compared = 0;
  for (std::size_t p = 0; p < names.size(); ++p) {
    // means[1,0] here, means[2] there.
    const auto bracket = names[p].find('[');
    const int k = std::stoi(names[p].substr(bracket + 1));
    const json& theirs = stan.at(names[p].substr(0, bracket) + "[" + std::to_string(k + 1) + "]");
    const auto values = column(chains, p);
    const auto draws = static_cast<std::size_t>(chains[0].num_draws);
    const DrawsView view{values.data(), draws, chains.size(), 1, static_cast<std::ptrdiff_t>(draws)};
    const auto compare = [&](const char* what, double ours, double our_error, const char* error_name) {
      const double difference = ours - theirs[what].get<double>();
      const double error = std::hypot(our_error, theirs[error_name].get<double>());
      EXPECT_LT(std::abs(difference), z * error)
          << names[p] << " " << what << ": " << ours << ", Stan " << theirs[what] << ", error " << error;
      ++num_compared;
    };
    compare("mean", draws_mean(view), mcse_mean(view), "mcse_mean");
    compare("sd", draws_sd(view), mcse_sd(view), "mcse_sd");
    compare("q5", draws_quantile(view, 0.05), mcse_quantile(view, 0.05), "mcse_q5");
    compare("q50", draws_quantile(view, 0.5), mcse_quantile(view, 0.5), "mcse_q50");
    compare("q95", draws_quantile(view, 0.95), mcse_quantile(view, 0.95), "mcse_q95");
    EXPECT_GT(ess_bulk(view), 100) << names[p];  // the comparison says something
  }
  EXPECT_EQ(num_compared, 15 * K);
}

class Galaxies : public ::testing::Test {
 protected:
  testing::ProgramFolder folder;
  void sample(const std::string& config, const std::string& more) {
    std::filesystem::create_directories(folder / "configs");
    const std::filesystem::path configs = std::string(EMOMC_SOURCE_DIR) + "/configs";
    std::filesystem::copy_file(configs / "galaxies.csv", folder / "configs/galaxies.csv");
    const auto result = folder.run("run " + (configs / config).string() + " -q --output run " + more);
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
};

TEST_F(Galaxies, ThreeComponentsAgreeWithStan) {
  sample("galaxies.yaml", "");
  expect_stans_posterior(folder / "run", 3);
}

TEST_F(Galaxies, SixComponentsAgreeWithStan) {
  sample("galaxies_6.yaml", "");
  expect_stans_posterior(folder / "run", 6);
}

TEST_F(Galaxies, EveryProposalHasAConfigurationThatRuns) {
  std::filesystem::create_directories(folder / "configs");
  std::filesystem::copy_file(EMOMC_SOURCE_DIR "/configs/galaxies.csv", folder / "configs/galaxies.csv");
  for (const std::string& kind : proposal_names()) {
    const auto result =
        folder.run("run '" EMOMC_SOURCE_DIR "/configs/proposals/" + kind + ".yaml' -q --output runs/" + kind +
                   " --set sampler.warmup=100 --set sampler.draws=20");
    EXPECT_EQ(result.exit_code, 0) << result.err;
  }
}

}  // namespace
}  // namespace emomc
