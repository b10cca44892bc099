// What a run refuses, with the words for it.
#pragma once

#include <span>
#include <vector>

#include "chain_share.hpp"
#include "emomc/core/execution.hpp"
#include "emomc/sampler/run_chains.hpp"
#include "ensemble.hpp"
#include "trajectories.hpp"

namespace emomc {

/// Throws MachineError where state and draws do not fit into the memory that is free. The engine itself
/// checks the memory that it allocates. The host's memory must be checked in advance, because the system may
/// grant it and kill the process when it is used.
void refuse_too_much(const Device& device, std::span<const Target> targets, const ProposalSpec& proposal,
                     const std::vector<ChainPlan>& plans);

/// Throws DensityError where the density of a current point is not finite, or its gradient where there are
/// `trajectories`. `plans`: of all chains, on every rank.
void refuse_unusable_starts(const std::vector<ChainPlan>& plans, const ChainShare& share,
                            const Ensemble& ensemble, const Trajectories* trajectories);

/// Throws InputError where the densities of a resumed run, `name` of them, are not what they were.
void refuse_another_density(const std::vector<ChainPlan>& plans, const std::vector<double>& was,
                            const std::vector<double>& is, const char* name);

}  // namespace emomc
