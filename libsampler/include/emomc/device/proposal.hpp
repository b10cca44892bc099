// What a proposal is: two functions for a team. Adding one is a header like gaussian_walk.hpp, a line in
// proposals.hpp and a test.
//
//   innovate(team, random, view, innovation)   draws what it needs, without looking at the state; it runs
//                                              while the likelihood of the candidate before is computed
//   apply(team, view) -> log q ratio           writes the candidate; log q(u | u') - log q(u' | u), of a jump
//                                              log q(theta | theta') - log q(theta' | theta)
//   name, block_plan, learning, adapts_scale   what it is called, how its step is cut, what warm-up learns
//   for it
//
// A step of a proposal goes through its blocks in order; each is proposed, evaluated and accepted alone.
#ifndef EMOMC_DEVICE_PROPOSAL_HPP
#define EMOMC_DEVICE_PROPOSAL_HPP

#include "emomc/device/block_description.hpp"
#include "emomc/device/parameter_table.hpp"
#include "emomc/device/random.hpp"
#include "emomc/device/team.hpp"

namespace emomc::device {

/// How a proposal's step is cut into blocks (host: proposal_blocks.hpp).
enum class BlockPlan {
  whole,         ///< all free parameters at once
  by_component,  ///< a block's slice of one component, weights, other blocks: each alone
  halves,  ///< all at once, first of one half of the chains, then of the other, each by the other's state
  stages,  ///< all at once, and where that is rejected a second, shorter try
  by_component_and_jump,  ///< by_component, then all at once between the modes of a mixture
  by_component_and_fit,   ///< by_component, then twice as often all at once by what is fitted
};

/// What the windows of warm-up learn of the increments' covariance.
enum class ShapeLearning {
  none,
  as_asked,             ///< the shape that the user chose, at a few steps
  every_window,         ///< a dense one, at each window
  fitted,               ///< a dense one, and with it mean and inverse (AdaptedLayout::fitted)
  as_asked_and_fitted,  ///< of blocks as_asked; fitted, of all at once
};

/// Contiguous free parameters that move together.
struct ProposalBlock {
  int begin, size;      ///< in u
  Influence influence;  ///< what the engine has to evaluate
  int component;        ///< with Influence::component
  int dense_offset;     ///< of its Cholesky factor in the adapted numbers
  int half;             ///< of the chains that move, 0 or 1; kAllChains
  int stage;            ///< 1: the second try where the block before was rejected
  int jump;             ///< 1: between modes; nothing of it is learnt, its ratio is that of theta
  int by_fit;           ///< from 1, the number of a move of all by what is fitted; 0: another block.
                        ///< The factor is at dense_offset
  int first_element, num_elements;  ///< of theta, that depend on it; others among them may not
  int keeps_heights;                ///< 1: it moves locations only, so that no component's height changes
};
inline constexpr int kAllChains = -1;

/// What decides how long the trajectories of a gradient sampler are, and its adapted numbers: nothing
/// adapted; a longest integration time, which bounds the leapfrogs until there is a metric; or a length that
/// is learnt: its logarithm, and a centre [dim_unconstrained].
enum class TrajectoryLength : int { own, bounded, learnt };
EMOMC_INLINE constexpr int length_size(TrajectoryLength length, int dim_unconstrained) {
  return length == TrajectoryLength::own       ? 0
         : length == TrajectoryLength::bounded ? 1
                                               : 1 + dim_unconstrained;
}
/// Of a bounded length, once there is a metric.
inline constexpr double kLongestTime = 3.141592653589793;

/// Covariance of the increments within a block; see AdaptedLayout.
enum class IncrementShape : int { isotropic, diagonal, dense };

/// Where a group's adapted numbers lie: log_scale [num_blocks], then sd [dim_unconstrained], then for
/// `dense` the lower Cholesky factors of the blocks, column-major, size x size each, and where all is fitted
/// that of all, then its inverse [n x n], column-major, the mean [n], and 1 once they are there (else 0).
/// At the end are the numbers of a TrajectoryLength.
struct AdaptedLayout {
  int num_blocks, dim_unconstrained, num_dense, num_fitted, num_length = 0;
  EMOMC_INLINE int scale(int block) const { return block; }
  EMOMC_INLINE int sd(int i) const { return num_blocks + i; }
  EMOMC_INLINE int num_small() const { return num_blocks + dim_unconstrained; }  ///< scales and sds
  EMOMC_INLINE int dense(int offset) const { return num_small() + offset; }
  EMOMC_INLINE int fitted() const { return num_small() + num_dense; }
  EMOMC_INLINE int length() const { return num_small() + num_dense + num_fitted; }
  EMOMC_INLINE int size() const { return length() + num_length; }
  static constexpr int fitted_size(int n) { return n * n + n + 1; }
};

/// Numbers of an innovation beside those of the free parameters: choices, lengths.
inline constexpr int kExtraInnovation = 8;

/// The innovation of a step: [dim_unconstrained] numbers, as many behind them where there are stages (those
/// of a second try) or moves by a fit, then kExtraInnovation more.
struct Innovation {
  double *main, *second, *extra;
};

/// What innovate() sees.
struct InnovationView {
  const double* adapted;  ///< the chain's group's scales and sds
  const double* dense;    ///< the group's Cholesky factors, then what is fitted
  AdaptedLayout layout;
  ProposalBlock block;
  int block_index;
  IncrementShape shape;
  MixtureLayout mixture;
  const double* drawn;  ///< where given: the innovation, as innovate() would write it
};

/// Numbers of an innovation as a block has them: main, where there is a second vector that, then extra.
EMOMC_INLINE constexpr int innovation_size(int n, bool has_second) {
  return (has_second ? 2 : 1) * n + kExtraInnovation;
}

/// Innovations of all moves by a fit of several steps, drawn before those steps: they do not depend on the
/// chain's state, and together the factor of the fit is read once for several of them.
struct DrawnAhead {
  double* values;  ///< num_chains x num_slots x num_moves x ld; null: none are
  int num_slots;   ///< a power of two; those of step s are in slot s modulo num_slots
  int num_moves;   ///< by_fit, of each step
  int ld;          ///< distance between innovations

  EMOMC_INLINE double* row(int chain, i64 step, int move) const {
    const i64 slot = step & (num_slots - 1);
    return values + ((chain * static_cast<i64>(num_slots) + slot) * num_moves + move) * ld;
  }
};

/// The chains of the other half, whose points an ensemble move goes by.
struct OtherChains {
  const double* u;     ///< of all chains, chain-major
  i64 ld;              ///< distance between chains in u
  const int* members;  ///< [count] chains of the half
  int count;

  EMOMC_INLINE const double* point(int member) const { return u + members[member] * ld; }
};

/// A point where there are moves by a fit: u, then L^-1 (u - m), and the step that this was computed in, plus
/// one; another number there: it is not known.
EMOMC_INLINE constexpr int whitened_point_size(int n) { return 2 * n + 1; }

/// What apply() sees of one chain.
struct ProposalView {
  const double* u;    ///< [point_size] current
  double* candidate;  ///< [point_size], a copy of u on entry
  Innovation innovation;
  InnovationView adapted;
  OtherChains others;  ///< with BlockPlan::halves
  const ParameterTable* table;
  const double* current_theta;  ///< [dim]
  double* theta;                ///< [dim] scratch: the candidate's, which is written afterwards
  /// u's numbers beyond the parameters, what a proposal keeps of the current point; it may complete them.
  /// Null: nowhere to write.
  double* kept = nullptr;
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_PROPOSAL_HPP
