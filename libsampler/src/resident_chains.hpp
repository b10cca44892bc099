// Runs chains in the kernel of resident_chain.cuh, which runs many steps in one launch.
#pragma once

#include <memory>
#include <string>

#include "emomc/core/likelihood_engine.hpp"
#include "emomc/sampler/run_chains.hpp"
#include "ensemble.hpp"
#include "proposal_blocks.hpp"

namespace emomc {

class ResidentChains {
 public:
  virtual ~ResidentChains() = default;
  /// Enqueues `num_steps` steps of all chains.
  virtual void launch(std::int64_t num_steps) const = 0;
  /// A description for messages, e.g. "in clusters of 16 blocks".
  virtual std::string description() const = 0;
};

/// Makes the runner; nullptr if that kernel cannot be used: on the host, for proposals that need other chains
/// or two stages, or if the rows of the chains do not fit, or do not fit the form that `kernels` demands.
/// `why` then has the reason.
std::unique_ptr<ResidentChains> make_resident_chains(const LikelihoodEngine& engine, const Ensemble& ensemble,
                                                     const std::string& proposal,
                                                     const ProposalBlocks& blocks,
                                                     const std::vector<ChainPlan>& chains,
                                                     StepKernels kernels, bool caches, std::string& why);

}  // namespace emomc
