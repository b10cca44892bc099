// Compares diagnostics of few draws with R's posterior and ArviZ and with the spread over seeds, and tests
// draws with ties.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

#include "emomc/device/random.hpp"
#include "emomc/sampler/diagnostics.hpp"

namespace emomc {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Chains {
  std::size_t num_draws, num_chains;
  std::vector<double> values;
  DrawsView view() const {
    return {values.data(), num_draws, num_chains, 1, static_cast<std::ptrdiff_t>(num_draws)};
  }
  double operator()(std::size_t i, std::size_t c) const { return values[c * num_draws + i]; }
};

Chains autoregressive(std::uint64_t seed, std::size_t num_chains, std::size_t num_draws, double rho) {
  Chains chains{num_draws, num_chains, std::vector<double>(num_chains * num_draws)};
  for (std::size_t c = 0; c < num_chains; ++c) {
    const device::RandomSource random{seed, 0, static_cast<std::uint32_t>(c)};
    double* x = chains.values.data() + c * num_draws;
    for (std::size_t i = 0; i < num_draws; ++i) {
      const double z = random.normal(device::Purpose::simulation, static_cast<std::uint32_t>(i));
      x[i] = i == 0 ? z : rho * x[i - 1] + std::sqrt(1 - rho * rho) * z;
    }
  }
  return chains;
}

double variance(const std::vector<double>& x) {
  const double mean = std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
  double sum = 0;
  for (double value : x) sum += (value - mean) * (value - mean);
  return sum / static_cast<double>(x.size() - 1);
}

// Computes the ESS of the mean as docs/statistics.md defines it, given that of posterior, by plain sums over
// the halves.
double ess_by_definition(const Chains& chains, double posterior) {
  const std::size_t n = chains.num_draws / 2, skip = chains.num_draws - n;
  if (n < 3) return kNan;
  std::vector<double> acov(n, 0.0), half_means, chain_means;
  for (std::size_t c = 0; c < chains.num_chains; ++c) {
    for (std::size_t begin : {std::size_t{0}, skip}) {
      double mean = 0;
      for (std::size_t i = 0; i < n; ++i) mean += chains(begin + i, c) / static_cast<double>(n);
      half_means.push_back(mean);
      for (std::size_t lag = 0; lag < n; ++lag)
        for (std::size_t i = 0; i + lag < n; ++i)
          acov[lag] += (chains(begin + i, c) - mean) * (chains(begin + i + lag, c) - mean) /
                       static_cast<double>(n * 2 * chains.num_chains);
    }
    chain_means.push_back((half_means.end()[-1] + half_means.end()[-2]) / 2);
  }
  const double within = acov[0] * static_cast<double>(n) / static_cast<double>(n - 1);
  const double total = acov[0] + variance(half_means);
  const auto pair = [&](std::size_t t) { return 2 - (2 * within - acov[t] - acov[t + 1]) / total; };
  double last = 1 + 1 - (within - acov[1]) / total;
  for (std::size_t t = 2; t + 3 < n && last > 0; t += 2) last = pair(t);
  if (last <= 0 || chains.num_chains < 2) return posterior;
  const double between = static_cast<double>(chains.num_chains) * total / variance(chain_means);
  const auto size = static_cast<double>(2 * n * chains.num_chains);
  return chains.num_chains < 16 ? std::min(posterior, between) : std::min(between, size * std::log10(size));
}

TEST(ShortChains, DiagnosticsAreThoseOfPosteriorOrDifferAsDocumented) {
  std::ifstream file(EMOMC_SOURCE_DIR "/tests/libsampler/data/short_chains.json");
  ASSERT_TRUE(file);
  const auto number = [](const nlohmann::json& x) { return x.is_null() ? kNan : x.get<double>(); };
  const auto expect = [](double ours, double theirs, const std::string& what) {
    if (std::isnan(theirs))
      EXPECT_TRUE(std::isnan(ours)) << what << " " << ours;
    else
      EXPECT_NEAR(ours, theirs, 1e-10 * theirs) << what;
  };
  int compared = 0, as_posterior = 0, as_arviz = 0;
  for (const auto& one : nlohmann::json::parse(file)) {
    const auto rows = one["draws"].get<std::vector<std::vector<double>>>();
    Chains chains{rows[0].size(), rows.size(), {}};
    for (const auto& row : rows) chains.values.insert(chains.values.end(), row.begin(), row.end());
    const auto& posterior = one["posterior"];
    const std::string what = std::to_string(rows.size()) + " x " + std::to_string(rows[0].size());
    const QuantitySummary s = summarize(chains.view());
    if (rows[0].size() < 4) {  // posterior does not split three draws; here, as in ArviZ, they are too few
      EXPECT_TRUE(std::isnan(s.rhat) && std::isnan(s.ess_bulk) && std::isnan(s.mcse_mean)) << what;
      continue;
    }
    expect(s.rhat, number(posterior["rhat"]), "R-hat " + what);
    const double ess = ess_mean(chains.view()), theirs = number(posterior["ess_mean"]);
    expect(ess, ess_by_definition(chains, theirs), "ESS " + what);
    expect(s.mcse_mean, s.sd / std::sqrt(ess_by_definition(chains, theirs)), "MCSE " + what);
    // With fewer than 16 chains the spread of the chain means can only reduce the ESS.
    if (rows.size() < 16 && s.ess_bulk > number(posterior["ess_bulk"]) * (1 + 1e-10)) ADD_FAILURE() << what;
    ++compared;
    as_posterior += std::abs(ess - theirs) <= 1e-10 * theirs;
    as_arviz += std::abs(ess - number(one["arviz"]["ess_mean"])) <= 1e-10 * ess;
  }
  EXPECT_EQ(compared, 17 * 5 + 2);
  EXPECT_GT(as_posterior, 40);
  EXPECT_GT(as_arviz, 25);
}

// The Monte Carlo standard error of many short chains is the sd of their mean over seeds, which is known: the
// sd of a mean of n draws of an autoregression, divided by the square root of the number of chains. The
// reported error varies by 1 / sqrt(2 (chains - 1)), and the bias of ranks does not enter. The mean over 40
// seeds must be within five of its standard errors plus a bias of 6 % (that of the sd of dependent draws).
TEST(ShortChains, ErrorsOfManyShortChainsAreTheSpreadOverSeeds) {
  for (const auto& [chains, draws, rho] : {std::tuple{256, 10, 0.95}, std::tuple{256, 8, 0.5},
                                           std::tuple{64, 11, 0.9}, std::tuple{512, 9, 0.0}}) {
    double sum = 0;
    for (int lag = 1 - draws; lag < draws; ++lag)
      sum += (1 - std::abs(lag) / static_cast<double>(draws)) * std::pow(rho, std::abs(lag));
    const double truth = std::sqrt(sum / draws / chains);
    double mean = 0;
    constexpr int kSeeds = 40;
    for (int seed = 0; seed < kSeeds; ++seed)
      mean += mcse_mean(autoregressive(static_cast<std::uint64_t>(seed), static_cast<std::size_t>(chains),
                                       static_cast<std::size_t>(draws), rho)
                            .view()) /
              kSeeds;
    EXPECT_NEAR(mean / truth, 1, 0.06 + 5 / std::sqrt(2.0 * (chains - 1) * kSeeds))
        << chains << " x " << draws << ", " << rho;
  }
}

// One column has two values, and the 95 % quantile of the other one is its maximum.
TEST(ShortChains, TiesHaveATailEss) {
  Chains binary = autoregressive(3, 4, 500, 0), top = binary;
  for (double& x : binary.values) x = x < -0.5 ? 1 : 0;
  for (double& x : top.values) x = std::min(x, 1.0);
  for (const Chains& chains : {binary, top}) {
    const QuantitySummary s = summarize(chains.view());
    EXPECT_NEAR(s.ess_tail, 2000, 600);  // six sds of 5 %
    EXPECT_EQ(s.ess_tail, ess_tail(chains.view()));
    EXPECT_LT(s.rhat, 1.02);
  }
  // Half of the draws are zeros and half are ones: all have the same distance from the median.
  Chains coin = autoregressive(4, 2, 400, 0);
  for (std::size_t i = 0; i < coin.values.size(); ++i) coin.values[i] = static_cast<double>((i * 7 / 3) % 2);
  EXPECT_FALSE(std::isnan(summarize(coin.view()).rhat));
}

TEST(ShortChains, StuckChainsHaveAnInfiniteRhat) {
  Chains chains{100, 4, {}};
  for (double place : {0.1, 0.2, 0.3, 0.7}) chains.values.insert(chains.values.end(), 100, place);
  EXPECT_EQ(rhat(chains.view()), std::numeric_limits<double>::infinity());
  EXPECT_EQ(summarize(chains.view()).rhat, std::numeric_limits<double>::infinity());
  EXPECT_NEAR(rhat_nested(chains.view(), 2), std::sqrt(1 + (0.35 * 0.35 / 2) / ((0.005 + 0.08) / 2)), 1e-9);
  Chains pairs = chains;
  for (std::size_t c : {std::size_t{1}, std::size_t{3}})
    std::copy_n(pairs.values.begin() + static_cast<std::ptrdiff_t>((c - 1) * 100), 100,
                pairs.values.begin() + static_cast<std::ptrdiff_t>(c * 100));
  EXPECT_EQ(rhat_nested(pairs.view(), 2), std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < 400; i += 3)
    chains.values[i] = std::nextafter(chains.values[i], 9);  // rounding does not count as a move
  EXPECT_EQ(rhat(chains.view()), std::numeric_limits<double>::infinity());
  Chains rounded{50, 2, std::vector<double>(100, 0.3)};
  rounded.values[7] = std::nextafter(0.3, 1);
  EXPECT_TRUE(std::isnan(rhat(rounded.view())));
  EXPECT_TRUE(std::isnan(ess_bulk(rounded.view())));
}

}  // namespace
}  // namespace emomc
