// Summarises the trajectories of a gradient sampler's draws: step size, leapfrogs, divergences, energies.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "emomc/posterior/diagnose.hpp"
#include "emomc/sampler/draw_set.hpp"

namespace emomc {

struct TrajectorySummaryOfRun {
  /// Number of draws over all chains; 0: the draws are not from a gradient sampler.
  std::size_t num_draws = 0;
  std::size_t num_divergent = 0;
  std::size_t num_deepest = 0;  ///< draws whose tree had the greatest depth
  double mean_leapfrogs = 0;    ///< mean number of leapfrogs per draw
  double mean_step_size = 0;
  /// Mean acceptance statistic over all chains, and those of the chains with the lowest and the highest one.
  double acceptance = 0, lowest_acceptance = 0, highest_acceptance = 0;
  /// The lowest energy Bayesian fraction of missing information (BFMI) of any chain: the mean squared
  /// difference of neighbouring energies divided by their variance (Betancourt 2016, "Diagnosing suboptimal
  /// cotangent disintegrations in Hamiltonian Monte Carlo"). NaN if a chain has too few draws.
  double lowest_bfmi = 0;
};

TrajectorySummaryOfRun summarize_trajectories(const DrawSet& draws);
/// A sentence for users; empty if there are no trajectories.
std::string describe(const TrajectorySummaryOfRun& summary);
nlohmann::ordered_json to_json(const TrajectorySummaryOfRun& summary);

/// Adds findings about the trajectories. `target_acceptance` is the target of the step size's adaptation; 0:
/// unknown.
void check_trajectories(const DrawSet& draws, double target_acceptance, std::vector<Finding>& findings);

}  // namespace emomc
