// Computes the share of a run that each rank, or each GPU of this process, receives.
#pragma once

#include <cstddef>
#include <vector>

#include "emomc/posterior/run_setup.hpp"

namespace emomc {

struct RankShare {
  /// Number of chains, including rungs, that the rank runs, or whose likelihoods it evaluates if chains move
  /// by the states of other chains; the number of all chains if rows are divided.
  std::size_t chains = 0;
  MemoryPlan likelihood;
  SamplerMemory sampler;
  std::size_t total() const { return likelihood.total() + sampler.total(); }
};

/// The shares of `ranks` processes among which the chains are divided. Throws InputError as check_ranks()
/// does.
std::vector<RankShare> shares_of_ranks(const SampledChains& chains, int ranks);
/// The shares of this process's GPUs, in their order; empty if there is one GPU.
std::vector<RankShare> shares_of_devices(const SampledChains& chains);

}  // namespace emomc
