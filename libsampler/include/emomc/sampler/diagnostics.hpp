// Convergence diagnostics of Markov chains, by the definitions of the R package posterior (Vehtari, Gelman,
// Simpson, Carpenter and Buerkner 2021, "Rank-normalization, folding, and localization: an improved R-hat").
// docs/statistics.md has the formulas.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "emomc/core/thread_pool.hpp"

namespace emomc {

/// A view of the draws of one quantity: draw i of chain c is data[i * draw_stride + c * chain_stride], in
/// host memory.
struct DrawsView {
  const double* data = nullptr;
  std::size_t num_draws = 0, num_chains = 0;
  std::ptrdiff_t draw_stride = 1, chain_stride = 0;
  /// Number of neighbouring chains that move by one another's state. They count as one chain: the ESS is
  /// computed from the autocorrelation of the ensemble's mean (Goodman and Weare 2010), and R-hat is the
  /// larger of the R-hat of the ensembles and that of the single chains. Must divide num_chains.
  std::size_t chains_per_ensemble = 1;
  /// Number of neighbouring chains that started at one point, so that their means are not independent. Must
  /// divide num_chains.
  std::size_t chains_per_superchain = 1;

  double operator()(std::size_t draw, std::size_t chain) const {
    return data[static_cast<std::ptrdiff_t>(draw) * draw_stride +
                static_cast<std::ptrdiff_t>(chain) * chain_stride];
  }
};

// R-hat, ESS, MCSE and autocorrelations are NaN if a draw is not finite, if all draws are equal up to
// rounding, or if there are fewer draws than the definition needs.
//
// The ESS differs from that of posterior if chains are so short that Geyer's sequence of autocorrelations
// reaches the end of the chain before it dies out. The variance of the mean is then estimated from the spread
// of the chains' means: with 16 or more chains (superchains) this estimate replaces that of the sequence,
// with 2 to 15 it is a lower bound.

/// Mean of all draws.
double draws_mean(DrawsView draws);
/// Standard deviation with divisor n - 1.
double draws_sd(DrawsView draws);
/// Quantile of type 7 of Hyndman and Fan (1996), the default of R; NaN if a draw is NaN.
double draws_quantile(DrawsView draws, double probability);

/// The larger of the rank-normalised split R-hat of the draws and that of their distances from the median;
/// the former alone if all distances are equal. Infinite if no chain moves and chains differ.
double rhat(DrawsView draws);
/// R-hat without ranks and without splitting (Gelman and Rubin 1992).
double rhat_basic(DrawsView draws);

/// Nested R-hat (Margossian et al. 2024, "Nested R-hat: assessing the convergence of Markov chain Monte Carlo
/// when running many short chains") of superchains, each of `chains_per_superchain` neighbouring chains that
/// started at one point. chains_per_superchain must divide num_chains and leave at least two superchains;
/// otherwise the result is NaN or ignores the remaining chains.
double rhat_nested(DrawsView draws, std::size_t chains_per_superchain);
/// Autocorrelations at lags 0 .. num_draws - 1, each chain about its own mean, averaged over the chains.
std::vector<double> autocorrelation(DrawsView draws);

/// ESS of the normal scores of split chains.
double ess_bulk(DrawsView draws);
/// The smaller of the ESS of the 5 % and of the 95 % quantile. The ESS of a quantile is that of the indicator
/// x <= quantile, or of x < quantile if no draw is above the quantile.
double ess_tail(DrawsView draws);
/// ESS of the draws themselves, for the error of their mean.
double ess_mean(DrawsView draws);
/// ESS of |x - mean|, for the error of the standard deviation.
double ess_sd(DrawsView draws);
/// ESS of the quantile at `probability`, as in ess_tail.
double ess_quantile(DrawsView draws, double probability);
/// ESS without ranks and without splitting.
double ess_basic(DrawsView draws);

/// MCSE of the mean: sd / sqrt(ess_mean).
double mcse_mean(DrawsView draws);
/// MCSE of the standard deviation from the fourth moment and the ESS of (x - mean)^2 (Kenney and Keeping
/// 1951, p. 141).
double mcse_sd(DrawsView draws);
/// MCSE of a quantile: half the distance between the order statistics at the 15.87 % and 84.13 % points of a
/// beta distribution.
double mcse_quantile(DrawsView draws, double probability);

/// The numbers that `emomc summary` prints for one quantity.
struct QuantitySummary {
  double mean, sd, q5, q50, q95, mcse_mean, mcse_sd, ess_bulk, ess_tail, rhat;
};
QuantitySummary summarize(DrawsView draws);
/// Computes one summary for each quantity, on all threads.
std::vector<QuantitySummary> summarize(std::span<const DrawsView> quantities, ThreadPool& threads);

}  // namespace emomc
