#include "emomc/posterior/row_summaries.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "emomc/core/errors.hpp"
#include "emomc/posterior/text_table.hpp"

namespace emomc {
namespace {

constexpr std::size_t kMostValues = std::size_t{1} << 25;  // draws x rows x quantities in memory: 256 MB
// This many series are copied out of the values together, because their numbers share cache lines.
constexpr std::size_t kTogether = 8;

/// The places of levels, the lowest level first.
std::vector<std::size_t> ascending(const std::vector<double>& levels) {
  for (const double level : levels)
    if (!(level >= 0 && level <= 1))
      throw InputError("quantiles: " + shortest_text(level) + " is out of range; allowed: 0 to 1");
  std::vector<std::size_t> order(levels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return levels[a] < levels[b]; });
  return order;
}

/// Summarises one quantity of one row, the number `at`. Reorders `values`, which are not empty.
void summarize(std::span<double> values, const std::vector<std::size_t>& order, std::size_t at,
               RowSummaries& all) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (double x : values) squares += (x - mean) * (x - mean);
  all.mean[at] = mean;
  all.sd[at] = values.size() > 1 ? std::sqrt(squares / (n - 1)) : 0;
  auto unsorted = values.begin();  // everything before is in its place
  for (const std::size_t q : order) {
    const double place = all.levels[q] * (n - 1);
    const auto low = values.begin() + static_cast<std::ptrdiff_t>(place);
    if (low >= unsorted) {
      std::nth_element(unsorted, low, values.end());
      unsorted = low + 1;
    }
    const double high = unsorted < values.end() ? *std::min_element(unsorted, values.end()) : *low;
    all.quantiles[at * order.size() + q] = *low + (place - std::floor(place)) * (high - *low);
  }
}

}  // namespace

RowSummaries summarize_rows(const RowQuantities& quantities, std::vector<double> levels, ThreadPool& threads,
                            const RowBlockHandler& handle) {
  const std::size_t rows = quantities.num_rows, draws = quantities.num_draws,
                    outputs = quantities.num_quantities;
  const std::vector<std::size_t> order = ascending(levels);
  RowSummaries all{rows, outputs, std::move(levels), {}, {}, {}};
  all.mean.resize(rows * outputs);
  all.sd.resize(rows * outputs);
  all.quantiles.resize(rows * outputs * order.size());
  const std::size_t at_once = std::max<std::size_t>(1, kMostValues / draws / outputs);
  std::vector<double> values(draws * std::min(rows, at_once) * outputs);
  std::vector<std::vector<double>> scratch(static_cast<std::size_t>(threads.num_threads()));
  for (auto& series : scratch) series.resize(kTogether * draws);
  for (std::size_t first = 0; first < rows; first += at_once) {
    const std::size_t count = std::min(at_once, rows - first), size = count * outputs;
    threads.for_each(
        draws, [&](std::size_t s, int) { quantities.evaluate(s, first, count, values.data() + s * size); });
    threads.for_each((size + kTogether - 1) / kTogether, [&](std::size_t group, int worker) {
      const std::size_t begin = group * kTogether, together = std::min(kTogether, size - begin);
      double* series = scratch[static_cast<std::size_t>(worker)].data();
      for (std::size_t s = 0; s < draws; ++s)
        for (std::size_t i = 0; i < together; ++i) {
          const double x = values[s * size + begin + i];
          if (!std::isfinite(x))
            throw InputError(quantities.fault((begin + i) % outputs, x) + " in row " +
                             std::to_string(first + (begin + i) / outputs + 1) + " of the data");
          series[i * draws + s] = x;
        }
      for (std::size_t i = 0; i < together; ++i)
        summarize({series + i * draws, draws}, order, first * outputs + begin + i, all);
    });
    if (handle)
      handle(first, count, {values.data(), draws * size}, {all.mean.data() + first * outputs, size});
  }
  return all;
}

}  // namespace emomc
