// Tests of the hypothesis that the chains of a quantity are alike and stationary. docs/statistics.md, "The
// verdict".
#pragma once

#include "emomc/sampler/convergence.hpp"

namespace emomc {

/// Of finite draws that are not all equal; otherwise, and of fewer than eight draws, nothing is found.
MixingTests test_mixing(DrawsView draws, double target_ess);

/// The largest split R-hat that `num_chains` chains of `num_draws` draws with an ESS of `ess` in all have,
/// except with probability `level`.
double rhat_of_alike_chains(std::size_t num_chains, std::size_t num_draws, double ess, double level);

}  // namespace emomc
