// Writes draws in CmdStan's format for stansummary, cmdstanpy, cmdstanr and rstan.
#pragma once

#include <string>

#include "emomc/sampler/draw_set.hpp"

namespace emomc::app {

/// Returns the text of one chain's file: lp__ is the log density, names have dots and indices from 1, arrays
/// are column-major, and numbers have 17 digits. The header names Metropolis as the algorithm, which rstan
/// accepts, and emomc as the engine. The Hamiltonian Monte Carlo columns that readers require have the values
/// of a step without a trajectory.
std::string to_stan_csv(const DrawSet& draws, std::size_t chain, std::uint64_t seed);

}  // namespace emomc::app
