// Compares log likelihoods of rows and leave-one-out with the program's and with formulas.
#include "emomc/posterior/leave_one_out.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <numeric>

#include "apps/program.hpp"
#include "libposterior/equal_chains.hpp"

namespace emomc {
namespace {

using testing::kFaithful;
using testing::line;
using testing::refusal;

TEST(RowLogLikelihoods, AreTheFormulas) {
  const Posterior posterior(line(), read_table(kFaithful));
  const std::vector<double> points{33, 11, 6, 30, 12, 5};
  const std::vector<double> values = posterior.row_log_likelihoods(points);
  const Table& table = posterior.data();
  ASSERT_EQ(values.size(), 2 * table.num_rows);
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t row = 0; row < table.num_rows; ++row) {
      const double s = points[3 * i + 2], mean = points[3 * i] + points[3 * i + 1] * table.values[2 * row];
      const double z = (table.values[2 * row + 1] - mean) / s;
      EXPECT_NEAR(values[i * table.num_rows + row],
                  -0.5 * z * z - std::log(s) - 0.5 * std::log(2 * std::numbers::pi), 1e-12);
    }
  EXPECT_EQ(refusal([&] {
              posterior.row_log_likelihoods(std::vector<double>{1, 2});
            }),
            "points have 2 elements; allowed: a multiple of 3");
}

TEST(RowLogLikelihoods, SumToTheLogLikelihoodOfADraw) {
  const Posterior posterior(GaussianMixture{.covariance = Covariance::full}, read_table(kFaithful));
  const Draws draws = sample(posterior, {.chains = 2, .draws = 20, .warmup = 100, .backend = Backend::cpu});
  const std::vector<double> values = posterior.row_log_likelihoods(points_of(draws, 40));
  const std::size_t rows = posterior.data().num_rows;
  const auto expected = draws.of("log_likelihood");
  for (std::size_t s = 0; s < 40; ++s) {
    const double* const first = values.data() + s * rows;
    EXPECT_NEAR(std::accumulate(first, first + rows, 0.0), expected[s],
                1e-4);  // draws are of mixed precision
  }
  // A smaller number of draws is taken at equal distances.
  const std::vector<double> some = points_of(draws, 10), all = points_of(draws, 40);
  const auto dim = static_cast<std::size_t>(posterior.num_parameters());
  for (std::size_t s = 0; s < 10; ++s)
    for (std::size_t j = 0; j < dim; ++j) EXPECT_EQ(some[s * dim + j], all[4 * s * dim + j]);
}

TEST(LeaveOneOut, IsThatOfTheProgram) {
  const testing::ProgramFolder folder;
  folder.write("run.yaml", "data: {file: " + kFaithful +
                               "}\nlikelihood: {components: 2, covariance: full}\n"
                               "sampler: {chains: 4, warmup: 500, draws: 500, seed: 2}\nbackend: cpu\n");
  ASSERT_EQ(folder.run("run run.yaml -q --output run").exit_code, 0);
  const auto compared = folder.run("compare run --json");
  const auto theirs = nlohmann::json::parse(compared.out)["runs"][0];
  const Posterior posterior(GaussianMixture{.covariance = Covariance::full}, read_table(kFaithful));
  const LeaveOneOut ours = leave_one_out(posterior, read_run(folder / "run"));
  ASSERT_EQ(ours.elpd.size(), posterior.data().num_rows);
  EXPECT_EQ(ours.num_draws, 1000u);
  EXPECT_NEAR(std::accumulate(ours.elpd.begin(), ours.elpd.end(), 0.0), theirs["elpd_loo"].get<double>(),
              1e-9);
  EXPECT_NEAR(std::accumulate(ours.p.begin(), ours.p.end(), 0.0), theirs["p_loo"].get<double>(), 1e-9);
  EXPECT_NEAR(*std::max_element(ours.pareto_k.begin(), ours.pareto_k.end()),
              theirs["worst_pareto_k"].get<double>(), 1e-9);
}

TEST(LeaveOneOut, GroupsAreLeftOutTogether) {
  const Posterior posterior(line(), read_table(kFaithful));
  const Draws draws = sample(posterior, {.chains = 2, .draws = 200, .warmup = 300});
  const std::size_t rows = posterior.data().num_rows;
  std::vector<std::size_t> groups(rows);
  for (std::size_t i = 0; i < rows; ++i) groups[i] = i / 2;
  const LeaveOneOut by_pair = leave_one_out(posterior, draws, groups),
                    by_row = leave_one_out(posterior, draws);
  ASSERT_EQ(by_pair.elpd.size(), rows / 2);
  for (std::size_t g = 0; g < rows / 2; ++g)
    EXPECT_NEAR(by_pair.elpd[g], by_row.elpd[2 * g] + by_row.elpd[2 * g + 1], 0.2);
  groups[0] = rows;
  EXPECT_EQ(refusal([&] { leave_one_out(posterior, draws, groups); }), "groups: 272 is too large a number");
  groups.pop_back();
  EXPECT_EQ(refusal([&] { leave_one_out(posterior, draws, groups); }),
            "groups has 271 elements; allowed: one for each of the 272 rows");
  const Posterior other(GaussianMixture{}, read_table(kFaithful));
  EXPECT_EQ(refusal([&] { leave_one_out(other, draws); }),
            "the draws have other parameters than the posterior");
}

}  // namespace
}  // namespace emomc
