// Summarises quantities of each row under the posterior: their means, sds and quantiles over draws.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "emomc/core/thread_pool.hpp"

namespace emomc::app {

inline constexpr std::array<double, 3> kQuantileLevels{0.05, 0.5, 0.95};

/// The summary of one quantity over draws.
struct RowSummary {
  double mean = 0, sd = 0;
  std::array<double, kQuantileLevels.size()> quantiles{};  ///< quantiles of type 7 at kQuantileLevels
};
/// Returns the summary of `values`, which must not be empty. Reorders `values`.
RowSummary summary_of(std::span<double> values);

struct RowQuantities {
  std::vector<std::string> names;
  std::size_t num_rows = 0, num_draws = 0;
  /// Writes num_rows x names.size() values of the rows from first_row on for one draw. Several threads call
  /// this function.
  std::function<void(std::size_t draw, std::size_t first_row, std::size_t num_rows, double* out)> evaluate;
  /// Describes the fault of a value that is not finite; the caller adds the row's number to the text.
  std::function<std::string(std::size_t quantity, double value)> fault;
};

/// Receives the values [draws x num_rows x quantities] of a block of rows, and their summaries.
using RowBlockHandler = std::function<void(std::size_t first_row, std::size_t num_rows,
                                           std::span<const double> values, std::span<const RowSummary>)>;

/// Returns the summaries [num_rows x names.size()], row-major. Only some rows' values are in memory at a
/// time; blocks are handled in the order of rows. Shows progress. Throws InputError if a value is not finite.
std::vector<RowSummary> summarize_rows(const RowQuantities& quantities, ThreadPool& threads,
                                       const RowBlockHandler& handle = {});

/// Returns {"mean": [...], "sd": [...], "q5": ..., "q50": ..., "q95": ...} of one quantity, over rows.
nlohmann::ordered_json to_json(std::span<const RowSummary> all, std::size_t quantity,
                               std::size_t num_quantities);

}  // namespace emomc::app
