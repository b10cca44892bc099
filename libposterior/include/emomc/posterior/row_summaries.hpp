// Quantities of each row under the posterior: their means, sds and quantiles over draws.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "emomc/core/thread_pool.hpp"

namespace emomc {

/// Summaries over draws, row-major.
struct RowSummaries {
  std::size_t num_rows = 0, num_quantities = 0;
  std::vector<double> levels;     ///< of the quantiles, 0 to 1
  std::vector<double> mean, sd;   ///< num_rows x num_quantities
  std::vector<double> quantiles;  ///< num_rows x num_quantities x levels.size(), of type 7
};

struct RowQuantities {
  std::size_t num_rows = 0, num_draws = 0, num_quantities = 0;
  /// Writes num_rows x num_quantities values of the rows from first_row on for one draw. Several threads call
  /// it.
  std::function<void(std::size_t draw, std::size_t first_row, std::size_t num_rows, double* out)> evaluate;
  /// What is wrong with a value that is not finite; the row's number is added to it.
  std::function<std::string(std::size_t quantity, double value)> fault;
};

/// Receives the values [draws x num_rows x quantities] of a block of rows, and their means
/// [num_rows x quantities].
using RowBlockHandler = std::function<void(std::size_t first_row, std::size_t num_rows,
                                           std::span<const double> values, std::span<const double> means)>;

/// The summaries with quantiles at `levels`, in any order. Only some rows' values are in memory at a time;
/// blocks are handled in the order of rows, in the caller's thread. Throws InputError where a level is not
/// from 0 to 1, and where a value is not finite.
RowSummaries summarize_rows(const RowQuantities& quantities, std::vector<double> levels, ThreadPool& threads,
                            const RowBlockHandler& handle = {});

}  // namespace emomc
