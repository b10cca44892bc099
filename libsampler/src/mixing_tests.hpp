// Tests of the null hypothesis that the chains of a quantity are stationary and have one distribution
// (docs/statistics.md, "The verdict").
#pragma once

#include "emomc/sampler/convergence.hpp"

namespace emomc {

/// Tests the draws against a target of the ESS. No test rejects if a draw is not finite, if all draws are
/// equal, or if there are fewer than eight draws.
MixingTests test_mixing(DrawsView draws, double target_ess);

/// Returns the quantile at 1 - `level` of split R-hat for `num_chains` chains of one distribution with
/// `num_draws` draws each and a total ESS of `ess`.
double rhat_of_alike_chains(std::size_t num_chains, std::size_t num_draws, double ess, double level);

}  // namespace emomc
