// The Metropolis-Hastings step of one chain, for a team: proposes a block's candidate, accepts or rejects the
// candidate after its likelihood has been computed, and records the draw. The same source runs in a host
// thread and a CUDA block.
#ifndef EMOMC_DEVICE_METROPOLIS_HPP
#define EMOMC_DEVICE_METROPOLIS_HPP

#include "emomc/device/acceptance.hpp"
#include "emomc/device/constrain.hpp"
#include "emomc/device/log_prior.hpp"

namespace emomc::device {

/// Begins to copy a table's arrays to those of `to`; the sizes are those of `to`.
template <class Team>
EMOMC_INLINE void fetch_table(const Team& team, const ParameterTable& from, const ParameterTable& to) {
  team.fetch(from.elements, const_cast<Element*>(to.elements), to.dim);
  team.fetch(from.simplices, const_cast<SimplexBlock*>(to.simplices), to.num_simplices);
  team.fetch(from.covariance_rows, const_cast<CovarianceRow*>(to.covariance_rows), to.num_covariance_rows);
  team.fetch(from.conditionals, const_cast<ConditionalElement*>(to.conditionals), to.num_conditionals);
}

EMOMC_INLINE Innovation innovation_of(const StepView& v, const Workspace& w) {
  return {w.innovation, w.innovation + v.table.dim_unconstrained,
          w.innovation + v.num_innovation - kExtraInnovation};
}

/// Returns the chains of the chain's group that are in the half that `block` does not move.
template <class Proposal>
EMOMC_INLINE OtherChains others_of(const StepView& v, int chain, const ProposalBlock& block) {
  if (!moves_a_half<Proposal>(block)) return {nullptr, 0, nullptr, 0};
  const int list = 2 * v.group[chain] + 1 - block.turn;
  const int first = v.first_member[list];
  return {v.current.u, v.ld_u, v.members + first, v.first_member[list + 1] - first};
}

/// Returns the innovation that has been drawn ahead for a block at a step; null if there is none.
template <class Proposal>
EMOMC_INLINE const double* drawn_ahead(const StepView& v, int chain, i64 step, const ProposalBlock& block) {
  return moves_by_fit<Proposal>(block) && v.drawn.values ? v.drawn.row(chain, step, block.turn) : nullptr;
}

/// Fills `w` with the current point, the candidate and the innovation of the block that is proposed next.
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
    p.current = densities_of(v.current, chain);
    const ProposalBlock& block = v.blocks[accept_block];
    p.is_evaluated = block.influence != Influence::nothing;
    p.takes_part = is_moved<Proposal>(v, chain, block);
    if constexpr (Proposal::Phases::has_second_try) {
      p.is_second_try = is_second_try<Proposal>(block);
      p.takes_part = p.takes_part && !(p.is_second_try && v.first_accepted[chain]);
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
                 v.table.mixture,  drawn_ahead<Proposal>(v, chain, next_step, block)};
    // A second try depends on the numbers of the first.
    if constexpr (Proposal::Phases::has_second_try)
      if (is_second_try<Proposal>(p.adapted.block)) team.fetch(rows.innovation, w.innovation, dim_u);
  }
  team.finish_fetches();
  team.sync();
  if (propose_block != kNoBlock && !w.log_uniform)
    innovate<Proposal>(team, RandomSource{v.seed, static_cast<u64>(next_step), id}, p.adapted,
                       innovation_of(v, w));
  return p;
}

/// A candidate: pointers to its u and theta, and its log densities.
struct Candidate {
  double *u, *theta;
  double log_q, log_jacobian, log_prior;
};

/// Applies the innovation in `w` to the point `from`. Writes the resulting unconstrained point to `u`, which
/// all members may read afterwards, and returns log q; a proposal may write parts of `theta` too.
template <class Proposal, class Team>
EMOMC_HD double apply_innovation(const Team& team, const StepView& v, int chain,
                                 const InnovationView& adapted, KnownPoint from, const Workspace& w,
                                 double* u, double* theta) {
  copy(team, from.u, u, v.point_size);
  team.sync();
  const double log_q =
      apply<Proposal>(team, ProposalView{from.u, u, innovation_of(v, w), adapted,
                                         others_of<Proposal>(v, chain, adapted.block), &w.table, from.theta,
                                         theta, const_cast<double*>(from.u) + v.table.dim_unconstrained});
  team.sync();
  return log_q;
}

/// Returns the candidate that results from the point `from` and the innovation in `w`; writes it to `u` and
/// `theta`.
template <class Proposal, class Team>
EMOMC_HD Candidate propose(const Team& team, const StepView& v, int chain, const InnovationView& adapted,
                           KnownPoint from, const Workspace& w, double* u, double* theta) {
  const double log_q = apply_innovation<Proposal>(team, v, chain, adapted, from, w, u, theta);
  const PointDensities densities = constrain_with_prior(team, w.table, u, theta, from);
  return {u, theta, log_q, densities.log_jacobian, densities.log_prior};
}

/// Stores the numbers that the proposal of `block` has computed for the current point `u`, for the next
/// transition.
template <class Proposal, class Team>
EMOMC_HD void store_kept(const Team& team, const StepView& v, int chain, const ProposalBlock& block,
                         const double* u) {
  if (!moves_by_fit<Proposal>(block)) return;
  const int n = v.table.dim_unconstrained;
  copy(team, u + n, rows_of(v, chain).current_u + n, v.point_size - n);
}

/// Stores the chain's candidate for the likelihood and for the next transition.
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

/// The rest of a transition, after the candidate's likelihood has been computed. A sync must lie between the
/// two parts.
template <class Proposal, class Team>
EMOMC_HD void finish_transition(const Team& team, const StepView& v, int chain, int accept_block,
                                int propose_block, const Prepared& prepared, const Workspace& w) {
  if (accept_block != kNoBlock)
    accept_or_reject<Proposal>(team, v, chain, accept_block, decide<Proposal>(v, chain, prepared), prepared,
                               w);
  if (propose_block == kNoBlock || !is_moved<Proposal>(v, chain, prepared.adapted.block)) return;
  store(team, v, chain,
        propose<Proposal>(team, v, chain, prepared.adapted, {w.current_u, w.current_theta}, w, w.u, w.theta));
  store_kept<Proposal>(team, v, chain, prepared.adapted.block, w.current_u);
  if constexpr (Proposal::Phases::has_second_try)
    if (!is_second_try<Proposal>(prepared.adapted.block))
      copy(team, w.innovation, rows_of(v, chain).innovation, v.table.dim_unconstrained);
}

/// Runs both parts of a transition on the chain's rows themselves.
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
