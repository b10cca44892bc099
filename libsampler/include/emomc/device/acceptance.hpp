// The steps after the likelihood of a block's candidate is known: the decision, the resulting changes of the
// chain, and the record of the draw after a step's last block. Shared by metropolis.hpp and the kernels that
// decide on several candidates at once.
#ifndef EMOMC_DEVICE_ACCEPTANCE_HPP
#define EMOMC_DEVICE_ACCEPTANCE_HPP

#include "emomc/device/math.hpp"
#include "emomc/device/schedule.hpp"
#include "emomc/device/step_view.hpp"

namespace emomc::device {

/// Number in place of a block. One launch accepts or rejects block `accept_block` of a chain, then proposes
/// block `propose_block`; kNoBlock skips the respective part.
inline constexpr int kNoBlock = -1;

/// Whether the block moves the chain: all chains, or those of one half.
template <class Proposal>
EMOMC_INLINE bool is_moved(const StepView& v, int chain, const ProposalBlock& block) {
  return !moves_a_half<Proposal>(block) || v.half[chain] == block.turn;
}

/// The part of a transition that does not depend on the candidate's likelihood, so that it can be computed
/// while the likelihood is being evaluated.
struct Prepared {
  i64 step;                         ///< number of steps done before the acceptance
  double log_uniform;               ///< log of the uniform number of the acceptance
  double log_ratio;                 ///< log acceptance ratio without the likelihood
  LogDensities candidate, current;  ///< the candidate's likelihood is not known yet
  double beta;
  bool is_evaluated;  ///< whether the candidate's likelihood is evaluated; if not, it equals the current one
  bool takes_part;    ///< whether the chain takes part in the acceptance: it is in the half that moves and,
                      ///< for a second try, the first one was rejected
  bool is_second_try;
  u64 num_proposed, num_accepted;  ///< counts before the decision
  RecordPlan plan;
  InnovationView adapted;  ///< adapted state of the block to propose
};

/// Returns the logarithm of the uniform number that decides on a block at a step.
EMOMC_INLINE double draw_log_uniform(const StepView& v, u32 chain_id, i64 step, int block) {
  return log(RandomSource{v.seed, static_cast<u64>(step), chain_id}.uniform(Purpose::acceptance,
                                                                            static_cast<u32>(block)));
}

/// Returns the log acceptance ratio of a block's candidate without the likelihood.
template <class Proposal>
EMOMC_INLINE double log_ratio_of(const ProposalBlock& block, const LogDensities& candidate,
                                 const LogDensities& current, double log_q) {
  if (has_ratio_in_theta<Proposal>(block)) return (candidate.prior - current.prior) + log_q;
  return (candidate.prior - current.prior) + (candidate.jacobian - current.jacobian) + log_q;
}

/// Returns a / b for positive numbers; the division of small numbers is done in 32 bits, which is faster.
EMOMC_INLINE i64 quotient(i64 a, i64 b) {
  if ((static_cast<u64>(a | b) >> 32) == 0) return static_cast<u32>(a) / static_cast<u32>(b);
  return a / b;
}

/// Returns the slot for the draw after `step` steps; kNoSlot if the plan does not keep this draw.
inline constexpr i64 kNoSlot = -1;
EMOMC_INLINE i64 slot_of(const RecordPlan& plan, i64 step) {
  const i64 since = step - plan.origin;
  if (since < plan.every) return kNoSlot;
  const i64 number = quotient(since, plan.every);
  if (number * plan.every != since) return kNoSlot;
  const i64 kept = number - 1;
  return kept >= plan.capacity ? kNoSlot : plan.slot + kept;
}

/// Records the chain's current point if the plan keeps the draw after `step` steps.
template <class Team>
EMOMC_HD void record_draw(const Team& team, const StepView& v, int chain, i64 step, const RecordPlan& plan,
                          const Workspace& w, LogDensities densities) {
  const i64 slot = slot_of(plan, step);
  if (slot == kNoSlot) return;
  const i64 row = slot * v.num_chains + chain;
  const int dim = v.table.dim, dim_u = v.table.dim_unconstrained;
  if (v.record.theta) copy(team, w.current_theta, v.record.theta + row * dim, dim);
  if (v.record.u) copy(team, w.current_u, v.record.u + row * dim_u, dim_u);
  if (team.rank() == 0) {
    v.record.log_prior[row] = densities.prior;
    v.record.log_likelihood[row] = densities.likelihood;
  }
}

struct Decision {
  bool accepted, fault;
  LogDensities candidate;
  double log_density;  ///< log density of the candidate, with Jacobian and beta
};

/// Returns log(1 - a(candidate, first)) - log(1 - a(current, first)), where a is the probability with which
/// the first try is accepted from the given point. A second try's ratio has this term in addition to
/// densities and proposals (Tierney and Mira 1999). Arguments are log densities with Jacobian and beta; the
/// result is minus infinity if the second try cannot be accepted.
EMOMC_INLINE double second_try_correction(double first, double candidate, double current) {
  if (!(first > -kInfinity)) return 0.0;  // the first try is never accepted, from any point
  if (first >= candidate) return -kInfinity;
  return log1p(-exp(first - candidate)) - log1p(-exp(first - current));
}

/// Decides whether chain's candidate is accepted; `log_likelihood` is the candidate's own if it is evaluated.
template <class Proposal>
EMOMC_INLINE Decision decide(const StepView& v, int chain, const Prepared& p, double log_likelihood) {
  LogDensities candidate = p.candidate;
  candidate.likelihood = p.is_evaluated ? log_likelihood : p.current.likelihood;
  double log_ratio = p.beta * (candidate.likelihood - p.current.likelihood) + p.log_ratio;
  double log_density = 0;
  if constexpr (Proposal::Phases::has_second_try) {
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

/// Decides with the log likelihood in the chain's row.
template <class Proposal>
EMOMC_INLINE Decision decide(const StepView& v, int chain, const Prepared& p) {
  return decide<Proposal>(v, chain, p, p.is_evaluated ? v.candidate.log_likelihood[chain] : 0.0);
}

/// Returns the densities of the current point after a decision; `before` are those before the decision.
EMOMC_INLINE LogDensities densities_after(const Decision& decision, const LogDensities& before) {
  return decision.accepted ? decision.candidate : before;
}

/// The counts of a decision. A chain that does not take part had no candidate to decide on.
struct Outcome {
  bool takes_part, accepted, fault;
};
/// Counts a decision on a block; one thread calls it.
EMOMC_INLINE void count_decision(Outcome outcome, u64& num_proposed, u64& num_accepted, u64& num_faults) {
  if (outcome.takes_part) ++num_proposed;
  if (outcome.accepted) ++num_accepted;
  if (outcome.fault) ++num_faults;
}

/// Carries out the decision for block `b`; after the last block the step is complete and counted.
template <class Proposal, class Team>
EMOMC_HD void settle(const Team& team, const StepView& v, int chain, int b, const Decision& decision,
                     const Prepared& p, const Workspace& w) {
  const bool yes = decision.accepted;
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
    u64 num_proposed = p.num_proposed, num_accepted = p.num_accepted;
    count_decision({p.takes_part, yes, decision.fault}, num_proposed, num_accepted, v.num_faults[chain]);
    v.num_proposed[counter] = num_proposed;
    v.num_accepted[counter] = num_accepted;
    if constexpr (Proposal::Phases::has_second_try)
      if (!p.is_second_try) {
        v.first_accepted[chain] = yes ? 1 : 0;
        v.first_density[chain] = decision.log_density;
      }
    if (yes) set_densities(v.current, chain, decision.candidate);
    if (b == v.num_blocks - 1) v.step[chain] = p.step + 1;
  }
}

/// Records the draw after the last block, if the plan keeps it.
template <class Team>
EMOMC_HD void record_decided(const Team& team, const StepView& v, int chain, const Decision& decision,
                             const Prepared& p, const Workspace& w) {
  record_draw(team, v, chain, p.step + 1, p.plan, w, densities_after(decision, p.current));
}

/// Calls settle() and, after the last block, record_decided().
template <class Proposal, class Team>
EMOMC_HD void accept_or_reject(const Team& team, const StepView& v, int chain, int b,
                               const Decision& decision, const Prepared& p, const Workspace& w) {
  settle<Proposal>(team, v, chain, b, decision, p, w);
  if (b == v.num_blocks - 1) record_decided(team, v, chain, decision, p, w);
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_ACCEPTANCE_HPP
