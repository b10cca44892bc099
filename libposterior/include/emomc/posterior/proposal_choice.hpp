// What `sampler.proposal.kind: auto` stands for; docs/proposals.md has the measurements behind the rules.
#pragma once

#include <string>

#include "emomc/posterior/run_setup.hpp"

namespace emomc {

struct ProposalChoice {
  ProposalSpec proposal;
  std::string why;  ///< for people; empty where the configuration names the kind
};

/// The proposal of a run: the one that the configuration names, or else one that is chosen by the likelihood
/// and its engine, which `setup` has. A run that is resumed keeps what was chosen for it.
ProposalChoice choose_proposal(const RunConfig& config, const RunSetup& setup,
                               const std::optional<KeptProposal>& kept);

}  // namespace emomc
