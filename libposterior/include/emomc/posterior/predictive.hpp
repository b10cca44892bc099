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

/// How many replicates there are, and what is told about the work.
struct PredictiveOptions {
  /// Draws of each chain, at equal distances. Empty: as many as give kMostValuesUnasked values. More than
  /// there are: all.
  std::optional<std::size_t> draws = {};
  int threads = 0;  ///< 0: all
  /// Called by any thread after each replicate, with how many there will be.
  std::function<void(std::size_t all)> on_replicate = {};

  static constexpr std::size_t kMostValuesUnasked = 20'000'000;  ///< 160 MB
  static constexpr std::size_t kMostValues = 125'000'000;        ///< 1 GB
  static constexpr std::size_t kPriorDraws = 1000;               ///< from the prior, where `draws` is empty
};

/// Replicates of the columns that a likelihood draws.
struct PredictiveDraws {
  std::vector<std::string> variables;
  std::size_t num_chains = 0, num_rows = 0;
  std::vector<std::size_t> draws;  ///< which draws of each chain, from 0
  std::size_t num_draws_of_chain = 0;
  std::vector<double> values;  ///< variables x chains x draws x rows
  /// Replicates with a value that is not finite: the likelihood's distributions do not allow the parameters.
  std::size_t num_not_finite = 0;

  bool is_thinned() const { return draws.size() < num_draws_of_chain; }
};

/// Replicates at `draws`, whose parameters begin with the likelihood's. `seed` is that of the run: that of a
/// draw depends on it, on its chain and its number in it, so that it is the same however many there are, and
/// independent of what `emomc simulate` draws by the same seed. Throws InputError where options.draws is 0,
/// and where the values would take more than 1 GB.
PredictiveDraws posterior_predictive(const RowSimulator& simulator, const DrawSet& draws, std::uint64_t seed,
                                     const PredictiveOptions& options = {});
/// The same of a posterior in memory. Throws InputError also where the draws are not of this posterior.
PredictiveDraws posterior_predictive(const Posterior& posterior, const Draws& draws,
                                     const PredictiveOptions& options = {});

/// Draws from the prior, one chain, and the replicates at them.
struct PriorPredictive {
  DrawSet prior;  ///< as draws of a run, with derived quantities, without log densities
  PredictiveDraws predictive;
};
/// Of the likelihood of `config` with its priors and with `data`, by which default priors go. Throws as
/// posterior_predictive, RowSimulator and Target do.
PriorPredictive prior_predictive(const RunConfig& config, const Table& data, std::uint64_t seed,
                                 const PredictiveOptions& options = {});
PriorPredictive prior_predictive(const Posterior& posterior, std::uint64_t seed,
                                 const PredictiveOptions& options = {});

/// The seed of replicates at draws of a run with this seed.
std::uint64_t seed_of_replicates(std::uint64_t seed);

}  // namespace emomc
