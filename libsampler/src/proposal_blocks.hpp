// Divides the free parameters of a target into the blocks of a proposal.
#pragma once

#include <string>
#include <vector>

#include "emomc/device/proposal.hpp"
#include "emomc/sampler/run_chains.hpp"
#include "emomc/sampler/target.hpp"

namespace emomc {

/// Properties that a proposal's type declares.
struct ProposalTraits {
  device::BlockPlan block_plan;
  device::ShapeLearning learning;
  bool adapts_scale;
  bool gradient = false;  ///< whether this is a gradient sampler (device/trajectories.hpp)
  device::TrajectoryLength length = device::TrajectoryLength::none;
  bool has_tree = false;
  bool jumps() const { return block_plan == device::BlockPlan::by_component_and_jump; }
  bool is_fitted() const {
    return learning == device::ShapeLearning::fitted ||
           learning == device::ShapeLearning::as_asked_and_fitted;
  }
  bool needs_others() const { return block_plan == device::BlockPlan::halves; }
};
template <class Proposal>
constexpr ProposalTraits traits_of() {
  return {Proposal::block_plan, Proposal::learning, Proposal::adapts_scale};
}

struct ProposalBlocks {
  std::vector<device::ProposalBlock> blocks;
  std::vector<std::string> names;
  int num_dense = 0;  ///< number of doubles of all Cholesky factors
  /// Whether a block must be decided for all chains before the next block is proposed for any chain.
  bool apart = false;
  bool has_stages = false;
  ProposalTraits traits;
  ProposalShape shape = ProposalShape::isotropic;  ///< the learnt shape

  device::AdaptedLayout adapted_layout(int dim_unconstrained) const;

  /// Whether a block's innovation has a second vector (device::Innovation).
  bool has_second_innovation() const {
    return has_stages || traits.block_plan == device::BlockPlan::by_component_and_fit;
  }

  /// Value of device::StepView::point_size.
  int point_size(int dim_unconstrained) const {
    const bool by_fit = traits.block_plan == device::BlockPlan::by_component_and_fit;
    return by_fit ? device::whitened_point_size(dim_unconstrained) : dim_unconstrained;
  }

  int num_moves_by_fit() const;

  /// Whether every block changes only one component or the weights. Any other block would require rebuilding
  /// the caches.
  bool uses_component_caches() const;

  /// Number of blocks for whose candidates the likelihood is evaluated.
  int num_evaluations() const;
  /// Number of likelihoods per chain in a step: each of an ensemble's two blocks moves half of the chains.
  int evaluations_of_chain() const { return num_evaluations() / (traits.needs_others() ? 2 : 1); }
};

/// Plans the blocks; blocks without a free parameter are omitted. `asked` is the shape that the user chose,
/// for proposals that allow a choice. Throws InputError if all parameters are fixed or if the proposal does
/// not support the target.
ProposalBlocks plan_blocks(const ProposalTraits& traits, ProposalShape asked, const Target& target);

}  // namespace emomc
