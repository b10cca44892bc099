#include "warm_up.hpp"

#include "adaptation.hpp"
#include "trajectory_adaptation.hpp"

namespace emomc {

std::unique_ptr<WarmUp> make_warm_up(const ProposalBlocks& blocks, const ProposalSpec& proposal,
                                     const std::vector<ChainPlan>& plans, int dim_unconstrained,
                                     std::int64_t warmup, std::size_t num_rows) {
  const double target =
      proposal.target_acceptance > 0 ? proposal.target_acceptance : default_target_acceptance(proposal.kind);
  if (blocks.traits.gradient())
    return std::make_unique<TrajectoryAdaptation>(blocks, target, plans, dim_unconstrained, warmup, num_rows);
  return std::make_unique<Adaptation>(blocks, target, plans, dim_unconstrained, warmup, num_rows);
}

}  // namespace emomc
