// Tests sparse Dirichlet priors in complete runs of the program.
#include <nlohmann/json.hpp>

#include "program.hpp"

namespace emomc {
namespace {

// There are 50 rows from one Gaussian, and three components that start at draws from the prior. Two weights
// are nearly 0, and in many draws they underflow a double. None of this counts as a fault.
TEST(SparsePriorRun, StartsFromThePriorAndHasNoFaults) {
  const testing::ProgramFolder folder;
  std::filesystem::copy_file(EMOMC_SOURCE_DIR "/tests/apps/data/sparse_prior.csv", folder / "rows.csv");
  for (const char* alpha : {"0.001", "0.01", "0.02"}) {
    folder.write("run.yaml", std::string("threads: 1\nbackend: cpu\n"
                                         "data: {file: rows.csv, standardize: false}\n"
                                         "likelihood: {components: 3, precision: double}\n"
                                         "prior: {weights: {dirichlet: ") +
                                 alpha +
                                 "}, means: {normal: {mean: 0, sd: 5}}, scales: {lognormal: {meanlog: 0, "
                                 "sdlog: 0.5}}, scale_floor: 0.05}\n"
                                 "sampler: {chains: 4, warmup: 2000, draws: 1000, thin: 4, seed: 11, init: "
                                 "prior}\n");
    const auto run = folder.run(std::string("run run.yaml -q --output ") + alpha);
    ASSERT_EQ(run.exit_code, 0) << alpha << ": " << run.err;
    const auto manifest = nlohmann::json::parse(folder.read(std::string(alpha) + "/manifest.json"));
    EXPECT_EQ(manifest["faults"], 0) << alpha;
    const auto summary = nlohmann::json::parse(folder.run(std::string("summary --raw --json ") + alpha).out);
    for (const auto& parameter : summary["parameters"])
      if (parameter["name"] == "log_prior") {
        EXPECT_TRUE(parameter["mean"].is_number()) << alpha;
      }
  }
}

}  // namespace
}  // namespace emomc
