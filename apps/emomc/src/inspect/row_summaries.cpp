#include "row_summaries.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "emomc/core/errors.hpp"
#include "progress.hpp"

namespace emomc::app {
namespace {

constexpr std::size_t kMostValues = std::size_t{1} << 25;  // draws x rows x quantities in memory: 256 MB
// This many series are copied out of the values together, because their numbers share cache lines.
constexpr std::size_t kTogether = 8;

}  // namespace

RowSummary summary_of(std::span<double> values) {
  RowSummary s;
  const auto n = static_cast<double>(values.size());
  s.mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  for (double x : values) s.sd += (x - s.mean) * (x - s.mean);
  s.sd = values.size() > 1 ? std::sqrt(s.sd / (n - 1)) : 0;
  auto unsorted = values.begin();  // all earlier values are already in their sorted places
  for (std::size_t q = 0; q < kQuantileLevels.size(); ++q) {
    const double at = kQuantileLevels[q] * (n - 1);
    const auto low = values.begin() + static_cast<std::ptrdiff_t>(at);
    if (low >= unsorted) {
      std::nth_element(unsorted, low, values.end());
      unsorted = low + 1;
    }
    const double high = unsorted < values.end() ? *std::min_element(unsorted, values.end()) : *low;
    s.quantiles[q] = *low + (at - std::floor(at)) * (high - *low);
  }
  return s;
}

std::vector<RowSummary> summarize_rows(const RowQuantities& quantities, ThreadPool& threads,
                                       const RowBlockHandler& handle) {
  const std::size_t rows = quantities.num_rows, draws = quantities.num_draws,
                    outputs = quantities.names.size();
  const std::size_t at_once = std::max<std::size_t>(1, kMostValues / draws / outputs);
  std::vector<RowSummary> all(rows * outputs);
  CountLine progress("predict: rows", rows, Verbosity::normal);
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
        all[first * outputs + begin + i] = summary_of({series + i * draws, draws});
    });
    if (handle)
      handle(first, count, {values.data(), draws * size}, {all.data() + first * outputs, count * outputs});
    progress.add(count);
  }
  progress.end();
  return all;
}

nlohmann::ordered_json to_json(std::span<const RowSummary> all, std::size_t quantity,
                               std::size_t num_quantities) {
  nlohmann::ordered_json json;
  for (std::size_t i = quantity; i < all.size(); i += num_quantities) {
    json["mean"].push_back(all[i].mean);
    json["sd"].push_back(all[i].sd);
    json["q5"].push_back(all[i].quantiles[0]);
    json["q50"].push_back(all[i].quantiles[1]);
    json["q95"].push_back(all[i].quantiles[2]);
  }
  return json;
}

}  // namespace emomc::app
