#include "predictive.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

#include "emomc/core/errors.hpp"
#include "emomc/core/thread_pool.hpp"
#include "emomc/posterior/memory_table.hpp"
#include "emomc/sampler/draw_set.hpp"
#include "run_predictive.hpp"

namespace emomc::app {
namespace {

// Upper bounds on the number of simulated values. The second one is for expressions, which are interpreted.
constexpr double kMostNumbers = 4e8, kMostInterpreted = 2e7;
constexpr std::array<const char*, 9> kStatistics{"mean", "sd",  "skewness", "kurtosis", "minimum",
                                                 "q5",   "q50", "q95",      "maximum"};
using Statistics = std::array<double, kStatistics.size()>;

// Returns the statistics of column j of `values` [rows x columns].
Statistics statistics_of(const std::vector<double>& values, std::size_t columns, std::size_t j,
                         std::vector<double>& column) {
  column.clear();
  for (std::size_t i = j; i < values.size(); i += columns) column.push_back(values[i]);
  const auto n = static_cast<double>(column.size());
  const double mean = std::accumulate(column.begin(), column.end(), 0.0) / n;
  double second = 0, third = 0, fourth = 0;
  for (double x : column) {
    second += (x - mean) * (x - mean) / n;
    third += (x - mean) * (x - mean) * (x - mean) / n;
    fourth += (x - mean) * (x - mean) * (x - mean) * (x - mean) / n;
  }
  const auto quantile = [&](double p) {
    const auto at = column.begin() + static_cast<std::ptrdiff_t>(p * (n - 1));
    std::nth_element(column.begin(), at, column.end());
    return *at;
  };
  const double sd = std::sqrt(second);
  const auto [least, greatest] = std::minmax_element(column.begin(), column.end());
  const double minimum = *least, maximum = *greatest;  // before quantile() moves the elements
  return {mean,
          sd,
          sd > 0 ? third / (sd * second) : 0.0,
          sd > 0 ? fourth / (second * second) - 3 : 0.0,
          minimum,
          quantile(0.05),
          quantile(0.5),
          quantile(0.95),
          maximum};
}

}  // namespace

namespace {

constexpr int kFewest = 20;

/// Returns the checks of `observed` [rows x columns] against `count` replicates. Several threads call
/// `replicate(r)`, which simulates replicate r.
std::vector<PredictiveCheck> checks_of(const std::vector<std::string>& names,
                                       const std::vector<double>& observed, std::size_t count,
                                       const std::function<std::vector<double>(std::size_t)>& replicate) {
  const std::size_t columns = names.size();
  ThreadPool threads(0);
  std::vector<Statistics> replicated(count * columns);
  std::vector<std::vector<double>> scratch(static_cast<std::size_t>(threads.num_threads()));
  threads.for_each(count, [&](std::size_t r, int worker) {
    const auto values = replicate(r);
    for (std::size_t j = 0; j < columns; ++j)
      replicated[r * columns + j] =
          statistics_of(values, columns, j, scratch[static_cast<std::size_t>(worker)]);
  });
  std::vector<PredictiveCheck> checks;
  for (std::size_t j = 0; j < columns; ++j) {
    const Statistics of_data = statistics_of(observed, columns, j, scratch[0]);
    for (std::size_t t = 0; t < kStatistics.size(); ++t) {
      std::vector<double> values;
      double above = 0;
      for (std::size_t r = 0; r < count; ++r) {
        values.push_back(replicated[r * columns + j][t]);
        above += values.back() > of_data[t] ? 1 : values.back() == of_data[t] ? 0.5 : 0;
      }
      std::sort(values.begin(), values.end());
      checks.push_back({names[j], kStatistics[t], of_data[t],
                        std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(count),
                        values[count / 20], values[count - 1 - count / 20],
                        above / static_cast<double>(count)});
    }
  }
  return checks;
}

}  // namespace

std::vector<PredictiveCheck> predictive_checks(const std::filesystem::path& directory, int replicates) {
  const std::vector<ChainDraws> chains = read_chains(directory);
  const DrawSet draws = draw_set_of(chains, directory.string());
  const Table data = data_of_run(directory);
  const RowSimulator simulator = simulator_of_run(directory, draws.layout, data);
  const Table observed = columns_of(data, simulator.variables());
  const auto values = static_cast<double>(observed.values.size());
  const int possible =
      static_cast<int>(std::min(1e6, (simulator.expression() ? kMostInterpreted : kMostNumbers) / values));
  const auto count = static_cast<std::size_t>(std::max(kFewest, std::min(replicates, possible)));
  const std::size_t all = draws.num_chains() * draws.num_draws;
  const std::uint64_t seed = seed_of_replicates(chains.at(0).header.seed);
  return checks_of(simulator.variables(), observed.values, count, [&](std::size_t r) {
    std::vector<double> theta(simulator.num_parameters()), rows(observed.values.size());
    for (std::size_t j = 0; j < theta.size(); ++j)
      theta[j] = draws.values[(draws.num_log_densities + j) * all + r * all / count];
    simulator.simulate(theta, seed, static_cast<std::uint32_t>(r), rows);
    return rows;
  });
}

}  // namespace emomc::app
