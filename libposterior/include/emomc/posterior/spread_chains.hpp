// Runs the chains of a run on all its devices, and together with other processes.
#pragma once

#include <span>

#include "emomc/posterior/run_setup.hpp"
#include "emomc/sampler/run_chains.hpp"

namespace emomc {

/// A handler for ranks other than the first, whose draws the first one writes.
class IgnoreDraws final : public DrawHandler {
 public:
  void on_draws(const DrawBatch&) override {}
};

/// Calls run_chains for `chains`, in this thread and in one more for each further device, which has other
/// chains or other rows. `handler` is called in this thread alone. Throws what run_chains throws; where
/// devices fail, the error of the first of them.
RunResult run_spread_chains(SampledChains& chains, std::span<const Target> targets,
                            std::span<const double> starts, DrawHandler& handler,
                            const SamplerState* resume = nullptr);

}  // namespace emomc
