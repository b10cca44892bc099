// Divides the free parameters of a target into the blocks of a proposal's phases.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "emomc/device/schedule.hpp"
#include "emomc/sampler/run_chains.hpp"
#include "emomc/sampler/target.hpp"

namespace emomc {

/// The constants of a phase's type (device::Phase).
struct PhaseTraits {
  std::string label;
  device::Need need;
  device::Division division;
  device::Repeats repeats;
  device::When when;
  device::Learns learns;
  int num_vectors;
  bool moves_by_fit;
  int fewest_components, most_parameters;
  device::TrajectoryLength length;
  bool has_tree;
};
template <class P>
PhaseTraits traits_of_phase() {
  return {P::label,       P::need,         P::division,          P::repeats,         P::when,   P::learns,
          P::num_vectors, P::moves_by_fit, P::fewest_components, P::most_parameters, P::length, P::has_tree};
}
template <class... P>
std::vector<PhaseTraits> traits_of_phases(device::Schedule<P...>) {
  return {traits_of_phase<P>()...};
}

/// The constants of a proposal's type.
struct ProposalTraits {
  std::string name;
  device::ShapeLearning learning;
  std::vector<PhaseTraits> phases;

  template <class Is>
  bool any_phase(Is is) const {
    return std::any_of(phases.begin(), phases.end(), is);
  }
  /// Whether this is a gradient sampler.
  bool gradient() const {
    return any_phase([](const PhaseTraits& p) { return p.need == device::Need::gradient; });
  }
  bool has_tree() const {
    return any_phase([](const PhaseTraits& p) { return p.has_tree; });
  }
  /// The rule for the length of trajectories; none for other proposals.
  device::TrajectoryLength length() const { return phases.front().length; }
  bool adapts_scale() const {
    return any_phase([](const PhaseTraits& p) { return p.learns != device::Learns::nothing; });
  }
  bool mixtures_only() const {
    return any_phase([](const PhaseTraits& p) { return p.fewest_components > 0; });
  }
  bool needs_others() const {
    return any_phase([](const PhaseTraits& p) { return p.repeats == device::Repeats::for_each_half; });
  }
  bool has_second_try() const {
    return any_phase([](const PhaseTraits& p) { return p.when == device::When::if_rejected; });
  }
  bool moves_by_fit() const {
    return any_phase([](const PhaseTraits& p) { return p.moves_by_fit; });
  }
  bool is_fitted() const {
    return learning == device::ShapeLearning::fitted ||
           learning == device::ShapeLearning::as_asked_and_fitted;
  }
};
template <class Proposal>
ProposalTraits traits_of() {
  return {Proposal::name, Proposal::learning, traits_of_phases(typename Proposal::Phases{})};
}

/// In place of a half of the chains.
inline constexpr int kAllChains = -1;

struct ProposalBlocks {
  std::vector<device::ProposalBlock> blocks;
  std::vector<std::string> names;
  int num_dense = 0;  ///< number of doubles of all Cholesky factors
  /// Whether a block must be decided for all chains before the next block is proposed for any chain.
  bool apart = false;
  ProposalTraits traits;
  ProposalShape shape = ProposalShape::isotropic;  ///< the learnt shape

  device::AdaptedLayout adapted_layout(int dim_unconstrained) const;

  /// Whether a block's innovation has a second vector (device::Innovation).
  bool has_second_innovation() const {
    return traits.any_phase([](const PhaseTraits& phase) { return phase.num_vectors == 2; });
  }

  /// Value of device::StepView::point_size.
  int point_size(int dim_unconstrained) const {
    return traits.moves_by_fit() ? device::whitened_point_size(dim_unconstrained) : dim_unconstrained;
  }

  const PhaseTraits& phase_of(const device::ProposalBlock& block) const {
    return traits.phases[static_cast<std::size_t>(block.phase)];
  }
  /// The half of the chains that a block moves, 0 or 1; kAllChains.
  int half_of(const device::ProposalBlock& block) const {
    return phase_of(block).repeats == device::Repeats::for_each_half ? block.turn : kAllChains;
  }
  int num_moves_by_fit() const;
  /// Number of the first of these moves; num_blocks if there is none.
  int first_move_by_fit() const;

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
