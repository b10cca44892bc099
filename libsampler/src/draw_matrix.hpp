// Draws in a dense array, and the transformations from which diagnostics are computed.
#pragma once

#include <vector>

#include "emomc/sampler/diagnostics.hpp"

namespace emomc {

/// Draws [num_draws x num_chains]; the draws of a chain are contiguous.
struct DrawMatrix {
  std::size_t num_draws = 0, num_chains = 0;
  std::vector<double> values;
  std::size_t per_ensemble = 1;  ///< number of neighbouring chains that count as one
  /// Number of neighbouring chains (or ensembles, if there are any) with dependent means: the halves of one
  /// chain, the chains of one superchain.
  std::size_t per_group = 1;

  explicit DrawMatrix(DrawsView draws);
  DrawMatrix(std::size_t draws, std::size_t chains)
      : num_draws(draws), num_chains(chains), values(draws * chains) {}

  const double* chain(std::size_t c) const { return values.data() + c * num_draws; }
  double* chain(std::size_t c) { return values.data() + c * num_draws; }
};

/// Whether values are equal up to the rounding errors of derived quantities.
bool equal_to_rounding(const double* x, std::size_t n);
/// Whether every diagnostic of these draws is NaN: a draw is not finite, or all are equal up to rounding.
bool is_degenerate(const DrawMatrix& draws);
/// Whether every chain is constant up to rounding; false if chains have fewer than two draws.
bool all_chains_constant(const DrawMatrix& draws);

/// Splits each ensemble of chains into halves; the middle draw of an odd number is dropped.
DrawMatrix split_chains(const DrawMatrix& draws);

/// The values of a matrix in increasing order, and their indices in the matrix.
struct SortedDraws {
  std::vector<double> values;
  std::vector<std::size_t> places;
};
SortedDraws sorted_draws(const DrawMatrix& draws);
/// Sorts |x - centre| in linear time, from the order of x.
SortedDraws folded(const SortedDraws& sorted, double centre);

/// Returns the normal scores Phi^-1((r - 3/8) / (S + 1/4)) of the ranks r among all S draws; ties have their
/// average rank.
DrawMatrix rank_normalized(const DrawMatrix& draws, const SortedDraws& sorted);
DrawMatrix rank_normalized(const DrawMatrix& draws);
template <class F>
DrawMatrix transformed(DrawMatrix draws, F f) {
  for (double& x : draws.values) x = f(x);
  return draws;
}

/// Quantile of type 7 of sorted values.
double sorted_quantile(const std::vector<double>& sorted, double probability);

/// R-hat and ESS of the matrix without splitting or rank normalisation.
double basic_rhat(const DrawMatrix& draws);
double basic_ess(const DrawMatrix& draws);

/// Biased autocovariances (divisor n) at lags 0 .. n-1, averaged over the chains, by Fourier transforms.
std::vector<double> mean_autocovariance(const DrawMatrix& draws);

/// The autocovariances of mean_autocovariance(), computed when they are asked for. The first lags are summed
/// directly, which takes a tenth of the time of Fourier transforms: an estimate for chains that mix well asks
/// for no more than these.
class Autocovariances {
 public:
  explicit Autocovariances(const DrawMatrix& draws);
  /// The autocovariance at a lag below the number of draws.
  double at(std::size_t lag);

 private:
  static constexpr std::size_t kBlock = 8;        // lags that are summed together
  static constexpr std::size_t kDirectLags = 64;  // a multiple of kBlock

  void add_block();

  const DrawMatrix& draws_;
  std::size_t stride_;
  std::vector<double> deviations_;  // num_chains x stride_: from the chain's mean, then zeros
  std::vector<double> known_;
};

}  // namespace emomc
