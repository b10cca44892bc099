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
  ParameterTable table;     ///< of group 0; the others' arrays lie behind its own, of equal sizes
  const double* constants;  ///< [num_tables] log_prior_constant of each
  int num_tables;           ///< 1: all groups have the same
  PointSet current, candidate;
  int num_chains, ld_u, ld;
  int point_size;      ///< of u: dim_unconstrained numbers, then what the proposal keeps of a point
  double* innovation;  ///< num_chains x ld_innovation
  int ld_innovation, num_innovation;
  double* log_q;  ///< [num_chains]
  u8* accepted;   ///< [num_chains], of the last block
  i64* step;      ///< [num_chains] steps done; equal in all chains
  const u32* chain_id;
  const double* beta;
  const int* group;
  const int* half;          ///< [num_chains] 0 or 1
  const int* members;       ///< chains of group 0's half 0, its half 1, group 1's half 0, ...
  const int* first_member;  ///< [2 num_groups + 1] into `members`
  u8* first_accepted;       ///< [num_chains] of the step's first try, where there are stages
  double* first_density;    ///< [num_chains] log density of its candidate, with Jacobian and beta
  const double* adapted;    ///< num_groups x adapted_layout.size()
  AdaptedLayout adapted_layout;
  const ProposalBlock* blocks;
  int num_blocks;
  DrawnAhead drawn;
  IncrementShape shape;
  u64* num_accepted;  ///< num_chains x num_blocks
  u64* num_proposed;
  u64* num_faults;  ///< [num_chains]
  u64 seed;
  const RecordPlan* record_plan;
  Record record;
};

/// Where a team works on one chain: the chain's own rows of StepView, or copies of them in memory that is
/// nearer; and what it reads there.
struct Workspace {
  double* current_u;                    ///< [point_size]
  double* u;                            ///< of the candidate
  double* innovation;                   ///< [num_innovation]
  double* current_theta;                ///< [dim]
  double* theta;                        ///< of the candidate
  double* adapted;                      ///< the chain's group's scales and sds
  ParameterTable table;                 ///< as StepView's, its arrays nearer
  bool is_filled = false;               ///< table and adapted numbers are there already
  const double* log_uniform = nullptr;  ///< where given: innovation and this one have been drawn ahead
};

EMOMC_INLINE double* adapted_of(const StepView& v, int chain) {
  return const_cast<double*>(v.adapted) + static_cast<i64>(v.group[chain]) * v.adapted_layout.size();
}

/// The prior and transforms of a chain: its group's.
EMOMC_INLINE ParameterTable table_of(const StepView& v, int chain) {
  ParameterTable table = v.table;
  if (v.num_tables == 1) return table;
  const i64 group = v.group[chain];
  table.elements += group * table.dim;
  table.covariance_rows += group * table.num_covariance_rows;
  table.conditionals += group * table.num_conditionals;
  table.log_prior_constant = v.constants[group];
  return table;
}

/// The chain's rows themselves.
EMOMC_INLINE Workspace rows_of(const StepView& v, int chain) {
  const i64 u = static_cast<i64>(chain) * v.ld_u, theta = static_cast<i64>(chain) * v.ld;
  return {v.current.u + u,
          v.candidate.u + u,
          v.innovation + static_cast<i64>(chain) * v.ld_innovation,
          v.current.theta + theta,
          v.candidate.theta + theta,
          adapted_of(v, chain),
          table_of(v, chain)};
}

/// A workspace of its own in `memory`, aligned to 8 bytes; workspace_bytes() of it.
EMOMC_INLINE Workspace workspace_in(unsigned char* memory, const StepView& v, int chain) {
  const int n = v.point_size, dim = v.table.dim;
  double* numbers = reinterpret_cast<double*>(memory);
  double* theta = numbers + 2 * n + v.num_innovation;
  double* adapted = theta + 2 * dim;
  ParameterTable table = table_of(v, chain);
  Element* elements = reinterpret_cast<Element*>(adapted + v.adapted_layout.num_small());
  SimplexBlock* simplices = reinterpret_cast<SimplexBlock*>(elements + dim);
  CovarianceRow* rows = reinterpret_cast<CovarianceRow*>(simplices + table.num_simplices);
  table.elements = elements;
  table.simplices = simplices;
  table.covariance_rows = rows;
  table.conditionals = reinterpret_cast<ConditionalElement*>(rows + table.num_covariance_rows);
  return {numbers, numbers + n, numbers + 2 * n, theta, theta + dim, adapted, table};
}
EMOMC_INLINE i64 workspace_bytes(const StepView& v) {
  const i64 n = v.point_size, dim = v.table.dim;
  return (2 * n + v.num_innovation + 2 * dim + v.adapted_layout.num_small()) *
             static_cast<i64>(sizeof(double)) +
         dim * static_cast<i64>(sizeof(Element)) +
         v.table.num_simplices * static_cast<i64>(sizeof(SimplexBlock)) +
         v.table.num_covariance_rows * static_cast<i64>(sizeof(CovarianceRow)) +
         v.table.num_conditionals * static_cast<i64>(sizeof(ConditionalElement));
}

/// Each member copies its own elements, which it alone reads until the next sync.
template <class Team>
EMOMC_INLINE void copy(const Team& team, const double* from, double* to, int n) {
  if (from == to) return;
  EMOMC_ROLLED
  for (int i = team.rank(); i < n; i += team.size()) to[i] = from[i];
}

/// The log densities of a point, but for the likelihood's power beta.
struct LogDensities {
  double likelihood, prior, jacobian;
};
/// What one launch does with a chain: accept block `accept_block`, then propose block `propose_block`;
/// kNoBlock leaves a part out.
inline constexpr int kNoBlock = -1;

/// The part of a transition that does not depend on the candidate's likelihood, so that it can run while
/// that is computed.
struct Prepared {
  i64 step;                         ///< steps done before the acceptance
  double log_uniform;               ///< of the acceptance
  double log_ratio;                 ///< log acceptance ratio but for the likelihood
  LogDensities candidate, current;  ///< the candidate's likelihood is not there yet
  double beta;
  bool is_evaluated;  ///< the candidate's likelihood is to come; otherwise it is the current one's
  bool takes_part;    ///< in the acceptance: the chain is of the half that moves, its first try was rejected
  bool is_second_try;
  u64 num_proposed, num_accepted;  ///< before
  RecordPlan plan;
  InnovationView adapted;  ///< of the block to propose
};

/// Begins to copy a table's arrays to those of `to`, as many as it has.
template <class Team>
EMOMC_INLINE void fetch_table(const Team& team, const ParameterTable& from, const ParameterTable& to) {
  team.fetch(from.elements, const_cast<Element*>(to.elements), to.dim);
  team.fetch(from.simplices, const_cast<SimplexBlock*>(to.simplices), to.num_simplices);
  team.fetch(from.covariance_rows, const_cast<CovarianceRow*>(to.covariance_rows), to.num_covariance_rows);
  team.fetch(from.conditionals, const_cast<ConditionalElement*>(to.conditionals), to.num_conditionals);
}

/// Parts of the step that only some proposals have; the others' kernels are without their instructions.
template <class Proposal>
inline constexpr bool has_halves = Proposal::block_plan == BlockPlan::halves;
template <class Proposal>
inline constexpr bool has_jumps = Proposal::block_plan == BlockPlan::by_component_and_jump;
template <class Proposal>
inline constexpr bool has_stages = Proposal::block_plan == BlockPlan::stages;
template <class Proposal>
inline constexpr bool has_fit_moves = Proposal::block_plan == BlockPlan::by_component_and_fit;

template <class Proposal>
EMOMC_INLINE bool is_of_half(const StepView& v, int chain, const ProposalBlock& block) {
  if constexpr (has_halves<Proposal>) return v.half[chain] == block.half;
  return true;
}

EMOMC_INLINE Innovation innovation_of(const StepView& v, const Workspace& w) {
  return {w.innovation, w.innovation + v.table.dim_unconstrained,
          w.innovation + v.num_innovation - kExtraInnovation};
}

/// Chains of the half that `block` leaves standing, in the chain's group.
template <class Proposal>
EMOMC_INLINE OtherChains others_of(const StepView& v, int chain, const ProposalBlock& block) {
  if constexpr (!has_halves<Proposal>) return {nullptr, 0, nullptr, 0};
  const int list = 2 * v.group[chain] + 1 - block.half;
  const int first = v.first_member[list];
  return {v.current.u, v.ld_u, v.members + first, v.first_member[list + 1] - first};
}

/// What has been drawn ahead for a block at a step; null: nothing.
EMOMC_INLINE const double* drawn_ahead(const StepView& v, int chain, i64 step, const ProposalBlock& block) {
  return v.drawn.values && block.by_fit ? v.drawn.row(chain, step, block.by_fit - 1) : nullptr;
}

/// Logarithm of the uniform number that decides on a block at a step.
EMOMC_INLINE double draw_log_uniform(const StepView& v, u32 chain_id, i64 step, int block) {
  return log(RandomSource{v.seed, static_cast<u64>(step), chain_id}.uniform(Purpose::acceptance,
                                                                            static_cast<u32>(block)));
}

/// Log acceptance ratio of a block's candidate but for the likelihood.
template <class Proposal>
EMOMC_INLINE double log_ratio_of(const ProposalBlock& block, const LogDensities& candidate,
                                 const LogDensities& current, double log_q) {
  if constexpr (has_jumps<Proposal>)
    if (block.jump) return (candidate.prior - current.prior) + log_q;
  return (candidate.prior - current.prior) + (candidate.jacobian - current.jacobian) + log_q;
}

/// Fills `w` with the current point, the candidate and the innovation of the block to come.
template <class Proposal, class Team>
EMOMC_HD Prepared prepare_transition(const Team& team, const StepView& v, int chain, int accept_block,
                                     int propose_block, const Workspace& w) {
  const int dim = v.table.dim, dim_u = v.table.dim_unconstrained;
  const Workspace rows = rows_of(v, chain);
  team.fetch(rows.current_u, w.current_u, v.point_size);
  team.fetch(rows.current_theta, w.current_theta, dim);
  if (accept_block != kNoBlock) {
    team.fetch(rows.u, w.u, v.point_size);
    team.fetch(rows.theta, w.theta, dim);
  }
  if (propose_block != kNoBlock && !w.is_filled) {
    fetch_table(team, table_of(v, chain), w.table);
    team.fetch(rows.adapted, w.adapted, v.adapted_layout.num_small());
  }

  const u32 id = v.chain_id[chain];
  Prepared p{};
  p.step = v.step[chain];
  p.beta = v.beta[chain];
  i64 next_step = p.step;
  if (accept_block != kNoBlock) {
    const i64 counter = static_cast<i64>(chain) * v.num_blocks + accept_block;
    p.candidate = {0, v.candidate.log_prior[chain], v.candidate.log_jacobian[chain]};
    p.current = {v.current.log_likelihood[chain], v.current.log_prior[chain], v.current.log_jacobian[chain]};
    const ProposalBlock& block = v.blocks[accept_block];
    p.is_evaluated = block.influence != Influence::nothing;
    p.takes_part = is_of_half<Proposal>(v, chain, block);
    if constexpr (has_stages<Proposal>) {
      p.is_second_try = block.stage == 1;
      p.takes_part = !(p.is_second_try && v.first_accepted[chain]);
    }
    p.num_proposed = v.num_proposed[counter];
    p.num_accepted = v.num_accepted[counter];
    p.plan = *v.record_plan;
    p.log_ratio = log_ratio_of<Proposal>(block, p.candidate, p.current, v.log_q[chain]);
    p.log_uniform = w.log_uniform ? *w.log_uniform : draw_log_uniform(v, id, p.step, accept_block);
    if (accept_block == v.num_blocks - 1) ++next_step;
  }
  if (propose_block != kNoBlock) {
    const ProposalBlock& block = v.blocks[propose_block];
    p.adapted = {w.adapted,        rows.adapted + v.adapted_layout.num_small(),
                 v.adapted_layout, block,
                 propose_block,    v.shape,
                 v.table.mixture,  drawn_ahead(v, chain, next_step, block)};
    // The first try's numbers, which a second one goes by.
    if constexpr (has_stages<Proposal>)
      if (p.adapted.block.stage == 1) team.fetch(rows.innovation, w.innovation, dim_u);
  }
  team.finish_fetches();
  team.sync();
  if (propose_block != kNoBlock && !w.log_uniform)
    Proposal::innovate(team, RandomSource{v.seed, static_cast<u64>(next_step), id}, p.adapted,
                       innovation_of(v, w));
  return p;
}

/// a / b of positive numbers; small ones at the price of small ones.
EMOMC_INLINE i64 quotient(i64 a, i64 b) {
  if ((static_cast<u64>(a | b) >> 32) == 0) return static_cast<u32>(a) / static_cast<u32>(b);
  return a / b;
}

template <class Team>
EMOMC_HD void record_draw(const Team& team, const StepView& v, int chain, i64 step, const RecordPlan& plan,
                          const Workspace& w, double log_prior, double log_likelihood) {
  const i64 since = step - plan.origin;
  if (since < plan.every) return;
  const i64 number = quotient(since, plan.every);
  if (number * plan.every != since) return;
  const i64 kept = number - 1;
  if (kept >= plan.capacity) return;
  const i64 row = (plan.slot + kept) * v.num_chains + chain;
  const int dim = v.table.dim, dim_u = v.table.dim_unconstrained;
  if (v.record.theta) copy(team, w.current_theta, v.record.theta + row * dim, dim);
  if (v.record.u) copy(team, w.current_u, v.record.u + row * dim_u, dim_u);
  if (team.rank() == 0) {
    v.record.log_prior[row] = log_prior;
    v.record.log_likelihood[row] = log_likelihood;
  }
}

struct Decision {
  bool accepted, fault;
  LogDensities candidate;
  double log_density;  ///< of the candidate, with Jacobian and beta
};

/// log(1 - a(candidate, first)) - log(1 - a(current, first)), a being the probability with which the first
/// try is accepted from there: what a second try's ratio has beside densities and proposals (Tierney and Mira
/// 1999). Log densities with Jacobian and beta; minus infinity where the second try cannot be accepted.
EMOMC_INLINE double second_try_correction(double first, double candidate, double current) {
  if (!(first > -kInfinity)) return 0.0;  // never accepted, from anywhere
  if (first >= candidate) return -kInfinity;
  return log1p(-exp(first - candidate)) - log1p(-exp(first - current));
}

/// Whether chain's candidate is accepted, `log_likelihood` being its own where it is evaluated.
template <class Proposal>
EMOMC_INLINE Decision decide(const StepView& v, int chain, const Prepared& p, double log_likelihood) {
  LogDensities candidate = p.candidate;
  candidate.likelihood = p.is_evaluated ? log_likelihood : p.current.likelihood;
  double log_ratio = p.beta * (candidate.likelihood - p.current.likelihood) + p.log_ratio;
  double log_density = 0;
  if constexpr (has_stages<Proposal>) {
    log_density = p.beta * candidate.likelihood + candidate.prior + candidate.jacobian;
    if (p.is_second_try && p.takes_part)
      log_ratio +=
          second_try_correction(v.first_density[chain], log_density,
                                p.beta * p.current.likelihood + p.current.prior + p.current.jacobian);
  }
  const double density = candidate.likelihood + candidate.prior + candidate.jacobian;
  // Minus infinity is a density; NaN and plus infinity are faults, which reject and are counted.
  const bool fault = is_nan(density) || density == kInfinity;
  return {p.takes_part && !fault && p.log_uniform < log_ratio, p.takes_part && fault, candidate,
          fault ? -kInfinity : log_density};
}

/// The same, the likelihood being in the chain's row.
template <class Proposal>
EMOMC_INLINE Decision decide(const StepView& v, int chain, const Prepared& p) {
  return decide<Proposal>(v, chain, p, p.is_evaluated ? v.candidate.log_likelihood[chain] : 0.0);
}

/// Carries out what was decided for block `b`; after the last block the step is done and counted.
template <class Proposal, class Team>
EMOMC_HD void settle(const Team& team, const StepView& v, int chain, int b, const Decision& decision,
                     const Prepared& p, const Workspace& w) {
  const LogDensities& candidate = decision.candidate;
  const bool yes = decision.accepted, fault = decision.fault;
  const Workspace rows = rows_of(v, chain);
  if (yes) {
    copy(team, w.u, rows.current_u, v.point_size);
    copy(team, w.theta, rows.current_theta, v.table.dim);
    if (w.current_u != rows.current_u) {
      copy(team, w.u, w.current_u, v.point_size);
      copy(team, w.theta, w.current_theta, v.table.dim);
    }
  }
  if (team.rank() == 0) {
    v.accepted[chain] = yes ? 1 : 0;
    const i64 counter = static_cast<i64>(chain) * v.num_blocks + b;
    if (p.takes_part) v.num_proposed[counter] = p.num_proposed + 1;
    if constexpr (has_stages<Proposal>)
      if (!p.is_second_try) {
        v.first_accepted[chain] = yes ? 1 : 0;
        v.first_density[chain] = decision.log_density;
      }
    if (yes) {
      v.num_accepted[counter] = p.num_accepted + 1;
      v.current.log_likelihood[chain] = candidate.likelihood;
      v.current.log_prior[chain] = candidate.prior;
      v.current.log_jacobian[chain] = candidate.jacobian;
    }
    if (fault) v.num_faults[chain] += 1;
    if (b == v.num_blocks - 1) v.step[chain] = p.step + 1;
  }
}

/// After the last block: the draw, where the plan keeps it.
template <class Team>
EMOMC_HD void record_decided(const Team& team, const StepView& v, int chain, const Decision& decision,
                             const Prepared& p, const Workspace& w) {
  record_draw(team, v, chain, p.step + 1, p.plan, w,
              decision.accepted ? decision.candidate.prior : p.current.prior,
              decision.accepted ? decision.candidate.likelihood : p.current.likelihood);
}

/// Both.
template <class Proposal, class Team>
EMOMC_HD void accept_or_reject(const Team& team, const StepView& v, int chain, int b,
                               const Decision& decision, const Prepared& p, const Workspace& w) {
  settle<Proposal>(team, v, chain, b, decision, p, w);
  if (b == v.num_blocks - 1) record_decided(team, v, chain, decision, p, w);
}

/// A candidate: where its u and theta are, and the rest of it.
struct Candidate {
  double *u, *theta;
  double log_q, log_jacobian, log_prior;
};

/// Writes the unconstrained point that the innovation in `w` makes of `from` to `u`, which all members may
/// read then, and returns log q; a proposal may write some of `theta` too.
template <class Proposal, class Team>
EMOMC_HD double apply_innovation(const Team& team, const StepView& v, int chain,
                                 const InnovationView& adapted, KnownPoint from, const Workspace& w,
                                 double* u, double* theta) {
  copy(team, from.u, u, v.point_size);
  team.sync();
  const double log_q =
      Proposal::apply(team, ProposalView{from.u, u, innovation_of(v, w), adapted,
                                         others_of<Proposal>(v, chain, adapted.block), &w.table, from.theta,
                                         theta, const_cast<double*>(from.u) + v.table.dim_unconstrained});
  team.sync();
  return log_q;
}

/// The candidate that the innovation in `w` makes of the point `from`, to be written to `u` and `theta`.
template <class Proposal, class Team>
EMOMC_HD Candidate propose(const Team& team, const StepView& v, int chain, const InnovationView& adapted,
                           KnownPoint from, const Workspace& w, double* u, double* theta) {
  const double log_q = apply_innovation<Proposal>(team, v, chain, adapted, from, w, u, theta);
  const PointDensities densities = constrain_with_prior(team, w.table, u, theta, from);
  return {u, theta, log_q, densities.log_jacobian, densities.log_prior};
}

/// Writes what the proposal of `block` has found out about the point `u`, which is the current one, for the
/// transition to come.
template <class Proposal, class Team>
EMOMC_HD void store_kept(const Team& team, const StepView& v, int chain, const ProposalBlock& block,
                         const double* u) {
  if constexpr (has_fit_moves<Proposal>) {
    const int n = v.table.dim_unconstrained;
    if (block.by_fit) copy(team, u + n, rows_of(v, chain).current_u + n, v.point_size - n);
  }
}

/// Writes chain's candidate for the likelihood and for the transition to come.
template <class Team>
EMOMC_HD void store(const Team& team, const StepView& v, int chain, const Candidate& candidate) {
  const Workspace rows = rows_of(v, chain);
  copy(team, candidate.u, rows.u, v.point_size);
  copy(team, candidate.theta, rows.theta, v.table.dim);
  if (team.rank() == 0) {
    v.log_q[chain] = candidate.log_q;
    v.candidate.log_jacobian[chain] = candidate.log_jacobian;
    v.candidate.log_prior[chain] = candidate.log_prior;
  }
}

/// The rest of a transition, once the candidate's likelihood is there. A sync lies between the two parts.
template <class Proposal, class Team>
EMOMC_HD void finish_transition(const Team& team, const StepView& v, int chain, int accept_block,
                                int propose_block, const Prepared& prepared, const Workspace& w) {
  if (accept_block != kNoBlock)
    accept_or_reject<Proposal>(team, v, chain, accept_block, decide<Proposal>(v, chain, prepared), prepared,
                               w);
  if (propose_block == kNoBlock || !is_of_half<Proposal>(v, chain, prepared.adapted.block)) return;
  store(team, v, chain,
        propose<Proposal>(team, v, chain, prepared.adapted, {w.current_u, w.current_theta}, w, w.u, w.theta));
  store_kept<Proposal>(team, v, chain, prepared.adapted.block, w.current_u);
  if constexpr (has_stages<Proposal>)
    if (prepared.adapted.block.stage == 0)
      copy(team, w.innovation, rows_of(v, chain).innovation, v.table.dim_unconstrained);
}

/// Both parts, on the chain's rows themselves.
template <class Proposal, class Team>
EMOMC_HD void transition(const Team& team, const StepView& v, int chain, int accept_block,
                         int propose_block) {
  const Workspace w = rows_of(v, chain);
  const Prepared prepared = prepare_transition<Proposal>(team, v, chain, accept_block, propose_block, w);
  team.sync();
  finish_transition<Proposal>(team, v, chain, accept_block, propose_block, prepared, w);
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_METROPOLIS_HPP
