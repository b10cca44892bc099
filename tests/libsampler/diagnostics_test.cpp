#include "emomc/sampler/diagnostics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "draw_matrix.hpp"
#include "emomc/device/random.hpp"
#include "shared_data.hpp"

namespace emomc {
namespace {

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> fields;
  std::stringstream stream(line);
  for (std::string field; std::getline(stream, field, ',');) {
    std::erase(field, '"');
    fields.push_back(field);
  }
  return fields;
}

// Returns the columns of a CSV file, without comment lines.
std::map<std::string, std::vector<double>> read_columns(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<std::string> names;
  std::map<std::string, std::vector<double>> columns;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const auto fields = split(line);
    if (names.empty()) {
      names = fields;
      continue;
    }
    for (std::size_t i = 0; i < names.size(); ++i) columns[names[i]].push_back(std::stod(fields[i]));
  }
  return columns;
}

// Compares all 17 diagnostics of 48 parameters with R's posterior.
TEST(Diagnostics, AreThoseOfRPosteriorOnTheBlockerDraws) {
  const auto folder = testing::shared_data("diagnostics/blocker");
  if (!folder) GTEST_SKIP() << "no shared data: set EMOMC_SHARED_DATA";
  const auto first = read_columns(*folder / "blocker.1.csv"),
             second = read_columns(*folder / "blocker.2.csv");
  std::ifstream file(*folder / "reference_posterior.csv");
  std::string line;
  std::getline(file, line);
  const auto names = split(line);
  int checked = 0;
  while (std::getline(file, line)) {
    const auto fields = split(line);
    std::vector<double> draws = first.at(fields[0]);
    ASSERT_EQ(draws.size(), 1000u);
    const auto& other = second.at(fields[0]);
    draws.insert(draws.end(), other.begin(), other.end());
    const DrawsView view{draws.data(), 1000, 2, 1, 1000};
    double mean = 0;
    for (double x : draws) mean += x / 2000;
    std::vector<double> squares;
    for (double x : draws) squares.push_back((x - mean) * (x - mean));
    const std::map<std::string, double> ours{
        {"rhat_rank", rhat(view)},
        {"rhat_raw", rhat_basic(view)},
        {"ess_bulk", ess_bulk(view)},
        {"ess_tail", ess_tail(view)},
        {"ess_mean", ess_mean(view)},
        {"ess_sd", ess_mean({squares.data(), 1000, 2, 1, 1000})},
        {"ess_median", ess_quantile(view, 0.5)},
        {"ess_raw", ess_basic(view)},
        {"ess_quantile01", ess_quantile(view, 0.01)},
        {"ess_quantile10", ess_quantile(view, 0.1)},
        {"ess_quantile30", ess_quantile(view, 0.3)},
        {"mcse_mean", mcse_mean(view)},
        {"mcse_sd", mcse_sd(view)},
        {"mcse_median", mcse_quantile(view, 0.5)},
        {"mcse_quantile01", mcse_quantile(view, 0.01)},
        {"mcse_quantile10", mcse_quantile(view, 0.1)},
        {"mcse_quantile30", mcse_quantile(view, 0.3)},
    };
    for (std::size_t i = 1; i < names.size(); ++i) {
      const double expected = std::stod(fields[i]);
      EXPECT_NEAR(ours.at(names[i]), expected, 1e-10 * std::abs(expected)) << fields[0] << " " << names[i];
      ++checked;
    }
    const QuantitySummary s = summarize(view);
    EXPECT_EQ(s.rhat, ours.at("rhat_rank"));
    EXPECT_EQ(s.ess_bulk, ours.at("ess_bulk"));
    EXPECT_EQ(s.ess_tail, ours.at("ess_tail"));
    EXPECT_EQ(s.mcse_mean, ours.at("mcse_mean"));
    EXPECT_EQ(s.mcse_sd, ours.at("mcse_sd"));
  }
  EXPECT_EQ(checked, 17 * 48);
}

std::vector<double> normals(std::size_t n) {
  std::vector<double> x;
  const device::RandomSource random{3, 0, 0};
  for (std::uint32_t i = 0; i < n; ++i) x.push_back(random.normal(device::Purpose::simulation, i));
  return x;
}

// For independent draws the ESS is close to the number of draws, and R-hat to 1. The bounds are six times the
// spread over seeds (the sd of the ESS is about 5 %).
TEST(Diagnostics, IndependentDrawsCountInFull) {
  const auto x = normals(4000);
  const DrawsView view{x.data(), 1000, 4, 1, 1000};
  EXPECT_NEAR(ess_bulk(view), 4000, 1200);
  EXPECT_NEAR(ess_mean(view), 4000, 1200);
  EXPECT_LT(rhat(view), 1.01);
  EXPECT_NEAR(mcse_mean(view), draws_sd(view) / std::sqrt(ess_mean(view)), 1e-15);
}

// Independent chains count as much in an ensemble as they do alone; equal chains count no more than one of
// them.
TEST(Diagnostics, AnEnsembleCountsByTheMeanOfItsChains) {
  auto x = normals(8000);
  for (std::size_t c = 0; c < 8; ++c)
    for (std::size_t i = 1; i < 1000; ++i) x[c * 1000 + i] += 0.8 * x[c * 1000 + i - 1];
  const DrawsView alone{x.data(), 1000, 8, 1, 1000}, together{x.data(), 1000, 8, 1, 1000, 8},
      two{x.data(), 1000, 8, 1, 1000, 4};
  EXPECT_NEAR(ess_mean(together) / ess_mean(alone), 1, 0.4);
  EXPECT_NEAR(ess_mean(two) / ess_mean(alone), 1, 0.4);
  std::vector<double> copies;
  for (int c = 0; c < 8; ++c) copies.insert(copies.end(), x.begin(), x.begin() + 1000);
  const DrawsView one{x.data(), 1000, 1, 1, 1000}, same{copies.data(), 1000, 8, 1, 1000, 8};
  EXPECT_NEAR(ess_mean(same) / ess_mean(one), 1, 0.01);
  for (std::size_t i = 0; i < 1000; ++i) x[i] += 10;  // one chain with another mean
  EXPECT_GT(rhat(together), 1.2);
}

// There are two superchains of two chains with three draws, and the result is computed by hand. Chain means
// are 2, 3, 5, 6, and each chain has variance 1. Superchain means are 2.5 and 5.5, so that B = 4.5; within a
// superchain the chain means have variance 0.5, so that W = 1.5 and R-hat = sqrt(1 + 4.5 / 1.5) = 2.
TEST(Diagnostics, NestedRhatIsThatWorkedByHand) {
  const std::vector<double> x{1, 2, 3, 2, 3, 4, 4, 5, 6, 5, 6, 7};
  const DrawsView view{x.data(), 3, 4, 1, 3};
  EXPECT_NEAR(rhat_nested(view, 2), 2, 1e-15);
  // If each chain is a superchain, B is the variance of 2, 3, 5, 6, which is 10 / 3, and W is 1.
  EXPECT_NEAR(rhat_nested(view, 1), std::sqrt(1 + 10.0 / 3), 1e-15);
  // With one draw of each chain, W is only the variance between 1 and 2 and between 4 and 5 within their
  // superchains, 0.5.
  const std::vector<double> one{1, 2, 4, 5};
  EXPECT_NEAR(rhat_nested({one.data(), 1, 4, 1, 1}, 2), std::sqrt(1 + 4.5 / 0.5), 1e-15);
  EXPECT_TRUE(std::isnan(rhat_nested(view, 4)));
}

// The deviations of x = 1, 2, 3, 5 from its mean 2.75 give squares 3.0625 + 0.5625 + 0.0625 + 5.0625 = 8.75,
// lag 1 1.3125 - 0.1875 + 0.5625 = 1.6875, and lag 3 -3.9375.
TEST(Diagnostics, AutocorrelationsAreThoseWorkedByHand) {
  const std::vector<double> x{1, 2, 3, 5};
  const auto rho = autocorrelation({x.data(), 4, 1, 1, 4});
  ASSERT_EQ(rho.size(), 4u);
  EXPECT_NEAR(rho[0], 1, 1e-14);
  EXPECT_NEAR(rho[1], 1.6875 / 8.75, 1e-14);
  EXPECT_NEAR(rho[3], -3.9375 / 8.75, 1e-14);
}

// The first lags are summed directly and the others come from Fourier transforms; every number of draws below
// and above a block of lags is tried.
TEST(Diagnostics, AutocovariancesAreTheSameInBothWays) {
  for (const std::size_t n : {1, 2, 3, 7, 8, 9, 63, 64, 65, 71, 73, 500})
    for (const std::size_t chains : {1, 3}) {
      DrawMatrix draws(n, chains);
      double x = 0;
      for (std::size_t i = 0; i < n * chains; ++i) {
        x = 0.9 * x + device::RandomSource{3, i, 0}.normal(device::Purpose::simulation, 0);
        draws.values[i] = 1000 + x;
      }
      const std::vector<double> expected = mean_autocovariance(draws);
      Autocovariances one_by_one(draws), late(draws);
      for (std::size_t lag = 0; lag < n; ++lag)
        EXPECT_NEAR(one_by_one.at(lag), expected[lag], 1e-11 * expected[0]) << n << ", lag " << lag;
      EXPECT_NEAR(late.at(n - 1), expected[n - 1], 1e-11 * expected[0]) << n;
    }
}

TEST(Diagnostics, ChainsInDifferentPlacesRaiseRhat) {
  auto x = normals(4000);
  for (std::size_t i = 0; i < 1000; ++i) x[i] += 2;
  EXPECT_GT(rhat({x.data(), 1000, 4, 1, 1000}), 1.2);
  auto y = normals(4000);
  // The chains have the same mean but another width, which only folding detects.
  for (std::size_t i = 0; i < 1000; ++i) y[i] *= 4;
  EXPECT_GT(rhat({y.data(), 1000, 4, 1, 1000}), 1.05);
}

TEST(Diagnostics, QuantilesAreOfType7) {
  const std::vector<double> x{4, 1, 3, 2};
  const DrawsView view{x.data(), 4, 1, 1, 4};
  EXPECT_DOUBLE_EQ(draws_quantile(view, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(draws_quantile(view, 0.05), 1.15);
  EXPECT_DOUBLE_EQ(draws_quantile(view, 0), 1);
  EXPECT_DOUBLE_EQ(draws_quantile(view, 1), 4);
}

TEST(Diagnostics, StridesOnlySayWhereDrawsLie) {
  const auto x = normals(800);
  std::vector<double> interleaved(800);
  for (std::size_t c = 0; c < 4; ++c)
    for (std::size_t i = 0; i < 200; ++i) interleaved[4 * i + c] = x[200 * c + i];
  EXPECT_EQ(rhat({x.data(), 200, 4, 1, 200}), rhat({interleaved.data(), 200, 4, 4, 1}));
  EXPECT_EQ(ess_tail({x.data(), 200, 4, 1, 200}), ess_tail({interleaved.data(), 200, 4, 4, 1}));
}

TEST(Diagnostics, AnOddNumberOfDrawsDropsTheMiddleOne) {
  auto x = normals(202);
  const double before = ess_mean({x.data(), 101, 2, 1, 101});
  x[50] = x[151] = 1e6;
  EXPECT_EQ(ess_mean({x.data(), 101, 2, 1, 101}), before);
}

TEST(Diagnostics, ConstantsAndNonFiniteDrawsAreNan) {
  std::vector<double> x(100, 1.0);
  const DrawsView view{x.data(), 50, 2, 1, 50};
  EXPECT_TRUE(std::isnan(rhat(view)));
  EXPECT_TRUE(std::isnan(ess_bulk(view)));
  EXPECT_EQ(summarize(view).mean, 1.0);
  EXPECT_EQ(summarize(view).sd, 0.0);
  EXPECT_TRUE(std::isnan(summarize(view).rhat));
  auto y = normals(100);
  y[3] = std::nan("");
  EXPECT_TRUE(std::isnan(rhat({y.data(), 50, 2, 1, 50})));
  EXPECT_TRUE(std::isnan(summarize({y.data(), 50, 2, 1, 50}).q50));
  y[3] = INFINITY;
  EXPECT_TRUE(std::isnan(ess_tail({y.data(), 50, 2, 1, 50})));
}

}  // namespace
}  // namespace emomc
