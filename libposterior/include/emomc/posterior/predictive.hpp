// Draws from predictive distributions: replicates of the data at draws of the posterior, or of the prior
// (Gelman, Meng and Stern 1996; Box 1980).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "emomc/posterior.hpp"
#include "emomc/posterior/row_simulator.hpp"
#include "emomc/sampler/draw_set.hpp"

namespace emomc {

/// The number of replicates, and a callback that reports progress.
struct PredictiveOptions {
  /// Number of evenly spaced draws of each chain; all draws if a chain has fewer. Empty: as many draws as
  /// give kMostValuesUnasked values.
  std::optional<std::size_t> draws = {};
  int threads = 0;  ///< 0: all
  /// Called after each replicate, by any thread, with the total number of replicates.
  std::function<void(std::size_t all)> on_replicate = {};

  static constexpr std::size_t kMostValuesUnasked = 20'000'000;  ///< 160 MB
  static constexpr std::size_t kMostValues = 125'000'000;        ///< 1 GB
  static constexpr std::size_t kPriorDraws = 1000;  ///< number of draws from the prior if `draws` is empty
};

/// Replicates of the columns that the likelihood simulates.
struct PredictiveDraws {
  std::vector<std::string> variables;
  std::size_t num_chains = 0, num_rows = 0;
  std::vector<std::size_t> draws;  ///< numbers of the draws of each chain, from 0
  std::size_t num_draws_of_chain = 0;
  std::vector<double> values;  ///< variables x chains x draws x rows
  /// Number of replicates with a value that is not finite, because the likelihood's distributions do not
  /// allow the parameters.
  std::size_t num_not_finite = 0;

  bool is_thinned() const { return draws.size() < num_draws_of_chain; }
};

/// Replicates at `draws`, whose parameters begin with the likelihood's. `seed` is the seed of the run. The
/// random numbers of a draw depend on this seed, the draw's chain and its number in the chain. Replicates are
/// therefore the same however many there are, and independent of what `emomc simulate` draws with the same
/// seed. Throws InputError if options.draws is 0, or if the values would take more than 1 GB.
PredictiveDraws posterior_predictive(const RowSimulator& simulator, const DrawSet& draws, std::uint64_t seed,
                                     const PredictiveOptions& options = {});
/// Replicates of a posterior in memory. Throws InputError also if the draws are not from this posterior.
PredictiveDraws posterior_predictive(const Posterior& posterior, const Draws& draws,
                                     const PredictiveOptions& options = {});

/// One chain of draws from the prior, and the replicates at these draws.
struct PriorPredictive {
  DrawSet prior;  ///< in the form of a run's draws, with derived quantities, without log densities
  PredictiveDraws predictive;
};
/// Draws from the priors of `config`, and replicates of its likelihood. Default priors depend on `data`.
/// Throws the exceptions of posterior_predictive, RowSimulator and Target.
PriorPredictive prior_predictive(const RunConfig& config, const Table& data, std::uint64_t seed,
                                 const PredictiveOptions& options = {});
PriorPredictive prior_predictive(const Posterior& posterior, std::uint64_t seed,
                                 const PredictiveOptions& options = {});

/// The seed of the replicates at draws of a run that has the seed `seed`.
std::uint64_t seed_of_replicates(std::uint64_t seed);

}  // namespace emomc
