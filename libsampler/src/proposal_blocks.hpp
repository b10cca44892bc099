// Cuts a target's free parameters into the blocks of a proposal.
#pragma once

#include <string>
#include <vector>

#include "emomc/device/proposal.hpp"
#include "emomc/sampler/run_chains.hpp"
#include "emomc/sampler/target.hpp"

namespace emomc {

/// What a proposal's type says of itself.
struct ProposalTraits {
  device::BlockPlan block_plan;
  device::ShapeLearning learning;
  bool adapts_scale;
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
  int num_dense = 0;  ///< doubles of all Cholesky factors
  /// Whether a block must be decided for all chains before the next one is proposed for any.
  bool apart = false;
  bool has_stages = false;
  ProposalTraits traits;
  ProposalShape shape = ProposalShape::isotropic;  ///< that is learnt

  device::AdaptedLayout adapted_layout(int dim_unconstrained) const;

  /// Whether an innovation has a second vector (device::Innovation).
  bool has_second_innovation() const {
    return has_stages || traits.block_plan == device::BlockPlan::by_component_and_fit;
  }

  /// device::StepView::point_size.
  int point_size(int dim_unconstrained) const {
    const bool by_fit = traits.block_plan == device::BlockPlan::by_component_and_fit;
    return by_fit ? device::whitened_point_size(dim_unconstrained) : dim_unconstrained;
  }

  int num_moves_by_fit() const;

  /// Whether every block changes one component, or weights, only: caches would be rebuilt after any other.
  bool uses_component_caches() const;

  /// Blocks whose candidates the likelihood is evaluated at.
  int num_evaluations() const;
};

/// Blocks with no free parameter are left out. `asked` is the shape that the user chose, where the proposal
/// leaves it to him. Throws InputError where nothing is free.
ProposalBlocks plan_blocks(const ProposalTraits& traits, ProposalShape asked, const Target& target);

}  // namespace emomc
