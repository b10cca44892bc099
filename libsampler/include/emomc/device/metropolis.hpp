// The Metropolis-Hastings step of one chain, for a team: propose a block's candidate, accept or reject
// it once its likelihood is there, and record. The same source runs in a host thread and a CUDA block.
#ifndef EMOMC_DEVICE_METROPOLIS_HPP
#define EMOMC_DEVICE_METROPOLIS_HPP

#include "emomc/device/constrain.hpp"
#include "emomc/device/log_prior.hpp"
#include "emomc/device/proposal.hpp"

namespace emomc::device {

/// One point per chain, chain-major.
struct PointSet {
  double* u;      ///< num_chains x ld_u
  double* theta;  ///< num_chains x ld
  double* log_prior;
  double* log_jacobian;
  double* log_likelihood;  ///< [num_chains] each
};

/// Which draws of a segment are kept, and where; uploaded before each segment.
struct RecordPlan {
  i64 origin;  ///< steps origin + every, origin + 2 every, ... are kept
  i64 every;
  i64 slot;      ///< of the first one
  i64 capacity;  ///< slots from `slot` on
};

/// Kept draws: slot-major, then chain. `u` or `theta` may be null.
struct Record {
  double* u;      ///< slots x num_chains x dim_unconstrained
  double* theta;  ///< slots x num_chains x dim
  double* log_prior;
  double* log_likelihood;  ///< slots x num_chains
};

/// Everything the step reads and writes, by value to kernels; memory of the engine's device.
struct StepView {
  ParameterTable table;
  PointSet current, candidate;
  int num_chains, ld_u, ld;
  double* innovation;  ///< num_chains x ld_u
  double* log_q;       ///< [num_chains]
  u8* accepted;        ///< [num_chains], of the last block
  i64* step;           ///< [num_chains] steps done; equal in all chains
  const u32* chain_id;
  const double* beta;
  const int* group;
  const double* adapted;  ///< num_groups x adapted_layout.size()
  AdaptedLayout adapted_layout;
  const ProposalBlock* blocks;
  int num_blocks;
  IncrementShape shape;
  u64* num_accepted;  ///< num_chains x num_blocks
  u64* num_proposed;
  u64* num_faults;  ///< [num_chains]
  u64 seed;
  const RecordPlan* record_plan;
  Record record;
};

EMOMC_INLINE RandomSource random_of(const StepView& v, int chain) {
  return {v.seed, static_cast<u64>(v.step[chain]), v.chain_id[chain]};
}

/// Writes chain's candidate for block `b`: u, theta, log prior, log Jacobian, log q ratio.
template <class Proposal, class Team>
EMOMC_HD void propose(const Team& team, const StepView& v, int chain, int b) {
  const ProposalBlock block = v.blocks[b];
  const double* u = v.current.u + static_cast<i64>(chain) * v.ld_u;
  double* candidate = v.candidate.u + static_cast<i64>(chain) * v.ld_u;
  double* innovation = v.innovation + static_cast<i64>(chain) * v.ld_u;
  Proposal::innovate(team, random_of(v, chain), block, innovation);
  for (int i = team.rank(); i < v.table.dim_unconstrained; i += team.size()) candidate[i] = u[i];
  team.sync();
  const ProposalView view{u,
                          candidate,
                          innovation,
                          v.adapted + static_cast<i64>(v.group[chain]) * v.adapted_layout.size(),
                          v.adapted_layout,
                          block,
                          b,
                          v.shape};
  const double log_q = Proposal::apply(team, view);
  team.sync();
  double* theta = v.candidate.theta + static_cast<i64>(chain) * v.ld;
  const KnownPoint known{u, v.current.theta + static_cast<i64>(chain) * v.ld};
  const double log_jacobian = constrain(team, v.table, candidate, theta, known);
  const double prior = log_prior(team, v.table, theta);
  if (team.rank() == 0) {
    v.log_q[chain] = log_q;
    v.candidate.log_jacobian[chain] = log_jacobian;
    v.candidate.log_prior[chain] = prior;
  }
}

/// Log acceptance ratio; NaN where the candidate's density is NaN or plus infinity.
EMOMC_INLINE double log_acceptance_ratio(const StepView& v, int chain) {
  return v.beta[chain] * (v.candidate.log_likelihood[chain] - v.current.log_likelihood[chain]) +
         (v.candidate.log_prior[chain] - v.current.log_prior[chain]) +
         (v.candidate.log_jacobian[chain] - v.current.log_jacobian[chain]) + v.log_q[chain];
}

template <class Team>
EMOMC_HD void record_draw(const Team& team, const StepView& v, int chain, i64 step) {
  const RecordPlan plan = *v.record_plan;
  const i64 since = step - plan.origin;
  if (since <= 0 || since % plan.every != 0) return;
  const i64 kept = since / plan.every - 1;
  if (kept >= plan.capacity) return;
  const i64 row = (plan.slot + kept) * v.num_chains + chain;
  const double* u = v.current.u + static_cast<i64>(chain) * v.ld_u;
  const double* theta = v.current.theta + static_cast<i64>(chain) * v.ld;
  const int dim = v.table.dim, dim_u = v.table.dim_unconstrained;
  if (v.record.theta)
    for (int i = team.rank(); i < dim; i += team.size()) v.record.theta[row * dim + i] = theta[i];
  if (v.record.u)
    for (int i = team.rank(); i < dim_u; i += team.size()) v.record.u[row * dim_u + i] = u[i];
  if (team.rank() == 0) {
    v.record.log_prior[row] = v.current.log_prior[chain];
    v.record.log_likelihood[row] = v.current.log_likelihood[chain];
  }
}

/// Accepts or rejects chain's candidate for block `b`. After the last block the step is done: it is
/// counted and, where the plan says so, recorded.
template <class Team>
EMOMC_HD void accept(const Team& team, const StepView& v, int chain, int b) {
  const i64 step = v.step[chain];
  const double ll = v.candidate.log_likelihood[chain];
  const double prior = v.candidate.log_prior[chain];
  const double density = ll + prior + v.candidate.log_jacobian[chain];
  const double log_ratio = log_acceptance_ratio(v, chain);
  // Minus infinity is a density; NaN and plus infinity are faults, which reject and are counted.
  const bool fault = is_nan(density) || density == kInfinity;
  const bool yes =
      !fault && log(random_of(v, chain).uniform(Purpose::acceptance, static_cast<u32>(b))) < log_ratio;
  if (yes) {
    const double* from_u = v.candidate.u + static_cast<i64>(chain) * v.ld_u;
    const double* from_theta = v.candidate.theta + static_cast<i64>(chain) * v.ld;
    double* to_u = v.current.u + static_cast<i64>(chain) * v.ld_u;
    double* to_theta = v.current.theta + static_cast<i64>(chain) * v.ld;
    for (int i = team.rank(); i < v.table.dim_unconstrained; i += team.size()) to_u[i] = from_u[i];
    for (int i = team.rank(); i < v.table.dim; i += team.size()) to_theta[i] = from_theta[i];
  }
  team.sync();  // everybody has read the scalars below
  if (team.rank() == 0) {
    v.accepted[chain] = yes ? 1 : 0;
    const i64 counter = static_cast<i64>(chain) * v.num_blocks + b;
    v.num_proposed[counter] += 1;
    if (yes) {
      v.num_accepted[counter] += 1;
      v.current.log_likelihood[chain] = ll;
      v.current.log_prior[chain] = prior;
      v.current.log_jacobian[chain] = v.candidate.log_jacobian[chain];
    }
    if (fault) v.num_faults[chain] += 1;
    if (b == v.num_blocks - 1) v.step[chain] = step + 1;
  }
  team.sync();
  if (b == v.num_blocks - 1) record_draw(team, v, chain, step + 1);
}

/// What one launch does with a chain: accept block `accept_block`, then propose block `propose_block`;
/// kNoBlock leaves a part out.
inline constexpr int kNoBlock = -1;

template <class Proposal, class Team>
EMOMC_HD void transition(const Team& team, const StepView& v, int chain, int accept_block,
                         int propose_block) {
  if (accept_block != kNoBlock) {
    accept(team, v, chain, accept_block);
    team.sync();
  }
  if (propose_block != kNoBlock) propose<Proposal>(team, v, chain, propose_block);
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_METROPOLIS_HPP
