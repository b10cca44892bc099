// A step of a proposal is a schedule: a list of phases, which are carried out in order. A phase is a type;
// its constants say which blocks of parameters it moves, what the engine has to evaluate for a candidate, and
// how the candidate is decided on. A phase without gradients has two functions for a team:
//
//   innovate(team, random, view, innovation)   draws random numbers, independently of the state; it runs
//                                              while the likelihood of the preceding candidate is computed
//   apply(team, view) -> log q ratio           writes the candidate; returns log q(u | u') - log q(u' | u),
//                                              with Ratio::in_theta log q(theta | theta') - log q(theta' |
//                                              theta)
//
// Candidates of such phases are accepted by the rule of Metropolis and Hastings (acceptance.hpp). A phase
// with Need::gradient moves along a trajectory and decides itself (trajectory.hpp).
#ifndef EMOMC_DEVICE_SCHEDULE_HPP
#define EMOMC_DEVICE_SCHEDULE_HPP

#include "emomc/device/proposal.hpp"

namespace emomc::device {

/// What the engine evaluates at a candidate.
enum class Need {
  increment,  ///< the part of the likelihood on which the block has influence, which may be none of it
              ///< (ProposalBlock::influence)
  value,      ///< the log likelihood
  gradient,   ///< the log likelihood and its gradient, at each point of a trajectory
};

/// Division of the free parameters into the blocks of a phase.
enum class Division {
  whole,         ///< all free parameters in one block
  by_component,  ///< each slice of a parameter block that belongs to one component, the weights, and each
                 ///< other parameter block alone
};

/// The number of blocks of a phase with Division::whole.
enum class Repeats {
  once,
  for_each_half,           ///< one for each half of the chains, which moves by the state of the other half
  for_each_component,      ///< one for each component of a mixture
  twice_the_blocks_before  ///< twice as many as there are blocks of the phases before
};

/// When a phase is carried out.
enum class When {
  always,
  if_rejected  ///< if the candidate of the preceding phase was rejected. Both share their random numbers, and
               ///< the ratio takes account of both tries (second_try_correction).
};

/// The densities in the acceptance ratio.
enum class Ratio {
  in_u,     ///< densities of u
  in_theta  ///< densities of theta, without the Jacobian of the transform
};

/// The adapted numbers that warm-up learns for the blocks of a phase.
enum class Learns {
  nothing,
  scale,           ///< the scale of moves by the fitted distribution, whose factor all blocks share
  scale_and_shape  ///< scale, and shape as Proposal::learning says
};

/// Returns the index of a block's first random number of one purpose, if blocks need `count` at most. Blocks
/// of the first phase have index 0: they differ in the parameters by which they count. Blocks of later phases
/// have numbers of their own.
EMOMC_INLINE u32 first_number(const InnovationView& view, int count) {
  return view.block.phase == 0 ? 0 : static_cast<u32>(view.block_index * count);
}
/// The number of pairs of normal numbers for all free parameters.
EMOMC_INLINE int num_pairs(const InnovationView& view) { return (view.layout.dim_unconstrained + 1) / 2; }

/// The properties of an ordinary phase, from which phases inherit.
struct Phase {
  static constexpr const char* label = "all";  ///< name of its blocks; by_component: those of the parameters
  static constexpr Need need = Need::value;
  static constexpr Division division = Division::whole;
  static constexpr Repeats repeats = Repeats::once;
  static constexpr When when = When::always;
  static constexpr Ratio ratio = Ratio::in_u;
  static constexpr Learns learns = Learns::scale_and_shape;
  static constexpr int num_vectors = 1;  ///< vectors of an innovation, 1 or 2
  /// Whether the phase moves by the fitted distribution. Its points have numbers beyond u
  /// (whitened_point_size), which apply() may complete for the current point, and draw_ahead() draws the
  /// innovations of several of its blocks together (DrawnAhead).
  static constexpr bool moves_by_fit = false;
  static constexpr int fewest_components = 0;  ///< of a mixture; 0: for other targets too
  static constexpr int most_parameters = 0;    ///< free ones; 0: no limit
  // The next two are for Need::gradient.
  static constexpr TrajectoryLength length = TrajectoryLength::none;  ///< rule for a trajectory's length
  static constexpr bool has_tree = false;
};

/// The phases of a proposal's step. The kernels of a proposal contain only what its phases have.
template <class... Phases>
struct Schedule {
  static constexpr int num_phases = sizeof...(Phases);
  static constexpr bool moves_halves = ((Phases::repeats == Repeats::for_each_half) || ...);
  static constexpr bool has_second_try = ((Phases::when == When::if_rejected) || ...);
  static constexpr bool moves_by_fit = (Phases::moves_by_fit || ...);
  static constexpr bool needs_gradients = ((Phases::need == Need::gradient) || ...);
  static constexpr bool has_ratio_in_theta = ((Phases::ratio == Ratio::in_theta) || ...);

  static_assert(num_phases > 0);
  static_assert((0 + ... + (Phases::moves_by_fit ? 1 : 0)) <= 1, "there is one fitted distribution");
  static_assert(!needs_gradients || num_phases == 1,
                "a trajectory is the only phase of a step: chains do not wait for each other at its end");
  static_assert((((Phases::need == Need::increment) == (Phases::division == Division::by_component)) && ...),
                "the blocks of Division::by_component, and no others, change a part of the likelihood");

  template <class First, class...>
  struct FirstOf {
    using Type = First;
  };
  using First = typename FirstOf<Phases...>::Type;

  /// Calls f(phase) with an object of the type of phase `number`, and returns the result.
  template <class F>
  EMOMC_INLINE static auto visit(int number, F f) {
    return visit_from<0, F, Phases...>(number, f);
  }

  /// Calls f(phase) for the phase that moves by the fit; does nothing if there is none.
  template <class F>
  static void visit_moves_by_fit(F f) {
    (call_if<Phases::moves_by_fit, Phases>(f), ...);
  }

 private:
  template <bool kCalled, class P, class F>
  static void call_if(F& f) {
    if constexpr (kCalled) f(P{});
  }
  template <int kFirst, class F, class First, class... Rest>
  EMOMC_INLINE static auto visit_from(int number, F& f) {
    if constexpr (sizeof...(Rest) == 0)
      return f(First{});
    else
      return number == kFirst ? f(First{}) : visit_from<kFirst + 1, F, Rest...>(number, f);
  }
};

/// The only phase of a gradient sampler.
template <class Proposal>
using TrajectoryOf = typename Proposal::Phases::First;

/// Properties of the phase to which a block belongs. They are known at compile time if all phases agree.
template <class Proposal>
EMOMC_INLINE bool moves_a_half(const ProposalBlock& block) {
  if constexpr (!Proposal::Phases::moves_halves) return false;
  return Proposal::Phases::visit(
      block.phase, [](auto phase) { return decltype(phase)::repeats == Repeats::for_each_half; });
}
template <class Proposal>
EMOMC_INLINE bool is_second_try(const ProposalBlock& block) {
  if constexpr (!Proposal::Phases::has_second_try) return false;
  return Proposal::Phases::visit(block.phase,
                                 [](auto phase) { return decltype(phase)::when == When::if_rejected; });
}
template <class Proposal>
EMOMC_INLINE bool has_ratio_in_theta(const ProposalBlock& block) {
  if constexpr (!Proposal::Phases::has_ratio_in_theta) return false;
  return Proposal::Phases::visit(block.phase,
                                 [](auto phase) { return decltype(phase)::ratio == Ratio::in_theta; });
}
template <class Proposal>
EMOMC_INLINE bool moves_by_fit(const ProposalBlock& block) {
  if constexpr (!Proposal::Phases::moves_by_fit) return false;
  return Proposal::Phases::visit(block.phase, [](auto phase) { return decltype(phase)::moves_by_fit; });
}

/// Calls innovate() of the phase to which the block of `view` belongs.
template <class Proposal, class Team>
EMOMC_HD void innovate(const Team& team, const RandomSource& random, const InnovationView& view,
                       const Innovation& innovation) {
  Proposal::Phases::visit(view.block.phase,
                          [&](auto phase) { decltype(phase)::innovate(team, random, view, innovation); });
}

/// Calls apply() of the phase to which the block of `view` belongs. After a move by any other phase, the
/// numbers that a phase with moves by the fit keeps of a point are not known.
template <class Proposal, class Team>
EMOMC_HD double apply(const Team& team, const ProposalView& view) {
  return Proposal::Phases::visit(view.adapted.block.phase, [&](auto phase) {
    if constexpr (Proposal::Phases::moves_by_fit && !decltype(phase)::moves_by_fit)
      if (team.rank() == 0)
        view.candidate[whitened_point_size(view.adapted.layout.dim_unconstrained) - 1] = 0;
    return decltype(phase)::apply(team, view);
  });
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_SCHEDULE_HPP
