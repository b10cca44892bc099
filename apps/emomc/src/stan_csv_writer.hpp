// Draws as CmdStan writes them, for stansummary, cmdstanpy, cmdstanr and rstan.
#pragma once

#include <string>

#include "emomc/sampler/draw_set.hpp"

namespace emomc::app {

/// The file of one chain: lp__ is the log density, names are dotted and count from 1, arrays lie column by
/// column, numbers have 17 digits. Columns of Hamiltonian Monte Carlo that its readers ask for are there with
/// the values that a step without a trajectory has.
std::string to_stan_csv(const DrawSet& draws, std::size_t chain, std::uint64_t seed);

}  // namespace emomc::app
