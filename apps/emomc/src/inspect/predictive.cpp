#include "predictive.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

#include "emomc/core/errors.hpp"
#include "emomc/core/thread_pool.hpp"
#include "emomc/likelihood/model_info.hpp"
#include "emomc/likelihood/simulate.hpp"
#include "emomc/posterior/run_data.hpp"
#include "emomc/sampler/draw_set.hpp"
#include "expression_run.hpp"
#include "pointwise.hpp"

namespace emomc::app {
namespace {

constexpr std::size_t kMostDataBytes = 2'000'000'000;
constexpr double kMostNumbers = 4e8;  // upper bound of the simulated numbers
constexpr std::array<const char*, 9> kStatistics{"mean", "sd",  "skewness", "kurtosis", "minimum",
                                                 "q5",   "q50", "q95",      "maximum"};
using Statistics = std::array<double, kStatistics.size()>;

// The statistics of column j of `values` [rows x columns].
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
constexpr std::uint64_t kSeed = 20260101;

/// The checks of `observed` [rows x columns] against `count` replicates, which `replicate(r)` simulates; it
/// is called by several threads.
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

/// Of a likelihood of the user's own: the columns that likelihood.simulate draws.
std::vector<PredictiveCheck> checks_of_expression(const std::filesystem::path& directory,
                                                  const Expression& expression, const DrawSet& draws,
                                                  int replicates) {
  constexpr double kMostSimulated = 2e7;  // rows; the expressions are interpreted
  if (expression.simulated().empty())
    throw InputError(
        directory.string() +
        ": its configuration has no likelihood.simulate, which says how columns are drawn, as in "
        "simulate: {y: \"poisson_log_rng(eta)\"}");
  const RunData known = read_run_data(directory, 0);
  check_data_files(directory, known);
  const ExpressionRows rows = read_expression_rows(expression, known.columns, Expression::Part::simulation,
                                                   known.request({}), known.units());
  const Table observed = read_table(known.request(expression.simulated()));
  const auto dim = static_cast<std::size_t>(expression.layout().dim());
  const int possible =
      static_cast<int>(std::min(1e6, kMostSimulated / static_cast<double>(rows.table.num_rows)));
  const auto count = static_cast<std::size_t>(std::max(kFewest, std::min(replicates, possible)));
  const std::size_t all = draws.num_chains() * draws.num_draws;
  return checks_of(expression.simulated(), observed.values, count, [&](std::size_t r) {
    std::vector<double> theta(dim), values(observed.values.size());
    for (std::size_t j = 0; j < dim; ++j)
      theta[j] = draws.values[(draws.num_log_densities + j) * all + r * all / count];
    expression.simulate(theta.data(), rows.values, kSeed, static_cast<std::uint32_t>(r), values.data());
    return values;
  });
}

}  // namespace

std::vector<PredictiveCheck> predictive_checks(const std::filesystem::path& directory, int replicates) {
  const DrawSet draws = draw_set_of(read_chains(directory), directory.string());
  if (const auto expression = expression_of_run(directory))
    return checks_of_expression(directory, *expression, draws, replicates);
  const RunData data = read_run_data(directory, kMostDataBytes);
  if (data.values.empty())
    throw InputError(directory.string() + ": its data are gone, have changed, or are too large to replicate");
  ParameterLayout layout = draws.layout;
  const ModelSpec model = model_of(layout);
  const auto columns = data.columns.size(), rows = data.values.size() / columns;
  const ParameterLayout own =
      layout_of_likelihood(layout, model, static_cast<int>(columns), directory.string());
  layout = own;
  const auto dim = static_cast<std::size_t>(own.dim());
  const int possible =
      static_cast<int>(std::min(1e6, kMostNumbers / static_cast<double>(data.values.size())));
  const auto count = static_cast<std::size_t>(std::max(kFewest, std::min(replicates, possible)));
  const std::size_t all = draws.num_chains() * draws.num_draws;

  std::vector<std::vector<double>> thetas(count, std::vector<double>(dim));
  for (std::size_t r = 0; r < count; ++r) {
    for (std::size_t j = 0; j < dim; ++j)
      thetas[r][j] = draws.values[(draws.num_log_densities + j) * all + r * all / count];
    from_written(layout, thetas[r]);
  }
  return checks_of(data.columns, data.values, count, [&](std::size_t r) {
    return simulate_rows(model, static_cast<int>(columns), thetas[r], rows, kSeed + r);
  });
}

}  // namespace emomc::app
