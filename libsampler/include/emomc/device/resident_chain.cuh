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
// both outcomes of the acceptance (Brockwell 2006), and a third team draws the random numbers of the one
// after and records, the shortest time per step. `in_turn`: all warps evaluate, one team proposes; less work,
// for chains that are many enough to hide each other's waiting.
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
    if (Config::ahead && block_.in_team(kDrawer)) draw(kNoBlock, 0, block_.scalars.step, 0);
    __syncthreads();
    i64 step = block_.scalars.step;  // done before the block that is accepted
    int block = kNoBlock;
#pragma unroll 1
    for (i64 i = 0; i <= last; ++i) {
      const int next = i == last ? kNoBlock : following(block);
      const int after_next = i + 1 >= last ? kNoBlock : following(next);
      transition(block, next, after_next, step, static_cast<int>(i & 1));
      if (block == view_.num_blocks - 1) ++step;
      block = next;
    }
    block_.store_back();
  }

 private:
  static constexpr int kDrawer = 2;  ///< the team that draws and records

  __device__ int following(int block) const { return block + 1 == view_.num_blocks ? 0 : block + 1; }

  /// Draws the random numbers of the acceptance of block `accept`, `step` steps being done, and of the
  /// proposal of block `propose` after it.
  __device__ void draw(int accept, int propose, i64 step, int parity) const {
    const u32 id = view_.chain_id[block_.chain];
    if (accept != kNoBlock && Block::leads_team())
      block_.scalars.log_uniform[parity] = draw_log_uniform(view_, id, step, accept);
    if (propose == kNoBlock) return;
    if (accept == view_.num_blocks - 1) ++step;
    const InnovationView adapted{block_.places.adapted,
                                 adapted_of(view_, block_.chain) + view_.adapted_layout.num_small(),
                                 view_.adapted_layout,
                                 view_.blocks[propose],
                                 propose,
                                 view_.shape,
                                 view_.table.mixture};
    double* innovation = block_.places.innovation(parity);
    Proposal::innovate(block_.team(), RandomSource{view_.seed, static_cast<u64>(step), id}, adapted,
                       Innovation{innovation, innovation + view_.table.dim_unconstrained,
                                  innovation + view_.num_innovation - kExtraInnovation});
  }

  // ---- what the calling thread's team works with

  __device__ const Workspace& workspace() const { return block_.scalars.workspace[block_.team_index()]; }
  __device__ const Prepared& prepared() const { return block_.scalars.prepared[block_.team_index()]; }

  __device__ void write_workspace(int parity) const {
    if (!Block::leads_team()) return;
    Workspace& w = block_.scalars.workspace[block_.team_index()];
    const ResidentPlaces& places = block_.places;
    w.current_u = places.u(block_.current);
    w.u = places.u(block_.candidate);
    w.current_theta = places.theta(block_.current);
    w.theta = places.theta(block_.candidate);
    w.innovation = places.innovation(Config::ahead ? parity : 0);
    w.log_uniform = Config::ahead ? &block_.scalars.log_uniform[parity] : nullptr;
    w.adapted = places.adapted;
    w.table = block_.local.table;
    w.is_filled = true;
  }
  /// After the decision: both points are the current one, so that nothing is copied.
  __device__ void write_settled(int team_number) const {
    if (threadIdx.x != 0) return;
    Workspace& w = block_.scalars.workspace[team_number];
    w.current_u = w.u = block_.places.u(block_.current);
    w.current_theta = w.theta = block_.places.theta(block_.current);
  }

  // ---- by the calling thread's team

  /// The part of a transition that does not need the likelihood.
  __device__ void prepare(int accept, int propose, int parity) const {
    write_workspace(parity);
    block_.team().sync();
    const Prepared p =
        prepare_transition<Proposal>(block_.team(), block_.local, block_.chain, accept, propose, workspace());
    if (Block::leads_team()) block_.scalars.prepared[block_.team_index()] = p;
    block_.team().sync();
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

  /// The candidate that follows the point in set `from`, to set `to`, with its coefficients.
  __device__ Candidate propose_into(int from, int to) const {
    const Team t = block_.team();
    const ResidentPlaces& places = block_.places;
    const InnovationView& adapted = prepared().adapted;
    if constexpr (Config::neighbours) {
      const ProposalBlock& block = adapted.block;
      const Neighbour known{places.u(from), places.theta(from), &places.terms(from), block.first_element,
                            block.first_element + block.num_elements};
      const Candidate next =
          propose_neighbour<Proposal>(t, block_.local, block_.chain, adapted, known, workspace(),
                                      places.u(to), places.theta(to), places.terms(to));
      t.sync();
      prepare_near(t, from, to, block);
      return next;
    } else {
      const Candidate next = propose<Proposal>(t, block_.local, block_.chain, adapted,
                                               KnownPoint{places.u(from), places.theta(from)}, workspace(),
                                               places.u(to), places.theta(to));
      t.sync();
      if (adapted.block.influence != Influence::nothing) prepare_set(t, to);
      return next;
    }
  }

  /// Tells all teams the scalars of the candidate that they go on with.
  __device__ void tell(const Candidate& next) const {
    if (!Block::leads_team()) return;
    block_.scalars.log_q = next.log_q;
    block_.scalars.log_prior = next.log_prior;
    block_.scalars.log_jacobian = next.log_jacobian;
  }

  /// Of the step that has just been done, for record_last; by one thread.
  __device__ void note_draw(bool is_last) const {
    block_.scalars.has_draw = is_last;
    if (!is_last) return;
    write_settled(kDrawer);
    block_.scalars.drawn = block_.scalars.decision;
    block_.scalars.drawn_from = block_.scalars.prepared[0];
  }
  /// Records it, by the team that has time for it.
  __device__ void record_last() const {
    const ResidentScalars& s = block_.scalars;
    if (!s.has_draw) return;
    record_decided(block_.team(), block_.local, block_.chain, s.drawn, s.drawn_from, s.workspace[kDrawer]);
  }

  // ---- a transition: the likelihood of block `accept`, its acceptance, the candidate of block `propose`

  /// Before the first block (`accept` kNoBlock) the current point stands for a rejected candidate.
  /// `after`: the block after `propose`; `step` steps are done before the acceptance.
  __device__ void transition(int accept, int propose, int after, i64 step, int parity) {
    ResidentScalars& scalars = block_.scalars;
    const Influence influence = accept == kNoBlock ? Influence::nothing : view_.blocks[accept].influence;
    const bool evaluated = influence != Influence::nothing;
    const int changed = influence == Influence::component ? view_.blocks[accept].component : kNothingKept;
    Candidate next{};
    if (block_.warp < 4 * Config::teams) {
      prepare(accept, propose, parity);
      if constexpr (Config::ahead)
        if (propose != kNoBlock)
          next = propose_into(block_.in_team(1) ? block_.candidate : block_.current,
                              block_.in_team(1) ? block_.free[1] : block_.free[0]);
    }
    if constexpr (!Config::ahead) __syncthreads();  // the candidate is there
    if (Config::ahead && block_.in_team(kDrawer)) {
      record_last();
      if (propose != kNoBlock)
        draw(propose, after, accept == view_.num_blocks - 1 ? step + 1 : step, 1 - parity);
    }
    if (evaluated && block_.warp >= Config::first_evaluator) evaluation_.evaluate(changed, parity);
    sync_cluster();

    const double log_likelihood = evaluated ? evaluation_.total(parity) : 0.0;
    if (threadIdx.x == 0) {
      if (evaluated) scalars.log_likelihood = log_likelihood;
      scalars.decision =
          accept == kNoBlock ? Decision{} : decide<Proposal>(block_.local, block_.chain, prepared());
      if (evaluated) scalars.kept = scalars.decision.accepted ? changed : kNothingKept;
    }
    __syncthreads();
    const bool accepted = scalars.decision.accepted;
    block_.rotate_sets(accepted);
    if (block_.warp >= (Config::ahead ? Config::first_evaluator : 4)) return;

    if (threadIdx.x == 0) block_.point_at_sets();
    if (block_.in_team(0) && accept != kNoBlock) carry_out(accept);
    if constexpr (Config::ahead) {
      if (propose != kNoBlock && block_.in_team(accepted ? 1 : 0)) tell(next);
      sync_some<4, 3 * kTeamLanes>();  // the evaluators have nothing to wait for
      if (propose == kNoBlock && block_.in_team(kDrawer)) record_last();
    } else if (propose != kNoBlock) {
      tell(propose_into(block_.current, block_.candidate));
    }
  }

  /// What was decided on block `accept`, by the first team.
  __device__ void carry_out(int accept) const {
    const ResidentScalars& s = block_.scalars;
    const bool is_last = accept == view_.num_blocks - 1;
    write_settled(0);
    block_.team().sync();
    settle<Proposal>(block_.team(), block_.local, block_.chain, accept, s.decision, prepared(), workspace());
    if constexpr (!Config::ahead)
      if (is_last)
        record_decided(block_.team(), block_.local, block_.chain, s.decision, prepared(), workspace());
    if (Config::ahead && threadIdx.x == 0) note_draw(is_last);
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
