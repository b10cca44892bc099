// What a proposal is: two functions for a team. Adding one is a header like gaussian_walk.hpp, a line in
// proposals.hpp and a test.
//
//   innovate(team, random, view, innovation)   draws what it needs, without looking at the state; it runs
//                                              while the likelihood of the candidate before is computed
//   apply(team, view) -> log q ratio           writes the candidate; log q(u | u') - log q(u' | u)
//
// A step of a proposal goes through its blocks in order; each is proposed, evaluated and accepted alone.
#ifndef EMOMC_DEVICE_PROPOSAL_HPP
#define EMOMC_DEVICE_PROPOSAL_HPP

#include "emomc/device/block_description.hpp"
#include "emomc/device/random.hpp"
#include "emomc/device/team.hpp"

namespace emomc::device {

/// How a proposal's step is cut into blocks (host: proposal_blocks.hpp).
enum class BlockPlan {
  whole,         ///< all free parameters at once
  by_component,  ///< a block's slice of one component, weights, other blocks: each alone
};

/// Contiguous free parameters that move together.
struct ProposalBlock {
  int begin, size;      ///< in u
  Influence influence;  ///< what the engine has to evaluate
  int component;        ///< with Influence::component
  int dense_offset;     ///< of its Cholesky factor in the adapted numbers
};

/// Covariance of the increments within a block; see AdaptedLayout.
enum class IncrementShape : int { isotropic, diagonal, dense };

/// Where a group's adapted numbers lie: log_scale [num_blocks], then sd [dim_unconstrained], then for
/// `dense` the lower Cholesky factors of the blocks, column-major, size x size each.
struct AdaptedLayout {
  int num_blocks, dim_unconstrained, num_dense;
  EMOMC_INLINE int scale(int block) const { return block; }
  EMOMC_INLINE int sd(int i) const { return num_blocks + i; }
  EMOMC_INLINE int num_small() const { return num_blocks + dim_unconstrained; }  ///< scales and sds
  EMOMC_INLINE int dense(int offset) const { return num_small() + offset; }
  EMOMC_INLINE int size() const { return num_small() + num_dense; }
};

/// What innovate() sees.
struct InnovationView {
  const double* adapted;  ///< the chain's group's scales and sds
  const double* dense;    ///< the group's Cholesky factors
  AdaptedLayout layout;
  ProposalBlock block;
  int block_index;
  IncrementShape shape;
};

/// What apply() sees of one chain.
struct ProposalView {
  const double* u;           ///< [dim_unconstrained] current
  double* candidate;         ///< [dim_unconstrained], a copy of u on entry
  const double* innovation;  ///< [dim_unconstrained]
  InnovationView adapted;
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_PROPOSAL_HPP
