// Compares stacking of chains by callers with the program's, and tests its warnings.
#include "emomc/posterior/stacking.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "apps/program.hpp"
#include "libposterior/equal_chains.hpp"

namespace emomc {
namespace {

using testing::kFaithful;
using testing::line;
using testing::refusal;

TEST(Stack, IsThatOfTheProgram) {
  const testing::ProgramFolder folder;
  folder.write("run.yaml", "data: {file: " + kFaithful +
                               "}\nlikelihood: {components: 2, covariance: full}\n"
                               "sampler: {chains: 3, warmup: 300, draws: 200, seed: 2}\nbackend: cpu\n");
  ASSERT_EQ(folder.run("run run.yaml -q --output run").exit_code, 0);
  const auto theirs = nlohmann::json::parse(folder.run("stack run --json --draws 150 --clusters 0,1,0").out);
  const Posterior posterior(GaussianMixture{.covariance = Covariance::full}, read_table(kFaithful));
  const Draws draws = read_run(folder / "run");
  const Stacking ours = stack(posterior, draws, {.clusters = {0, 1, 0}, .draws_per_chain = 150});
  EXPECT_EQ(ours.num_draws, 450u);
  ASSERT_EQ(ours.clusters.size(), 2u);
  EXPECT_EQ(ours.clusters[0].chains, (std::vector<std::size_t>{0, 2}));
  EXPECT_NEAR(ours.clusters[0].elpd, theirs["clusters"][0]["elpd_loo"].get<double>(), 1e-8);
  EXPECT_NEAR(ours.elpd, theirs["elpd_loo"].get<double>(), 1e-7);
  for (std::size_t c = 0; c < 3; ++c)
    EXPECT_NEAR(ours.chain_weights[c], theirs["chain_weights"][c].get<double>(), 1e-5);
  // The program adds a sentence if diagnose finds no problem.
  auto warnings = theirs["warnings"].get<std::vector<std::string>>();
  ASSERT_GE(warnings.size(), ours.warnings.size());
  warnings.resize(ours.warnings.size());
  EXPECT_EQ(ours.warnings, warnings);

  const auto rows = stacked_summary(draws.run, std::vector<double>{0, 1, 0}, {"means*"});
  ASSERT_EQ(rows.size(), 4u);
  const std::size_t N = draws.num_draws();
  for (const StackedRow& row : rows) {  // with all weight on one chain, the summaries are those of this chain
    const auto of_chain = draws.of(row.name).subspan(N, N);
    EXPECT_NEAR(row.mean, std::accumulate(of_chain.begin(), of_chain.end(), 0.0) / static_cast<double>(N),
                1e-9);
    EXPECT_EQ(std::count_if(of_chain.begin(), of_chain.end(), [&](double x) { return x <= row.q5; }), 10);
  }
}

// The gain from weights of equal chains is zero, in place of the 0.5 that two clusters of one mode gain on
// average.
TEST(Stack, SaysThatEqualWeightsPredictAsWell) {
  DrawSet draws;
  draws.names = {"log_density", "log_likelihood"};
  draws.chains = {"0", "1"};
  draws.num_draws = 100;
  std::vector<double> of_chain(draws.num_draws);
  for (std::size_t i = 0; i < of_chain.size(); ++i) of_chain[i] = 0.001 * static_cast<double>(i * 37 % 100);
  for (int copy = 0; copy < 4; ++copy)  // two quantities of two chains
    draws.values.insert(draws.values.end(), of_chain.begin(), of_chain.end());
  const auto warnings = [&](double difference) {
    StackingScores scores(draws, {}, draws.num_draws);
    for (int row = 0; row < 40; ++row) {
      std::vector<double> values = of_chain;
      for (const double value : of_chain) values.push_back(value - difference);
      scores.add(values);
    }
    return scores.result(1).warnings;
  };
  ASSERT_EQ(warnings(0).size(), 1u);
  EXPECT_NE(warnings(0)[0].find("equal weights predict as well"), std::string::npos) << warnings(0)[0];
  EXPECT_TRUE(warnings(1).empty());
}

TEST(Stack, WarnsWhereImportanceSamplingFailsAndRefusesWhatDoesNotFit) {
  const Posterior posterior(line(), read_table(kFaithful));
  const Draws draws = sample(posterior, {.chains = 2, .draws = 200, .warmup = 300});
  std::vector<std::size_t> halves(posterior.data().num_rows);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = i % 2;
  const Stacking stacked = stack(posterior, draws, {.groups = halves});
  ASSERT_FALSE(stacked.warnings.empty());
  EXPECT_NE(stacked.warnings[0].find("Pareto k above 0.7"), std::string::npos) << stacked.warnings[0];
  EXPECT_TRUE(std::any_of(stacked.warnings.begin(), stacked.warnings.end(), [](const std::string& line) {
    return line.find("are few for an estimate of weights") != std::string::npos;
  }));
  EXPECT_NE(refusal([&] { stack(posterior, draws, {.clusters = {0}}); }).find("1 numbers for 2 chains"),
            std::string::npos);
  EXPECT_NE(refusal([&] {
              stack(posterior, draws, {.clusters = {1, 1}});
            }).find("without gaps"),
            std::string::npos);
  EXPECT_NE(refusal([&] { stacked_summary(draws.run, std::vector<double>{1}); }).find("1 for 2 chains"),
            std::string::npos);
}

// Draws in memory and draws from a directory have the same rungs of tempering.
TEST(Rungs, OfARunInADirectoryAreThoseOfOneInMemory) {
  const testing::ProgramFolder folder;
  const Posterior posterior(line(), read_table(kFaithful));
  SampleOptions options{.chains = 2, .draws = 60, .warmup = 80, .tempering = {.rungs = 3}};
  const Draws memory = sample(posterior, options);
  ASSERT_TRUE(memory.rungs);
  options.directory = folder / "run";
  const Draws written = sample(posterior, options), read = read_run(folder / "run");
  for (const Draws* draws : {&written, &read}) {
    ASSERT_TRUE(draws->rungs);
    EXPECT_EQ(draws->rungs->betas, memory.rungs->betas);
    EXPECT_EQ(draws->rungs->log_likelihood, memory.rungs->log_likelihood);
    EXPECT_EQ(draws->rungs->exchanges.swap_rates, memory.rungs->exchanges.swap_rates);
    EXPECT_EQ(draws->rungs->exchanges.round_trips, memory.rungs->exchanges.round_trips);
  }
}

}  // namespace
}  // namespace emomc
