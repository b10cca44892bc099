// Compares the shipped configurations of the galaxy velocities (Roeder 1990) with Stan's posterior of the
// same model.
#include "program.hpp"
#include "reference_posterior.hpp"

namespace emomc {
namespace {

// Every mean, sd, 5 %, 50 % and 95 % quantile of `K` components differs from Stan's by at most z combined
// Monte Carlo standard errors: 3 K quantities with 5 numbers each for K = 3 and 6, 135 comparisons. With z =
// 5.8 a normal error exceeds the bound with probability 6.6e-9, so that a false alarm occurs for less than
// 1e-6 of all seeds.
void expect_stans_posterior(const std::filesystem::path& run, int K) {
  constexpr double z = 5.8;
  const std::string file = EMOMC_SOURCE_DIR "/tests/apps/data/galaxies_" + std::to_string(K) + ".json";
  EXPECT_EQ(testing::expect_reference_posterior(run, file, z, testing::name_of_stans), 15 * K);
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

TEST_F(Galaxies, ThreeComponentsByNutsAgreeWithStan) {
  sample("proposals/nuts.yaml", "");
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
