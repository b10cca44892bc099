// Runs many Metropolis steps of one chain in one launch, by a cluster of blocks that holds the chain's rows
// and state in shared memory: between steps there is no launch, no access to device memory and no work of the
// host. The kernel is compiled at run time with the sizes of the problem as constants. Proposal, transforms,
// prior, coefficients and acceptance are the functions of metropolis.hpp; log densities are those of the
// likelihood (row_likelihood.hpp), summed in the tree of row_sums.cuh. The draws are therefore those of every
// other way of running the steps.
//
// Each thread block of a cluster runs all steps with the chain's whole state. A thread block evaluates its
// own rows and sends their sums to the others. In the forms `ahead` and `in_turn`, thread blocks wait at one
// cluster barrier for each block of a step; in the form `lines`, for each turn.
//
// There are five forms. `ahead`: while some warps evaluate a candidate, two other teams compute the next
// candidate for both outcomes of the acceptance (Brockwell 2006). A third team draws the random numbers of
// the candidate after that, prepares the acceptance, decides, counts and records. This form has the shortest
// time per step. `in_turn`: all warps evaluate, then one team does the rest; this is less work, for chains
// that are numerous enough to hide each other's latency. `teams`: like `in_turn`, but each team of a block
// has a chain of its own, for yet more chains. `lines`: for few chains; several of a chain's next candidates
// are evaluated at once (resident_lines.cuh). `wide`: like `lines`, on more rows than a cluster can hold
// (resident_wide.cuh).
#ifndef EMOMC_DEVICE_RESIDENT_CHAIN_CUH
#define EMOMC_DEVICE_RESIDENT_CHAIN_CUH

#include "emomc/device/metropolis.hpp"
#include "emomc/device/resident_evaluation.cuh"
#include "emomc/device/resident_lines.cuh"
#include "emomc/device/resident_wide.cuh"

namespace emomc::device {

template <class Config>
class ResidentChain : ResidentProposal<Config> {
  using Base = ResidentProposal<Config>;
  using Proposal = typename Config::Proposal;
  using Block = ResidentBlock<Config>;
  using Base::block_, Base::view_;

 public:
  /// `arrivals`: the barrier for the sums of the calling team, if each team has a chain of its own; otherwise
  /// null.
  __device__ ResidentChain(Block& block, u64* arrivals)
      : Base(block), evaluation_(block), arrivals_(arrivals) {}

  /// Runs all steps. The chain's state must have been loaded.
  __device__ void run() {
    if constexpr (Config::neighbours) {
      if (block_.in_team(0)) this->prepare_current();
      block_.sync();
    }
    const i64 last = block_.work.num_steps * view_.num_blocks;
    if (Config::ahead && block_.in_team(kKeeper)) draw(kNoBlock, 0, block_.scalars.step, 0);
    block_.sync();
    i64 step = block_.scalars.step;  // number of steps done before block `block` is accepted
    int block = kNoBlock;
    bool done = false;
#pragma unroll 1
    for (i64 i = 0; i <= last; ++i) {
      const int next = i == last ? kNoBlock : following(block);
      const int after_next = i + 1 >= last ? kNoBlock : following(next);
      transition(block, next, after_next, step, done, static_cast<int>(i & 1));
      done = block == view_.num_blocks - 1;
      if (done) ++step;
      block = next;
    }
    block_.store_back();
  }

 private:
  static constexpr int kKeeper = Config::ahead ? 2 : 0;  ///< the team that draws, decides, counts and records

  __device__ int following(int block) const { return block + 1 == view_.num_blocks ? 0 : block + 1; }

  /// Draws the random numbers of the acceptance of block `accept`, after `step` steps, and of the following
  /// proposal of block `propose`; called by the keeper.
  __device__ void draw(int accept, int propose, i64 step, int parity) const {
    if (accept != kNoBlock) this->draw_acceptance(0, accept, step, parity);
    if (propose != kNoBlock)
      this->draw_innovation(propose, accept == view_.num_blocks - 1 ? step + 1 : step, parity);
  }

  // ---- functions that the keeper calls

  /// Records the draw if the step that has just been done is kept.
  __device__ void record() const {
    const typename Config::Scalars& s = block_.scalars;
    record_draw(block_.team(), block_.local, block_.chain, s.step, s.plan, this->workspace(block_.current, 0),
                s.current);
  }

  /// Computes everything that the acceptance of block `accept` needs except the likelihood; the keeper's lane
  /// 0 stores it.
  __device__ void prepare(int accept, int parity) const {
    const Prepared p = prepare_transition<Proposal>(block_.team(), block_.local, block_.chain, accept,
                                                    kNoBlock, this->workspace(block_.candidate, parity));
    if (Block::leads_team()) block_.scalars.prepared = p;
  }

  /// Decides on block `accept`; called by the keeper's lane 0.
  __device__ void decide_on(int accept, bool evaluated, double log_likelihood, int changed) const {
    typename Config::Scalars& s = block_.scalars;
    if (evaluated) s.log_likelihood = log_likelihood;
    s.decision = accept == kNoBlock ? Decision{} : decide<Proposal>(block_.local, block_.chain, s.prepared);
    if constexpr (Config::Likelihood::kKeeps)
      if (evaluated) s.kept = s.kept.after(changed, s.decision.accepted);
  }

  /// Carries out the decision on block `accept`, and go_on_with() stores the next candidate; called by the
  /// keeper's lane 0.
  __device__ void carry_out(int accept) const {
    block_.point_at_sets();
    // The workspace has the current point in both places, so that settle() copies nothing.
    if (accept != kNoBlock)
      settle<Proposal>(block_.team(), block_.local, block_.chain, accept, block_.scalars.decision,
                       block_.scalars.prepared, this->workspace(block_.current, 0));
  }
  __device__ void go_on_with(const ResidentCandidate& next) const {
    block_.scalars.log_q = next.log_q;
    block_.scalars.log_prior = next.log_prior;
    block_.scalars.log_jacobian = next.log_jacobian;
  }

  // ---- a transition: likelihood and acceptance of block `accept`, then the candidate of block `propose`

  /// Before the first block (`accept` is kNoBlock) the current point takes the place of a rejected candidate.
  /// `after`: the block after `propose`; `step`: number of steps done before the acceptance; `done`: whether
  /// the preceding transition was the last one of a step.
  __device__ void transition(int accept, int propose, int after, i64 step, bool done, int parity) {
    typename Config::Scalars& scalars = block_.scalars;
    const Influence influence = accept == kNoBlock ? Influence::nothing : view_.blocks[accept].influence;
    const bool evaluated = influence != Influence::nothing;
    const int changed = influence == Influence::component ? view_.blocks[accept].component : kAllComponents;
    const bool is_last = accept == view_.num_blocks - 1;
    const bool keeps = block_.in_team(kKeeper), leads = keeps && Block::leads_team();
    if (Config::ahead && propose != kNoBlock && block_.team_index() < 2) {
      const int outcome = block_.team_index();
      const ResidentCandidate next = this->propose_into(outcome ? block_.candidate : block_.current,
                                                        block_.free[outcome], propose, parity);
      if (Block::leads_team()) scalars.next[parity][outcome] = next;
    }
    if (keeps) {
      block_.team().sync();  // lane 0 has carried out the preceding decision
      if (done) record();
      if constexpr (!Config::ahead)
        draw(accept, propose, step, 0);
      else if (propose != kNoBlock)
        draw(propose, after, is_last ? step + 1 : step, 1 - parity);
      if (accept != kNoBlock) prepare(accept, Config::ahead ? parity : 0);
    }
    if constexpr (!Config::ahead) block_.sync();  // the candidate is complete
    const int half = Config::apart ? static_cast<int>(exchange_ & 1) : parity;
    if (evaluated && block_.warp >= Config::first_evaluator) evaluation_.evaluate(changed, half);
    if (!Config::apart) {
      sync_cluster();
    } else if (evaluated) {
      exchange();
    }

    const double log_likelihood = evaluated ? evaluation_.total(half, kKeeper * kTeamLanes / 32) : 0.0;
    if (leads) decide_on(accept, evaluated, log_likelihood, changed);
    block_.sync();
    const bool accepted = scalars.decision.accepted;
    block_.rotate_sets(accepted);
    if (leads) {
      carry_out(accept);
      if (Config::ahead && propose != kNoBlock) go_on_with(scalars.next[parity][accepted ? 1 : 0]);
    }
    if constexpr (!Config::ahead)
      if (keeps && propose != kNoBlock) {
        const ResidentCandidate next = this->propose_into(block_.current, block_.candidate, propose, 0);
        if (leads) go_on_with(next);
      }
    if (keeps && propose == kNoBlock && is_last) {
      block_.team().sync();
      record();
    }
  }

  /// Waits for the sums of this team in all blocks. Two places are used alternately, because no team sends
  /// the sums of one exchange before all have read those of the exchange before the last.
  __device__ void exchange() {
    __syncwarp();
    if (block_.lane < static_cast<int>(block_.size))
      arrive_in_block(arrivals_, static_cast<u32>(block_.lane));
    wait_for_arrivals(arrivals_, exchange_ & 1);
    ++exchange_;
  }

  const ResidentEvaluation<Config> evaluation_;
  u64* const arrivals_;
  u32 exchange_ = 0;
};

/// Grid: num_chains clusters; for the form `teams` one cluster per kChainTeams chains; for the form `wide`
/// num_chains x num_blocks blocks, all of which must run at once. Dynamic shared memory:
/// ResidentPlaces::bytes.
template <class Config>
__global__ void __launch_bounds__(Config::threads, Config::form == ResidentForm::in_turn ? 2 : 1)
    resident_kernel(const __grid_constant__ StepView view, const __grid_constant__ ResidentWork work) {
  extern __shared__ __align__(16) unsigned char resident_memory[];
  __shared__ double team_scratch[kResidentTeams][BlockTeams<kResidentTeams>::kScratch];
  __shared__ StepView local[Config::chains];
  __shared__ typename Config::Scalars scalars[Config::chains];
  __shared__ ResidentLines lines;
  using Block = ResidentBlock<Config>;
  Block block(view, work, resident_memory, local, scalars, team_scratch);
  if constexpr (Config::wide) {
    ResidentWideChain<Config>(block, lines).run();
  } else if constexpr (Config::form == ResidentForm::lines) {
    ResidentLineChain<Config>(block, lines).run();
  } else if constexpr (Config::apart) {
    __shared__ u64 arrivals[kChainTeams];
    u64* own = arrivals + block.slot;
    if (Block::leads_team()) make_arrivals(own, block.size * kTeamWarps);
    block.load();
    sync_cluster();
    if (block.has_chain()) ResidentChain<Config>(block, own).run();
    sync_cluster();  // until then other blocks may write to this block's memory
  } else {
    block.load();
    __syncthreads();
    ResidentChain<Config>(block, nullptr).run();
  }
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_RESIDENT_CHAIN_CUH
