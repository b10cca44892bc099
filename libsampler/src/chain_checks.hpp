// Checks by which a run is refused, with their error messages.
#pragma once

#include <span>
#include <vector>

#include "chain_share.hpp"
#include "emomc/core/execution.hpp"
#include "emomc/sampler/run_chains.hpp"
#include "ensemble.hpp"
#include "trajectories.hpp"

namespace emomc {

/// Throws MachineError if state and draws do not fit into the free memory. The engine itself checks the
/// memory that it allocates. The host's memory must be checked in advance, because the system may grant it
/// and kill the process when it is used.
void refuse_too_much(const Device& device, std::span<const Target> targets, const ProposalSpec& proposal,
                     const std::vector<ChainPlan>& plans);

/// Throws DensityError if the density of a current point is not finite or, if there are `trajectories`, its
/// gradient is not. `plans`: those of all chains, on every rank.
void refuse_unusable_starts(const std::vector<ChainPlan>& plans, const ChainShare& share,
                            const Ensemble& ensemble, const Trajectories* trajectories);

/// Throws InputError if the densities of a resumed run, called `name`, differ from those before.
void refuse_another_density(const std::vector<ChainPlan>& plans, const std::vector<double>& was,
                            const std::vector<double>& is, const char* name);

}  // namespace emomc
