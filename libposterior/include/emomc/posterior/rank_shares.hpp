// What each rank, or each GPU of this process, takes of a run.
#pragma once

#include <cstddef>
#include <vector>

#include "emomc/posterior/run_setup.hpp"

namespace emomc {

struct RankShare {
  /// Rungs included: those that it runs, or whose likelihoods it evaluates where chains move by the state of
  /// others; all of them where rows are divided.
  std::size_t chains = 0;
  MemoryPlan likelihood;
  SamplerMemory sampler;
  std::size_t total() const { return likelihood.total() + sampler.total(); }
};

/// [ranks] Of processes over which the chains are spread. Throws InputError as check_ranks() does.
std::vector<RankShare> shares_of_ranks(const SampledChains& chains, int ranks);
/// Of the GPUs of this process, in their order; empty where there is one.
std::vector<RankShare> shares_of_devices(const SampledChains& chains);

}  // namespace emomc
