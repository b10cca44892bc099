// Chooses the proposal of a run with `sampler.proposal.kind: auto`; docs/proposals.md has the measurements
// behind the rules.
#pragma once

#include <string>

#include "emomc/posterior/run_setup.hpp"

namespace emomc {

struct ProposalChoice {
  ProposalSpec proposal;
  std::string why;  ///< reason for the choice, for users; empty if the configuration names the kind
};

/// The proposal of a run. The configuration names the proposal, or the likelihood and the engine of `setup`
/// determine it. A resumed run keeps the proposal that was chosen at its beginning (`kept`).
ProposalChoice choose_proposal(const RunConfig& config, const RunSetup& setup,
                               const std::optional<KeptProposal>& kept);

}  // namespace emomc
