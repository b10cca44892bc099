// Convergence diagnostics of Markov chains, by the definitions of the R package posterior (Vehtari, Gelman,
// Simpson, Carpenter and Buerkner 2021, "Rank-normalization, folding, and localization: an improved R-hat").
// docs/statistics.md has the formulas.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "emomc/core/thread_pool.hpp"

namespace emomc {

/// Draws of one quantity, borrowed: draw i of chain c is data[i * draw_stride + c * chain_stride].
struct DrawsView {
  const double* data = nullptr;
  std::size_t num_draws = 0, num_chains = 0;
  std::ptrdiff_t draw_stride = 1, chain_stride = 0;
  /// Chains that move by one another's state count as one chain: an ESS comes from the autocorrelation of the
  /// ensemble's mean (Goodman and Weare 2010), R-hat is the larger of the ensembles' and the single chains'.
  /// A divisor of num_chains.
  std::size_t chains_per_ensemble = 1;
  /// Neighbouring chains that began at one point: their means are no independent ones. A divisor of
  /// num_chains.
  std::size_t chains_per_superchain = 1;

  double operator()(std::size_t draw, std::size_t chain) const {
    return data[static_cast<std::ptrdiff_t>(draw) * draw_stride +
                static_cast<std::ptrdiff_t>(chain) * chain_stride];
  }
};

// All give NaN where a draw is not finite, where all draws are equal to rounding, or where there are fewer
// draws than the definition needs.
//
// An ESS differs from posterior's where the chains are too short for the autocorrelation to be seen to die
// out: Geyer's sequence ends by the length of the chain. There the variance of the mean comes from the
// spread of the chains' means: with 16 chains (superchains) or more in place of the sequence, with 2 to 15 as
// a lower bound of it.

double draws_mean(DrawsView draws);
/// Divisor n - 1.
double draws_sd(DrawsView draws);
/// Type 7 of Hyndman and Fan (1996), R's default.
double draws_quantile(DrawsView draws, double probability);

/// Larger of the rank-normalised split R-hat of the draws and of their distance from the median; the former
/// where that distance is the same for all draws. Infinite where no chain moves and they differ.
double rhat(DrawsView draws);
/// Without ranks and without splitting (Gelman and Rubin 1992).
double rhat_basic(DrawsView draws);

/// Nested R-hat (Margossian et al. 2024, "Nested R-hat: assessing the convergence of Markov chain Monte Carlo
/// when running many short chains") of superchains, each of `chains_per_superchain` neighbouring chains that
/// began at one point. A divisor of num_chains; at least two superchains.
double rhat_nested(DrawsView draws, std::size_t chains_per_superchain);
/// Autocorrelations at lags 0 .. num_draws - 1, about each chain's own mean, their mean over the chains.
std::vector<double> autocorrelation(DrawsView draws);

double ess_bulk(DrawsView draws);
/// Smaller of the ESS of the 5 % and the 95 % quantile; that of x <= quantile, or of x < quantile where no
/// draw is above it.
double ess_tail(DrawsView draws);
double ess_mean(DrawsView draws);
/// ESS of |x - mean|, for estimates of the standard deviation.
double ess_sd(DrawsView draws);
double ess_quantile(DrawsView draws, double probability);
/// Without splitting.
double ess_basic(DrawsView draws);

double mcse_mean(DrawsView draws);
/// By the fourth moment and the ESS of (x - mean)^2 (Kenney and Keeping 1951, p. 141).
double mcse_sd(DrawsView draws);
/// Half the distance of the order statistics at the 15.87 % and 84.13 % points of a beta distribution.
double mcse_quantile(DrawsView draws, double probability);

/// What `emomc summary` prints of a quantity.
struct QuantitySummary {
  double mean, sd, q5, q50, q95, mcse_mean, mcse_sd, ess_bulk, ess_tail, rhat;
};
QuantitySummary summarize(DrawsView draws);
/// One for each quantity, on all threads.
std::vector<QuantitySummary> summarize(std::span<const DrawsView> quantities, ThreadPool& threads);

}  // namespace emomc
