// Cuts a target's free parameters into the blocks of a proposal.
#pragma once

#include <string>
#include <vector>

#include "emomc/device/proposal.hpp"
#include "emomc/sampler/target.hpp"

namespace emomc {

struct ProposalBlocks {
  std::vector<device::ProposalBlock> blocks;
  std::vector<std::string> names;
  int num_dense = 0;  ///< doubles of all Cholesky factors

  /// Blocks whose candidates the likelihood is evaluated at.
  int num_evaluations() const;
};

/// Blocks with no free parameter are left out. Throws InputError where nothing is free.
ProposalBlocks plan_blocks(device::BlockPlan plan, const Target& target);

}  // namespace emomc
