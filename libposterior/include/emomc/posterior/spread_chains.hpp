// Runs the chains of a run on all devices of this process, and together with other processes.
#pragma once

#include <span>

#include "emomc/posterior/run_setup.hpp"
#include "emomc/sampler/run_chains.hpp"

namespace emomc {

/// A handler for all ranks except the first, which writes the draws of all ranks.
class IgnoreDraws final : public DrawHandler {
 public:
  void on_draws(const DrawBatch&) override {}
};

/// Calls run_chains for `chains` in this thread, and for each further device, which has other chains or other
/// rows, in one more thread. `handler` is called in this thread only. Throws the exceptions of run_chains; if
/// several devices fail, the exception of the first of them.
RunResult run_spread_chains(SampledChains& chains, std::span<const Target> targets,
                            std::span<const double> starts, DrawHandler& handler,
                            const SamplerState* resume = nullptr);

}  // namespace emomc
