// Draws in a dense array, and the transformations that diagnostics are made of.
#pragma once

#include <vector>

#include "emomc/sampler/diagnostics.hpp"

namespace emomc {

/// num_draws x num_chains, each chain contiguous.
struct DrawMatrix {
  std::size_t num_draws = 0, num_chains = 0;
  std::vector<double> values;
  std::size_t per_ensemble = 1;  ///< neighbouring chains that count as one
  /// Neighbouring chains (ensembles where there are any) whose means are not independent of one another:
  /// halves of one chain, chains of one superchain.
  std::size_t per_group = 1;

  explicit DrawMatrix(DrawsView draws);
  DrawMatrix(std::size_t draws, std::size_t chains)
      : num_draws(draws), num_chains(chains), values(draws * chains) {}

  const double* chain(std::size_t c) const { return values.data() + c * num_draws; }
  double* chain(std::size_t c) { return values.data() + c * num_draws; }
};

/// Whether values are equal but for rounding, which derived quantities have.
bool equal_to_rounding(const double* x, std::size_t n);
/// Whether every diagnostic of these draws is NaN: something not finite, or all equal to rounding.
bool is_degenerate(const DrawMatrix& draws);
/// Whether no chain of two draws or more moves by more than rounding.
bool all_chains_constant(const DrawMatrix& draws);

/// Each ensemble of chains cut into halves; of an odd number of draws the middle one is dropped.
DrawMatrix split_chains(const DrawMatrix& draws);

/// Values of a matrix in increasing order, and where in it they stand.
struct SortedDraws {
  std::vector<double> values;
  std::vector<std::size_t> places;
};
SortedDraws sorted_draws(const DrawMatrix& draws);
/// The same of |x - centre|, from the order of x, in linear time.
SortedDraws folded(const SortedDraws& sorted, double centre);

/// Phi^-1((r - 3/8) / (S + 1/4)) of the average ranks r among all S draws.
DrawMatrix rank_normalized(const DrawMatrix& draws, const SortedDraws& sorted);
DrawMatrix rank_normalized(const DrawMatrix& draws);
template <class F>
DrawMatrix transformed(DrawMatrix draws, F f) {
  for (double& x : draws.values) x = f(x);
  return draws;
}

/// Type-7 quantile of sorted values.
double sorted_quantile(const std::vector<double>& sorted, double probability);

/// R-hat and ESS of the matrix as it is.
double basic_rhat(const DrawMatrix& draws);
double basic_ess(const DrawMatrix& draws);

/// Biased autocovariances (divisor n) at lags 0 .. n-1, their mean over the chains.
std::vector<double> mean_autocovariance(const DrawMatrix& draws);

}  // namespace emomc
