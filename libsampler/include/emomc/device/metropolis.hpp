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

/// Where a team works on one chain: the chain's own rows of StepView, or copies of them in memory that is
/// nearer. [dim_unconstrained] and [dim].
struct Workspace {
  double* current_u;
  double* current_theta;
  double* u;      ///< of the candidate
  double* theta;  ///< of the candidate
  double* innovation;
};

/// The chain's rows themselves.
EMOMC_INLINE Workspace rows_of(const StepView& v, int chain) {
  return {v.current.u + static_cast<i64>(chain) * v.ld_u, v.current.theta + static_cast<i64>(chain) * v.ld,
          v.candidate.u + static_cast<i64>(chain) * v.ld_u,
          v.candidate.theta + static_cast<i64>(chain) * v.ld,
          v.innovation + static_cast<i64>(chain) * v.ld_u};
}

/// Doubles of a workspace that is not the rows themselves.
EMOMC_INLINE int workspace_size(const ParameterTable& table) {
  return 3 * table.dim_unconstrained + 2 * table.dim;
}
EMOMC_INLINE Workspace workspace_in(double* memory, const ParameterTable& table) {
  const int n = table.dim_unconstrained, dim = table.dim;
  return {memory, memory + 3 * n, memory + n, memory + 3 * n + dim, memory + 2 * n};
}

/// Each member copies its own elements, which it alone reads until the next sync.
template <class Team>
EMOMC_INLINE void copy(const Team& team, const double* from, double* to, int n) {
  if (from == to) return;
  for (int i = team.rank(); i < n; i += team.size()) to[i] = from[i];
}

/// Writes chain's candidate for block `b` at its step `step`: u, theta, log prior, log Jacobian, log q ratio.
/// `w.current_*` hold the current point and w.u a copy of its u; a sync lies behind them.
template <class Proposal, class Team>
EMOMC_HD void propose(const Team& team, const StepView& v, int chain, int b, i64 step, const Workspace& w) {
  const ProposalBlock block = v.blocks[b];
  const double* adapted = v.adapted + static_cast<i64>(v.group[chain]) * v.adapted_layout.size();
  Proposal::innovate(team, RandomSource{v.seed, static_cast<u64>(step), v.chain_id[chain]}, block,
                     w.innovation);
  team.sync();
  const ProposalView view{w.current_u, w.u, w.innovation, adapted, v.adapted_layout, block, b, v.shape};
  const double log_q = Proposal::apply(team, view);
  team.sync();
  const TwoSums sums =
      constrain_and_sum(team, v.table, w.u, w.theta, {w.current_u, w.current_theta}, log_density_term);
  const Workspace rows = rows_of(v, chain);
  copy(team, w.u, rows.u, v.table.dim_unconstrained);
  copy(team, w.theta, rows.theta, v.table.dim);
  if (team.rank() == 0) {
    v.log_q[chain] = log_q;
    v.candidate.log_jacobian[chain] = sums.a;
    v.candidate.log_prior[chain] = v.table.log_prior_constant + sums.b;
  }
}

/// The log densities of a point, but for the likelihood's power beta.
struct LogDensities {
  double likelihood, prior, jacobian;
};
EMOMC_INLINE LogDensities densities_of(const PointSet& points, int chain) {
  return {points.log_likelihood[chain], points.log_prior[chain], points.log_jacobian[chain]};
}

/// NaN where the candidate's density is NaN or plus infinity.
EMOMC_INLINE double log_acceptance_ratio(const LogDensities& candidate, const LogDensities& current,
                                         double beta, double log_q) {
  return beta * (candidate.likelihood - current.likelihood) + (candidate.prior - current.prior) +
         (candidate.jacobian - current.jacobian) + log_q;
}

template <class Team>
EMOMC_HD void record_draw(const Team& team, const StepView& v, int chain, i64 step, const RecordPlan& plan,
                          const Workspace& w, const LogDensities& current) {
  const i64 since = step - plan.origin;
  if (since <= 0 || since % plan.every != 0) return;
  const i64 kept = since / plan.every - 1;
  if (kept >= plan.capacity) return;
  const i64 row = (plan.slot + kept) * v.num_chains + chain;
  const int dim = v.table.dim, dim_u = v.table.dim_unconstrained;
  if (v.record.theta) copy(team, w.current_theta, v.record.theta + row * dim, dim);
  if (v.record.u) copy(team, w.current_u, v.record.u + row * dim_u, dim_u);
  if (team.rank() == 0) {
    v.record.log_prior[row] = current.prior;
    v.record.log_likelihood[row] = current.likelihood;
  }
}

/// Accepts or rejects chain's candidate for block `b` at its step `step`, with both points in `w`. After the
/// last block the step is done: it is counted and, where the plan says so, recorded. Returns the steps done.
template <class Team>
EMOMC_HD i64 accept(const Team& team, const StepView& v, int chain, int b, i64 step, const Workspace& w) {
  const bool is_last = b == v.num_blocks - 1;
  const RecordPlan plan = *v.record_plan;
  const LogDensities candidate = densities_of(v.candidate, chain);
  LogDensities current = densities_of(v.current, chain);
  const double log_ratio = log_acceptance_ratio(candidate, current, v.beta[chain], v.log_q[chain]);
  const double density = candidate.likelihood + candidate.prior + candidate.jacobian;
  const RandomSource random{v.seed, static_cast<u64>(step), v.chain_id[chain]};
  // Minus infinity is a density; NaN and plus infinity are faults, which reject and are counted.
  const bool fault = is_nan(density) || density == kInfinity;
  const bool yes = !fault && log(random.uniform(Purpose::acceptance, static_cast<u32>(b))) < log_ratio;
  if (yes) {
    const Workspace rows = rows_of(v, chain);
    copy(team, w.u, rows.current_u, v.table.dim_unconstrained);
    copy(team, w.theta, rows.current_theta, v.table.dim);
    if (w.current_u != rows.current_u) {
      copy(team, w.u, w.current_u, v.table.dim_unconstrained);
      copy(team, w.theta, w.current_theta, v.table.dim);
    }
    current = candidate;
  }
  team.sync();  // everybody has read the scalars below
  if (team.rank() == 0) {
    v.accepted[chain] = yes ? 1 : 0;
    const i64 counter = static_cast<i64>(chain) * v.num_blocks + b;
    v.num_proposed[counter] += 1;
    if (yes) {
      v.num_accepted[counter] += 1;
      v.current.log_likelihood[chain] = current.likelihood;
      v.current.log_prior[chain] = current.prior;
      v.current.log_jacobian[chain] = current.jacobian;
    }
    if (fault) v.num_faults[chain] += 1;
    if (is_last) v.step[chain] = step + 1;
  }
  if (!is_last) return step;
  record_draw(team, v, chain, step + 1, plan, w, current);
  return step + 1;
}

/// What one launch does with a chain: accept block `accept_block`, then propose block `propose_block`;
/// kNoBlock leaves a part out.
inline constexpr int kNoBlock = -1;

template <class Proposal, class Team>
EMOMC_HD void transition(const Team& team, const StepView& v, int chain, int accept_block, int propose_block,
                         const Workspace& w) {
  const int dim = v.table.dim, dim_u = v.table.dim_unconstrained;
  const Workspace rows = rows_of(v, chain);
  i64 step = v.step[chain];
  copy(team, rows.current_u, w.current_u, dim_u);
  copy(team, rows.current_theta, w.current_theta, dim);
  if (accept_block != kNoBlock) {
    copy(team, rows.u, w.u, dim_u);
    copy(team, rows.theta, w.theta, dim);
    step = accept(team, v, chain, accept_block, step, w);
  }
  if (propose_block != kNoBlock) {
    copy(team, w.current_u, w.u, dim_u);
    propose<Proposal>(team, v, chain, propose_block, step, w);
  }
}

template <class Proposal, class Team>
EMOMC_HD void transition(const Team& team, const StepView& v, int chain, int accept_block,
                         int propose_block) {
  transition<Proposal>(team, v, chain, accept_block, propose_block, rows_of(v, chain));
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_METROPOLIS_HPP
