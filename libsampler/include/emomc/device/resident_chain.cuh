// Many Metropolis steps of one chain in one launch, by a cluster of blocks that holds the chain's rows and
// state in shared memory: no launch, no device memory and no host between steps. Compiled at run time with
// the sizes of the problem as constants. Proposal, transforms, prior, coefficients and acceptance are the
// functions of metropolis.hpp, log densities those of mixture_sum.hpp, summed in the tree of row_sums.cuh, so
// that the draws are those of any other way of running them.
//
// Each block of a cluster goes through all steps with the chain's whole state; it evaluates its own rows and
// sends their sums to the others, and one cluster barrier a step is all that they wait for.
//
// Two forms. `ahead`: while some warps evaluate a candidate, two teams of others compute the next one for
// both outcomes of the acceptance (Brockwell 2006), and a third team keeps the books: it draws the random
// numbers of the one after, prepares the acceptance, decides, counts and records. The shortest time per step.
// `in_turn`: all warps evaluate, one team does the rest; less work, for chains that are many enough to hide
// each other's waiting.
#ifndef EMOMC_DEVICE_RESIDENT_CHAIN_CUH
#define EMOMC_DEVICE_RESIDENT_CHAIN_CUH

#include "emomc/device/full_mixture.hpp"
#include "emomc/device/gaussian_mixture.hpp"
#include "emomc/device/metropolis.hpp"
#include "emomc/device/prepare_neighbour.hpp"
#include "emomc/device/proposals.hpp"
#include "emomc/device/resident_block.cuh"
#include "emomc/device/resident_evaluation.cuh"
#include "emomc/device/spherical_mixture.hpp"
#include "emomc/device/tied_mixture.hpp"
#include "emomc/device/two_gaussian.hpp"

namespace emomc::device {

template <class Config>
class ResidentChain {
  using Proposal = typename Config::Proposal;
  using Real = typename Config::Real;
  using Block = ResidentBlock<Config>;
  using Team = typename Block::Team;

 public:
  __device__ explicit ResidentChain(Block& block) : block_(block), view_(block.view), evaluation_(block) {}

  __device__ void run() {
    block_.load();
    __syncthreads();
    if constexpr (Config::caches || Config::neighbours) {
      if (block_.in_team(0)) prepare_current();
      __syncthreads();
    }
    if constexpr (Config::caches) evaluation_.fill_caches();
    const i64 last = block_.work.num_steps * view_.num_blocks;
    if (Config::ahead && block_.in_team(kKeeper)) draw(kNoBlock, 0, block_.scalars.step, 0);
    __syncthreads();
    i64 step = block_.scalars.step;  // done before the block that is accepted
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
  static constexpr int kKeeper = Config::ahead ? 2 : 0;  ///< the team that keeps the books

  __device__ int following(int block) const { return block + 1 == view_.num_blocks ? 0 : block + 1; }

  __device__ InnovationView innovation_view(int block) const {
    return {block_.places.adapted,
            adapted_of(view_, block_.chain) + view_.adapted_layout.num_small(),
            view_.adapted_layout,
            view_.blocks[block],
            block,
            view_.shape,
            view_.table.mixture,
            nullptr};
  }

  /// Draws the random numbers of the acceptance of block `accept`, `step` steps being done, and of the
  /// proposal of block `propose` after it; by the keeper.
  __device__ void draw(int accept, int propose, i64 step, int parity) const {
    const u32 id = view_.chain_id[block_.chain];
    if (accept != kNoBlock && Block::leads_team())
      block_.scalars.log_uniform[parity] = draw_log_uniform(view_, id, step, accept);
    if (propose == kNoBlock) return;
    if (accept == view_.num_blocks - 1) ++step;
    double* innovation = block_.places.innovation(parity);
    InnovationView adapted = innovation_view(propose);
    adapted.drawn = drawn_ahead(view_, block_.chain, step, adapted.block);
    Proposal::innovate(block_.team(), RandomSource{view_.seed, static_cast<u64>(step), id}, adapted,
                       Innovation{innovation, innovation + view_.table.dim_unconstrained,
                                  innovation + view_.num_innovation - kExtraInnovation});
  }

  /// Where the step's functions find the points of the sets and the numbers drawn.
  __device__ Workspace workspace(int u, int parity) const {
    const ResidentPlaces& places = block_.places;
    Workspace w{};
    w.current_u = places.u(block_.current);
    w.u = places.u(u);
    w.current_theta = places.theta(block_.current);
    w.theta = places.theta(u);
    w.innovation = places.innovation(parity);
    w.log_uniform = &block_.scalars.log_uniform[parity];
    w.adapted = places.adapted;
    w.table = block_.local.table;
    w.is_filled = true;
    return w;
  }

  __device__ void prepare_set(const Team& t, int set) const {
    const double common = prepare_mixture(t, Config::model(), block_.places.theta(set),
                                          static_cast<Real*>(block_.places.coefficients(set)),
                                          block_.places.scratch(block_.team_index()));
    if (t.rank() == 0) block_.scalars.common[set] = common;
  }

  __device__ PreparedMixture<Real> mixture_of(int set) const {
    return {static_cast<Real*>(block_.places.coefficients(set)), block_.places.height_terms(set),
            block_.scalars.common[set]};
  }
  /// Coefficients of set `to`, whose point differs from that of `from` as `block` says.
  __device__ void prepare_near(const Team& t, int from, int to, const ProposalBlock& block) const {
    const double common =
        prepare_neighbour(t, Config::model(), block_.places.theta(to),
                          MixtureChange{block.influence, block.component, block.keeps_heights != 0},
                          mixture_of(from), mixture_of(to), block_.places.scratch(block_.team_index()));
    if (t.rank() == 0) block_.scalars.common[to] = common;
  }

  /// Coefficients and terms of the point that the kernel begins with; by the first team.
  __device__ void prepare_current() const {
    const Team t = block_.team();
    if constexpr (!Config::neighbours) return prepare_set(t, block_.current);
    const ResidentPlaces& places = block_.places;
    const int set = block_.current;
    // All elements are new; what they were is not read.
    const Neighbour nothing{places.u(set), places.theta(set), &places.terms(set), 0, view_.table.dim};
    constrain_neighbour(t, block_.local.table, places.u(set), places.theta(set), nothing, places.terms(set));
    t.sync();
    ProposalBlock all{};
    all.influence = Influence::everything;
    prepare_near(t, set, set, all);
  }

  /// The candidate of block `propose` that follows the point in set `from`, to set `to`, with its
  /// coefficients; by the calling thread's team, whose lane 0 writes `candidate`.
  __device__ void propose_into(int from, int to, int propose, int parity,
                               ResidentCandidate& candidate) const {
    const Team t = block_.team();
    const ResidentPlaces& places = block_.places;
    const InnovationView adapted = innovation_view(propose);
    const Workspace w = workspace(to, parity);
    Candidate next;
    if constexpr (Config::neighbours) {
      const ProposalBlock& block = adapted.block;
      const Neighbour known{places.u(from), places.theta(from), &places.terms(from), block.first_element,
                            block.first_element + block.num_elements};
      next = propose_neighbour<Proposal>(t, block_.local, block_.chain, adapted, known, w, places.u(to),
                                         places.theta(to), places.terms(to));
      t.sync();
      prepare_near(t, from, to, block);
    } else {
      next = device::propose<Proposal>(t, block_.local, block_.chain, adapted,
                                       KnownPoint{places.u(from), places.theta(from)}, w, places.u(to),
                                       places.theta(to));
      t.sync();
      if (adapted.block.influence != Influence::nothing) prepare_set(t, to);
    }
    if (Block::leads_team()) candidate = {next.log_q, next.log_prior, next.log_jacobian};
  }

  // ---- by the keeper

  /// The draw, where the step that has just been done is one to be kept.
  __device__ void record() const {
    const ResidentScalars& s = block_.scalars;
    record_draw(block_.team(), block_.local, block_.chain, s.step, s.plan, workspace(block_.current, 0),
                s.current_log_prior, s.current_log_likelihood);
  }

  /// What the acceptance of block `accept` needs but for the likelihood, to the keeper's lane 0.
  __device__ void prepare(int accept, int parity) const {
    const Prepared p = prepare_transition<Proposal>(block_.team(), block_.local, block_.chain, accept,
                                                    kNoBlock, workspace(block_.candidate, parity));
    if (Block::leads_team()) block_.scalars.prepared = p;
  }

  /// By the keeper's lane 0.
  __device__ void decide_on(int accept, bool evaluated, double log_likelihood, int changed) const {
    ResidentScalars& s = block_.scalars;
    if (evaluated) s.log_likelihood = log_likelihood;
    s.decision = accept == kNoBlock ? Decision{} : decide<Proposal>(block_.local, block_.chain, s.prepared);
    if (evaluated) s.kept = s.decision.accepted ? changed : kNothingKept;
  }

  /// What was decided on block `accept`, and the candidate that comes next; by the keeper's lane 0.
  __device__ void carry_out(int accept) const {
    block_.point_at_sets();
    // Both points are the current one, so that nothing is copied.
    if (accept != kNoBlock)
      settle<Proposal>(block_.team(), block_.local, block_.chain, accept, block_.scalars.decision,
                       block_.scalars.prepared, workspace(block_.current, 0));
  }
  __device__ void go_on_with(const ResidentCandidate& next) const {
    block_.scalars.log_q = next.log_q;
    block_.scalars.log_prior = next.log_prior;
    block_.scalars.log_jacobian = next.log_jacobian;
  }

  // ---- a transition: the likelihood of block `accept`, its acceptance, the candidate of block `propose`

  /// Before the first block (`accept` kNoBlock) the current point stands for a rejected candidate.
  /// `after`: the block after `propose`; `step` steps are done before the acceptance; `done`: the transition
  /// before was a step's last.
  __device__ void transition(int accept, int propose, int after, i64 step, bool done, int parity) {
    ResidentScalars& scalars = block_.scalars;
    const Influence influence = accept == kNoBlock ? Influence::nothing : view_.blocks[accept].influence;
    const bool evaluated = influence != Influence::nothing;
    const int changed = influence == Influence::component ? view_.blocks[accept].component : kNothingKept;
    const bool is_last = accept == view_.num_blocks - 1;
    const bool keeps = block_.in_team(kKeeper), leads = keeps && Block::leads_team();
    if (Config::ahead && propose != kNoBlock && block_.team_index() < 2) {
      const int outcome = block_.team_index();
      propose_into(outcome ? block_.candidate : block_.current, block_.free[outcome], propose, parity,
                   scalars.next[parity][outcome]);
    }
    if (keeps) {
      block_.team().sync();  // lane 0 has carried out what was decided before
      if (done) record();
      if constexpr (!Config::ahead)
        draw(accept, propose, step, 0);
      else if (propose != kNoBlock)
        draw(propose, after, is_last ? step + 1 : step, 1 - parity);
      if (accept != kNoBlock) prepare(accept, Config::ahead ? parity : 0);
    }
    if constexpr (!Config::ahead) __syncthreads();  // the candidate is there
    if (evaluated && block_.warp >= Config::first_evaluator) evaluation_.evaluate(changed, parity);
    sync_cluster();

    const double log_likelihood = evaluated ? evaluation_.total(parity, kKeeper * kTeamLanes / 32) : 0.0;
    if (leads) decide_on(accept, evaluated, log_likelihood, changed);
    __syncthreads();
    const bool accepted = scalars.decision.accepted;
    block_.rotate_sets(accepted);
    if (leads) {
      carry_out(accept);
      if (Config::ahead && propose != kNoBlock) go_on_with(scalars.next[parity][accepted ? 1 : 0]);
    }
    if constexpr (!Config::ahead)
      if (keeps && propose != kNoBlock) {
        propose_into(block_.current, block_.candidate, propose, 0, scalars.next[0][0]);
        if (leads) go_on_with(scalars.next[0][0]);
      }
    if (keeps && propose == kNoBlock && is_last) {
      block_.team().sync();
      record();
    }
  }

  Block& block_;
  const StepView& view_;
  const ResidentEvaluation<Config> evaluation_;
};

/// Grid: num_chains clusters. Dynamic shared memory: ResidentPlaces::bytes.
template <class Config>
__global__ void __launch_bounds__(Config::threads, Config::ahead ? 1 : 2)
    resident_kernel(const __grid_constant__ StepView view, const __grid_constant__ ResidentWork work) {
  extern __shared__ __align__(16) unsigned char resident_memory[];
  __shared__ double team_scratch[3][ResidentBlock<Config>::Team::kScratch];
  __shared__ StepView local;
  __shared__ ResidentScalars scalars;
  ResidentBlock<Config> block(view, work, resident_memory, local, scalars, team_scratch);
  ResidentChain<Config>(block).run();
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_RESIDENT_CHAIN_CUH
