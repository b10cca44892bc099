#include <limits>

#include "emomc/sampler/mixture_labels.hpp"

namespace emomc {

// The rows are added one by one along shortest augmenting paths; `row_price` and `column_price` are the dual
// variables. Index 0 means "none".
std::vector<int> least_cost_assignment(std::span<const double> cost, int K) {
  const auto n = static_cast<std::size_t>(K);
  std::vector<double> row_price(n + 1, 0.0), column_price(n + 1, 0.0);
  std::vector<std::size_t> row_of(n + 1, 0), previous(n + 1, 0);
  for (std::size_t row = 1; row <= n; ++row) {
    std::vector<double> distance(n + 1, std::numeric_limits<double>::infinity());
    std::vector<bool> done(n + 1, false);
    std::size_t column = 0;
    row_of[0] = row;
    do {
      done[column] = true;
      const std::size_t from = row_of[column];
      double least = std::numeric_limits<double>::infinity();
      std::size_t next = 0;
      for (std::size_t j = 1; j <= n; ++j) {
        if (done[j]) continue;
        const double reduced = cost[(from - 1) * n + j - 1] - row_price[from] - column_price[j];
        if (reduced < distance[j]) {
          distance[j] = reduced;
          previous[j] = column;
        }
        if (next == 0 || distance[j] < least) {
          least = distance[j];
          next = j;
        }
      }
      for (std::size_t j = 0; j <= n; ++j) {
        if (done[j]) {
          row_price[row_of[j]] += least;
          column_price[j] -= least;
        } else {
          distance[j] -= least;
        }
      }
      column = next;
    } while (row_of[column] != 0);
    while (column != 0) {
      row_of[column] = row_of[previous[column]];
      column = previous[column];
    }
  }
  std::vector<int> result(n);
  for (std::size_t j = 1; j <= n; ++j) result[row_of[j] - 1] = static_cast<int>(j - 1);
  return result;
}

}  // namespace emomc
