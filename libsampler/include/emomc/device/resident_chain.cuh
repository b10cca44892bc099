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

#include "emomc/device/block_team.cuh"
#include "emomc/device/full_mixture.hpp"
#include "emomc/device/gaussian_mixture.hpp"
#include "emomc/device/metropolis.hpp"
#include "emomc/device/prepare_mixture.hpp"
#include "emomc/device/proposals.hpp"
#include "emomc/device/resident_layout.hpp"
#include "emomc/device/row_sums.cuh"
#include "emomc/device/spherical_mixture.hpp"
#include "emomc/device/tied_mixture.hpp"
#include "emomc/device/two_gaussian.hpp"

namespace emomc::device {

// Of a thread block cluster (PTX ISA, "Cluster barrier" and "mapa").
__device__ inline u32 cluster_rank() {
  u32 rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ inline u32 cluster_size() {
  u32 size;
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  return size;
}
__device__ inline void sync_cluster() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
/// Writes to the place that `here`, in the own block's shared memory, has in block `rank`'s.
__device__ inline void store_in_block(double* here, u32 rank, double x) {
  u32 there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(there)
               : "r"(static_cast<u32>(__cvta_generic_to_shared(here))), "r"(rank));
  asm volatile("st.shared::cluster.f64 [%0], %1;" ::"r"(there), "d"(x) : "memory");
}
/// Among `count` threads of the block; barrier 0 is __syncthreads.
template <int id, int count>
__device__ inline void sync_some() {
  asm volatile("barrier.sync %0, %1;" ::"n"(id), "n"(count) : "memory");
}

/// The scalars of a chain, and what its threads tell each other.
struct ResidentScalars {
  double current_log_prior, current_log_jacobian, current_log_likelihood;
  double log_prior, log_jacobian, log_likelihood, log_q;  ///< of the candidate
  double common[kResidentSets];                           ///< prepare_mixture's
  double total_of_rows;
  i64 step;
  u64 num_faults;
  RecordPlan plan;
  double log_uniform[2];   ///< of the next two acceptances
  Prepared prepared[2];    ///< of each team; here, since in registers it would crowd out the rest
  Workspace workspace[3];  ///< of each team; the third one's is the settled point
  Decision decision;
  bool has_draw;        ///< a step has been done that is to be recorded:
  Decision drawn;       ///< its last decision,
  Prepared drawn_from;  ///< by this
  int kept;             ///< component whose distances the caches have yet to take over; kNothingKept
  u8 accepted;
};
inline constexpr int kNothingKept = -1;

template <class Proposal_, class Model_, class Real_, int kComponents, int kDim, int kRows,
          ResidentForm kForm_, int kEvaluators, ResidentRows kPlace, bool kCaches_>
struct ResidentConfig {
  using Proposal = Proposal_;
  using Model = Model_;
  using Real = Real_;
  static constexpr int components = kComponents, dim = kDim;
  static constexpr int rows = kRows;  ///< neighbouring rows of a thread; a node is 32 of them
  static constexpr ResidentForm form = kForm_;
  static constexpr int evaluators = kEvaluators;  ///< warps
  static constexpr ResidentRows place = kPlace;
  static constexpr bool caches = kCaches_;  ///< distances of the own rows are kept in shared memory
  static constexpr bool ahead = form == ResidentForm::ahead;
  static constexpr int teams = ahead ? 2 : 1;                                        ///< that propose
  static constexpr int first_evaluator = ahead ? (teams + 1) * kTeamLanes / 32 : 0;  ///< warp
  static constexpr int threads = (first_evaluator + evaluators) * 32;
  static_assert(threads >= teams * kTeamLanes);
};

template <class Config>
class ResidentChain {
  using Proposal = typename Config::Proposal;
  using Real = typename Config::Real;
  using Team = BlockTeams<3>;  // threads are told apart as by three teams, also where there is one
  static constexpr int kRows = Config::rows, kNodeRows = 32 * kRows;

 public:
  __device__ ResidentChain(const StepView& view, const ResidentWork& work, unsigned char* memory,
                           StepView& local, ResidentScalars& scalars, double (*team_scratch)[Team::kScratch])
      : view_(view),
        work_(work),
        local_(local),
        scalars_(scalars),
        team_scratch_(team_scratch),
        places_(memory, view, model().shape(), work,
                {static_cast<int>(sizeof(Real)), Config::teams, kRows, Config::place, Config::caches}),
        size_(cluster_size()),
        rank_(cluster_rank()),
        chain_(static_cast<int>(blockIdx.x / size_)),
        list_(work.list_of_chain[chain_]),
        warp_(static_cast<int>(threadIdx.x) / 32),
        lane_(static_cast<int>(threadIdx.x) % 32) {}

  __device__ void run() {
    load();
    __syncthreads();
    if constexpr (Config::caches) {
      if (in_team(0)) prepare_set(team(), current_);
      __syncthreads();
      fill();
    }
    const i64 last = work_.num_steps * view_.num_blocks;
    if (Config::ahead && in_team(kDrawer)) draw(kNoBlock, 0, scalars_.step, 0);
    __syncthreads();
    i64 step = scalars_.step;  // done before the block that is accepted
    int block = kNoBlock;
#pragma unroll 1
    for (i64 i = 0; i <= last; ++i) {
      const int next = i == last ? kNoBlock : following(block);
      const int after_next = i + 1 >= last ? kNoBlock : following(next);
      transition(block, next, after_next, step, static_cast<int>(i & 1));
      if (block == view_.num_blocks - 1) ++step;
      block = next;
    }
    store_back();
  }

 private:
  static __device__ typename Config::Model model() {
    typename Config::Model m{};
    m.num_components = Config::components;
    m.dim = Config::dim;
    return m;
  }

  static constexpr int kDrawer = 2;  ///< the team that draws and records

  __device__ int following(int block) const { return block + 1 == view_.num_blocks ? 0 : block + 1; }
  __device__ bool in_team(int index) const { return warp_ / 4 == index; }
  __device__ int team_index() const { return warp_ / 4; }
  __device__ Team team() const { return Team{team_scratch_[team_index()]}; }
  /// Where the calling thread's team writes its candidate.
  __device__ int own_set() const { return team_index() == 0 ? free_[0] : free_[1]; }

  /// Draws the random numbers of the acceptance of block `accept`, `step` steps being done, and of the
  /// proposal of block `propose` after it.
  __device__ void draw(int accept, int propose, i64 step, int parity) const {
    const u32 id = view_.chain_id[chain_];
    if (accept != kNoBlock && threadIdx.x % kTeamLanes == 0)
      scalars_.log_uniform[parity] = draw_log_uniform(view_, id, step, accept);
    if (propose == kNoBlock) return;
    if (accept == view_.num_blocks - 1) ++step;
    const InnovationView adapted{places_.adapted,
                                 adapted_of(view_, chain_) + view_.adapted_layout.num_small(),
                                 view_.adapted_layout,
                                 view_.blocks[propose],
                                 propose,
                                 view_.shape,
                                 view_.table.mixture};
    double* innovation = places_.innovation(parity);
    Proposal::innovate(team(), RandomSource{view_.seed, static_cast<u64>(step), id}, adapted,
                       Innovation{innovation, innovation + view_.table.dim_unconstrained,
                                  innovation + view_.num_innovation - kExtraInnovation});
  }

  /// What the calling thread's team works with; where the points of a transition are.
  __device__ void write_workspace(int parity) const {
    if (threadIdx.x % kTeamLanes != 0) return;
    Workspace& w = scalars_.workspace[team_index()];
    w.current_u = places_.u(current_);
    w.u = places_.u(candidate_);
    w.current_theta = places_.theta(current_);
    w.theta = places_.theta(candidate_);
    w.innovation = places_.innovation(Config::ahead ? parity : 0);
    w.log_uniform = Config::ahead ? &scalars_.log_uniform[parity] : nullptr;
    w.adapted = places_.adapted;
    w.table = local_.table;
    w.is_filled = true;
  }
  __device__ const Workspace& workspace() const { return scalars_.workspace[team_index()]; }
  __device__ const Prepared& prepared() const { return scalars_.prepared[team_index()]; }

  /// The part of a transition that does not need the likelihood, by the calling thread's team.
  __device__ void prepare(int accept, int propose, int parity) const {
    write_workspace(parity);
    team().sync();
    const Prepared p = prepare_transition<Proposal>(team(), local_, chain_, accept, propose, workspace());
    if (threadIdx.x % kTeamLanes == 0) scalars_.prepared[team_index()] = p;
    team().sync();
  }

  /// The chain's view with its own numbers in shared memory: arrays over chains begin so far ahead that the
  /// chain's element is there.
  __device__ void point_at_sets() {
    local_.current.u = places_.u(current_) - static_cast<i64>(chain_) * view_.ld_u;
    local_.current.theta = places_.theta(current_) - static_cast<i64>(chain_) * view_.ld;
    local_.candidate.u = places_.u(candidate_) - static_cast<i64>(chain_) * view_.ld_u;
    local_.candidate.theta = places_.theta(candidate_) - static_cast<i64>(chain_) * view_.ld;
  }

  template <class T>
  __device__ static void copy_all(const T* from, T* to, int n) {
    for (int i = static_cast<int>(threadIdx.x); i < n; i += Config::threads) to[i] = from[i];
  }

  __device__ void load() {
    const int dim = view_.table.dim, dim_u = view_.table.dim_unconstrained;
    copy_all(view_.current.u + static_cast<i64>(chain_) * view_.ld_u, places_.u(current_), dim_u);
    copy_all(view_.current.theta + static_cast<i64>(chain_) * view_.ld, places_.theta(current_), dim);
    copy_all(adapted_of(view_, chain_), places_.adapted, view_.adapted_layout.num_small());
    const ParameterTable table = table_of(view_, chain_);
    copy_all(table.elements, places_.elements, dim);
    copy_all(table.simplices, places_.simplices, table.num_simplices);
    copy_all(table.covariance_rows, places_.covariance_rows, table.num_covariance_rows);
    copy_all(table.conditionals, places_.conditionals, table.num_conditionals);
    const i64 counters = static_cast<i64>(chain_) * view_.num_blocks;
    copy_all(view_.num_accepted + counters, places_.num_accepted, view_.num_blocks);
    copy_all(view_.num_proposed + counters, places_.num_proposed, view_.num_blocks);

    const int first = work_.first_node[list_];
    num_nodes_ = work_.first_node[list_ + 1] - first;
    first_own_ = min(static_cast<int>(rank_) * work_.nodes_per_block, num_nodes_);
    num_own_ = min(work_.nodes_per_block, num_nodes_ - first_own_);
    copy_all(work_.nodes + first + first_own_, places_.nodes, num_own_);
    if (threadIdx.x == 0) {
      load_scalars();
      scalars_.kept = kNothingKept;
      scalars_.has_draw = false;
    }
    if constexpr (Config::place == ResidentRows::shared) {
      const Real* values = static_cast<const Real*>(work_.rows);
      Real* rows = static_cast<Real*>(places_.rows);
      constexpr int kPerNode = Config::dim * 32;
      for (int i = static_cast<int>(threadIdx.x); i < num_own_ * kPerNode; i += Config::threads) {
        const int node = i / kPerNode, column = i % kPerNode / 32, lane = i % 32;
        Real x[kRows];
        load_rows(values + in_tiles(work_.nodes[first + first_own_ + node].row, column) + lane * kRows, x);
        store_rows(x, rows + (node * Config::dim + column) * kNodeRows + lane * kRows);
      }
    }
  }

  /// Place of row `row`, counted through all tiles, in column j.
  __device__ static i64 in_tiles(i64 row, int j) {
    return (row / kResidentTile * Config::dim + j) * kResidentTile + row % kResidentTile;
  }

  __device__ void load_scalars() {
    ResidentScalars& s = scalars_;
    s.current_log_prior = view_.current.log_prior[chain_];
    s.current_log_jacobian = view_.current.log_jacobian[chain_];
    s.current_log_likelihood = view_.current.log_likelihood[chain_];
    s.step = view_.step[chain_];
    s.num_faults = view_.num_faults[chain_];
    s.plan = *view_.record_plan;
    if (rank_ != 0) s.plan.capacity = 0;  // one block records
    s.total_of_rows = work_.num_rows[list_];
    local_ = view_;
    local_.table = table_of(view_, chain_);
    local_.num_tables = 1;
    local_.table.elements = places_.elements;
    local_.table.simplices = places_.simplices;
    local_.table.covariance_rows = places_.covariance_rows;
    local_.table.conditionals = places_.conditionals;
    local_.current.log_prior = &s.current_log_prior - chain_;
    local_.current.log_jacobian = &s.current_log_jacobian - chain_;
    local_.current.log_likelihood = &s.current_log_likelihood - chain_;
    local_.candidate.log_prior = &s.log_prior - chain_;
    local_.candidate.log_jacobian = &s.log_jacobian - chain_;
    local_.candidate.log_likelihood = &s.log_likelihood - chain_;
    local_.log_q = &s.log_q - chain_;
    local_.step = &s.step - chain_;
    local_.num_faults = &s.num_faults - chain_;
    local_.accepted = &s.accepted - chain_;
    local_.record_plan = &s.plan;
    const i64 counters = static_cast<i64>(chain_) * view_.num_blocks;
    local_.num_accepted = places_.num_accepted - counters;
    local_.num_proposed = places_.num_proposed - counters;
    point_at_sets();
  }

  __device__ void store_back() const {
    __syncthreads();
    if (rank_ != 0) return;
    copy_all(places_.u(current_), view_.current.u + static_cast<i64>(chain_) * view_.ld_u,
             view_.table.dim_unconstrained);
    copy_all(places_.theta(current_), view_.current.theta + static_cast<i64>(chain_) * view_.ld,
             view_.table.dim);
    const i64 counters = static_cast<i64>(chain_) * view_.num_blocks;
    copy_all(places_.num_accepted, view_.num_accepted + counters, view_.num_blocks);
    copy_all(places_.num_proposed, view_.num_proposed + counters, view_.num_blocks);
    if (threadIdx.x != 0) return;
    view_.current.log_prior[chain_] = scalars_.current_log_prior;
    view_.current.log_jacobian[chain_] = scalars_.current_log_jacobian;
    view_.current.log_likelihood[chain_] = scalars_.current_log_likelihood;
    view_.step[chain_] = scalars_.step;
    view_.num_faults[chain_] = scalars_.num_faults;
    view_.accepted[chain_] = scalars_.accepted;
  }

  __device__ void prepare_set(const Team& t, int set) const {
    const double common =
        prepare_mixture(t, model(), places_.theta(set), static_cast<Real*>(places_.coefficients(set)),
                        places_.scratch(team_index()));
    if (t.rank() == 0) scalars_.common[set] = common;
  }

  /// The candidate that follows the point in set `from`, to set `to`, with its coefficients.
  __device__ Candidate propose_into(int from, int to) const {
    const Team t = team();
    const InnovationView& adapted = prepared().adapted;
    const Candidate next =
        propose<Proposal>(t, local_, chain_, adapted, KnownPoint{places_.u(from), places_.theta(from)},
                          workspace(), places_.u(to), places_.theta(to));
    t.sync();
    if (adapted.block.influence != Influence::nothing) prepare_set(t, to);
    return next;
  }

  /// Tells all teams the scalars of the candidate that they go on with.
  __device__ void tell(const Candidate& next) const {
    if (threadIdx.x % kTeamLanes != 0) return;
    scalars_.log_q = next.log_q;
    scalars_.log_prior = next.log_prior;
    scalars_.log_jacobian = next.log_jacobian;
  }

  // ---- evaluation

  struct RowsOf {
    const Real* first;  ///< of the thread, in column 0
    static constexpr int stride = Config::place == ResidentRows::shared ? kNodeRows : kResidentTile;
    __device__ __forceinline__ void operator()(int j, Real (&x)[kRows]) const {
      load_rows(first + j * stride, x);
    }
  };
  __device__ RowsOf rows_of_node(int own) const {
    if constexpr (Config::place == ResidentRows::shared)
      return {static_cast<const Real*>(places_.rows) + own * Config::dim * kNodeRows + lane_ * kRows};
    return {static_cast<const Real*>(work_.rows) + in_tiles(places_.nodes[own].row, 0) + lane_ * kRows};
  }
  __device__ int first_node() const { return warp_ - Config::first_evaluator; }

  /// Distances of the thread's rows of a node to component k; that of the candidate's changed component is
  /// behind the others.
  __device__ Real* distances(int own, int k) const {
    return static_cast<Real*>(places_.distances) + (own * (Config::components + 1) + k) * kNodeRows +
           lane_ * kRows;
  }

  /// Distances of the current point.
  __device__ void fill() const {
    if (warp_ < Config::first_evaluator) return;
    const Real* coefficients = static_cast<const Real*>(places_.coefficients(current_));
#pragma unroll 1
    for (int own = first_node(); own < num_own_; own += Config::evaluators)
#pragma unroll 1
      for (int k = 0; k < Config::components; ++k) {
        Real q[kRows];
        accumulate_component(model().shape(), coefficients, k, rows_of_node(own), q);
        store_rows(q, distances(own, k));
      }
  }

  __device__ void send(int own, LogSum<Real> (&total)[kRows], int parity) const {
    const int num_rows = places_.nodes[own].num_rows;
    double values[kRows] = {};
#pragma unroll
    for (int r = 0; r < kRows; ++r)
      if (lane_ * kRows + r < num_rows) values[r] = log2_value(total[r]);
    const double sum = sum_over_lanes(sum_in_registers(values));
    if (lane_ < static_cast<int>(size_))
      store_in_block(places_.sums + parity * work_.max_nodes + first_own_ + own, static_cast<u32>(lane_),
                     sum);
  }

  __device__ void evaluate(int changed, int parity) const {
    const Real* coefficients = static_cast<const Real*>(places_.coefficients(candidate_));
    [[maybe_unused]] const int kept = scalars_.kept;
#pragma unroll 1
    for (int own = first_node(); own < num_own_; own += Config::evaluators) {
      LogSum<Real> total[kRows];
      if constexpr (Config::caches) {
        Real q[kRows];
        if (kept != kNothingKept) {
          load_rows(distances(own, Config::components), q);
          store_rows(q, distances(own, kept));
        }
        if (changed >= 0) {
          accumulate_component(model().shape(), coefficients, changed, rows_of_node(own), q);
          store_rows(q, distances(own, Config::components));
        }
        add_kept_components(
            model().shape(), coefficients,
            [&](int k, Real(&x)[kRows]) {
              load_rows(distances(own, k == changed ? Config::components : k), x);
            },
            total);
      } else {
        add_components(model().shape(), coefficients, rows_of_node(own), total);
      }
      send(own, total, parity);
    }
  }

  /// By all threads; warp 0 gets the log likelihood.
  __device__ double total(int parity) const {
    const double* sums = places_.sums + parity * work_.max_nodes;
    double sum = 0;
    if (work_.max_segments <= 1) {
      if (warp_ == 0) sum = sum_by_warp(sums, num_nodes_);
    } else {
      const int first = work_.first_segment[list_], count = work_.first_segment[list_ + 1] - 1 - first;
      const int* begins = work_.segment_first + first;
      for (int s = warp_; s < count; s += Config::threads / 32) {
        const double segment = sum_by_warp(sums + begins[s], begins[s + 1] - begins[s]);
        if (lane_ == 0) places_.segment_sums[s] = segment;
      }
      __syncthreads();
      if (warp_ == 0) sum = sum_by_warp(places_.segment_sums, count);
    }
    return kLn2 * EMOMC_FMA(scalars_.total_of_rows, scalars_.common[candidate_], sum);
  }

  // ---- a transition: the likelihood of block `accept`, its acceptance, the candidate of block `propose`

  /// Before the first block (`accept` kNoBlock) the current point stands for a rejected candidate.
  /// `after`: the block after `propose`; `step` steps are done before the acceptance.
  __device__ void transition(int accept, int propose, int after, i64 step, int parity) {
    const Influence influence = accept == kNoBlock ? Influence::nothing : view_.blocks[accept].influence;
    const bool evaluated = influence != Influence::nothing;
    const int changed = influence == Influence::component ? view_.blocks[accept].component : kNothingKept;
    const bool proposes = warp_ < 4 * Config::teams;
    Candidate next{};
    if (proposes) {
      prepare(accept, propose, parity);
      if constexpr (Config::ahead)
        if (propose != kNoBlock) next = propose_into(in_team(1) ? candidate_ : current_, own_set());
    }
    if constexpr (!Config::ahead) __syncthreads();  // the candidate is there
    if (Config::ahead && in_team(kDrawer)) {
      record_last();
      if (propose != kNoBlock)
        draw(propose, after, accept == view_.num_blocks - 1 ? step + 1 : step, 1 - parity);
    }
    if (evaluated && warp_ >= Config::first_evaluator) evaluate(changed, parity);
    sync_cluster();

    const double log_likelihood = evaluated ? total(parity) : 0.0;
    if (threadIdx.x == 0) {
      if (evaluated) scalars_.log_likelihood = log_likelihood;
      scalars_.decision = accept == kNoBlock ? Decision{} : decide<Proposal>(local_, chain_, prepared());
      if (evaluated) scalars_.kept = scalars_.decision.accepted ? changed : kNothingKept;
    }
    __syncthreads();
    const bool accepted = scalars_.decision.accepted;
    if constexpr (Config::ahead)
      rotate_ahead(accepted);
    else
      rotate_in_turn(accepted);
    if (warp_ >= (Config::ahead ? Config::first_evaluator : 4)) return;

    if (threadIdx.x == 0) point_at_sets();
    if (in_team(0) && accept != kNoBlock) {
      write_settled(0);
      team().sync();
      settle<Proposal>(team(), local_, chain_, accept, scalars_.decision, prepared(), workspace());
      const bool is_last = accept == view_.num_blocks - 1;
      if constexpr (!Config::ahead)
        if (is_last) record_decided(team(), local_, chain_, scalars_.decision, prepared(), workspace());
      if (Config::ahead && threadIdx.x == 0) note_draw(is_last);
    }
    if constexpr (Config::ahead) {
      if (propose != kNoBlock && in_team(accepted ? 1 : 0)) tell(next);
      sync_some<4, 3 * kTeamLanes>();
      if (propose == kNoBlock && in_team(kDrawer)) record_last();
    } else if (propose != kNoBlock) {
      tell(propose_into(current_, candidate_));
    }
  }

  /// Of the step that has just been done, for record_last; by one thread.
  __device__ void note_draw(bool is_last) const {
    scalars_.has_draw = is_last;
    if (!is_last) return;
    write_settled(kDrawer);
    scalars_.drawn = scalars_.decision;
    scalars_.drawn_from = scalars_.prepared[0];
  }
  /// Records it, by the team that has time for it.
  __device__ void record_last() const {
    if (!scalars_.has_draw) return;
    record_decided(team(), local_, chain_, scalars_.drawn, scalars_.drawn_from, scalars_.workspace[kDrawer]);
  }

  /// After the decision: both points are the current one, so that nothing is copied.
  __device__ void write_settled(int team_number) const {
    if (threadIdx.x != 0) return;
    Workspace& w = scalars_.workspace[team_number];
    w.current_u = w.u = places_.u(current_);
    w.current_theta = w.theta = places_.theta(current_);
  }

  __device__ void rotate_ahead(bool accepted) {
    if (accepted) {
      const int old = current_;
      current_ = candidate_;
      candidate_ = free_[1];
      free_[1] = old;
    } else {
      const int old = candidate_;
      candidate_ = free_[0];
      free_[0] = old;
    }
  }
  __device__ void rotate_in_turn(bool accepted) {
    if (!accepted) return;  // the next candidate overwrites this one
    const int old = current_;
    current_ = candidate_;
    candidate_ = old;
  }

  const StepView& view_;
  const ResidentWork& work_;
  StepView& local_;
  ResidentScalars& scalars_;
  double (*team_scratch_)[Team::kScratch];
  const ResidentPlaces places_;
  const u32 size_, rank_;
  const int chain_, list_, warp_, lane_;
  int num_nodes_ = 0, first_own_ = 0, num_own_ = 0;
  int current_ = 0, candidate_ = 1;  ///< sets
  int free_[2] = {2, 3};
};

/// Grid: num_chains clusters. Dynamic shared memory: ResidentPlaces::bytes.
template <class Config>
__global__ void __launch_bounds__(Config::threads, Config::ahead ? 1 : 2)
    resident_kernel(const __grid_constant__ StepView view, const __grid_constant__ ResidentWork work) {
  extern __shared__ __align__(16) unsigned char resident_memory[];
  __shared__ double team_scratch[3][BlockTeams<3>::kScratch];
  __shared__ StepView local;
  __shared__ ResidentScalars scalars;
  ResidentChain<Config>(view, work, resident_memory, local, scalars, team_scratch).run();
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_RESIDENT_CHAIN_CUH
