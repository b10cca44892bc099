// The data of a thread block of resident_chain.cuh: the kernel's configuration, the state of the block's
// chain in shared memory, and the block's share of the rows.
#ifndef EMOMC_DEVICE_RESIDENT_BLOCK_CUH
#define EMOMC_DEVICE_RESIDENT_BLOCK_CUH

#include "emomc/device/block_team.cuh"
#include "emomc/device/cluster.cuh"
#include "emomc/device/resident_layout.hpp"
#include "emomc/device/row_sums.cuh"

namespace emomc::device {

/// Log densities of a candidate, which are not stored in its set.
struct ResidentCandidate {
  double log_q, log_prior, log_jacobian;
};

/// The scalars of a chain, and the numbers that its threads exchange. `KeptState` is the likelihood's type.
template <class KeptState>
struct ResidentScalars {
  LogDensities current;
  double log_prior, log_jacobian, log_likelihood, log_q;  ///< values of the candidate
  double common[kMostResidentSets];                       ///< `common` of the point in each set
  double total_of_rows;
  i64 step;
  u64 num_faults;
  RecordPlan plan;
  double log_uniform[kMostResidentPlaces];  ///< random numbers of the next two acceptances of each line
  Prepared prepared;  ///< the next acceptance; stored in shared memory because registers are needed elsewhere
  ResidentCandidate next[2][2];  ///< by turn: the next candidate after a rejection, and after an acceptance
  Decision decision;
  KeptState kept;
  u8 accepted;
};
/// The largest number of teams, groups of kTeamLanes threads with a barrier of their own, in a block.
inline constexpr int kResidentTeams = 4;

/// The numbers of a line's candidate that are sent to all blocks, in addition to the sums over rows.
struct ResidentLine {
  double log_q, log_prior, log_jacobian, common, log_uniform;
};
/// The data of a block if several candidates are evaluated at once.
struct ResidentLines {
  ResidentLine of[2][kMostLines];  ///< by turn and by line; the wide form uses only those of the first turn
  Decision decisions[kMostLines];  ///< decisions on the candidates of a turn, in the candidates' order
  int next_node[2];  ///< by turn: the block's first node that no warp has taken; unused in the wide form
  double beta;
  bool all_evaluated;  ///< wide form: whether every block of a step changes the likelihood
};

/// Compile-time configuration of the kernel. `Sized_` is a Sized<...> of row_likelihood.hpp, named by
/// DeviceCode.
template <class Proposal_, class Sized_, class Real_, int kColumns, int kRows, ResidentForm kForm_,
          int kEvaluators, bool kCaches_, bool kNeighbours_, int kLines_ = 1, bool kOutside_ = false>
struct ResidentConfig {
  using Proposal = Proposal_;
  using Likelihood = typename Sized_::Likelihood;
  using Real = Real_;
  using Scalars = ResidentScalars<typename Likelihood::KeptState>;
  static constexpr int dim = kColumns;
  static constexpr int rows = kRows;  ///< neighbouring rows of a thread; a node is 32 of them
  static constexpr int node_rows = 32 * rows;
  static constexpr ResidentForm form = kForm_;
  static constexpr int evaluators = kEvaluators;  ///< number of warps that evaluate
  /// Whether numbers of the block's own rows are kept while one component changes at a time.
  static constexpr bool caches = kCaches_;
  static_assert(!caches || Likelihood::kKeeps);
  static constexpr bool neighbours = kNeighbours_;
  static constexpr bool ahead = form == ResidentForm::ahead, wide = form == ResidentForm::wide;
  static constexpr bool apart = form == ResidentForm::teams;  ///< each team has a chain of its own
  static constexpr int chains = apart ? kChainTeams : 1;      ///< number of chains of a block
  static constexpr int lines = kLines_;  ///< number of candidates that are evaluated at once, a power of two
  static constexpr int teams = ahead ? 2 : wide ? lines : 1;  ///< number of teams that propose
  static constexpr int first_evaluator =
      ahead ? (teams + 1) * kTeamLanes / 32 : 0;  ///< first evaluating warp
  static constexpr int chain_threads = (first_evaluator + evaluators) * 32;
  static constexpr int threads = chains * chain_threads;
  static_assert(!apart || (evaluators == kTeamWarps && kChainTeams <= kResidentTeams));
  static_assert(threads >= teams * kTeamLanes);
  static constexpr bool several = wide || form == ResidentForm::lines;
  /// Whether some of a block's rows are in device memory.
  static constexpr bool outside = kOutside_;
  static_assert(!outside || reads_device_memory(form));
  static_assert((lines == 1 || several) && (lines & (lines - 1)) == 0 &&
                lines <= (wide ? kMostWideLines : kMostLines));
  // If several candidates are evaluated at once, a further team draws the random numbers.
  static_assert(!several || (threads >= (teams + 1) * kTeamLanes && threads >= 32 * lines && !caches));

  static __device__ Likelihood likelihood() { return Sized_::likelihood(); }
};

/// The calling thread's view of its chain. The data are in the block's shared memory.
template <class Config>
struct ResidentBlock {
  using Real = typename Config::Real;
  using Team = BlockTeams<kResidentTeams>;  // numbers threads as for kResidentTeams teams, even if there is
                                            // one
  static constexpr int kRows = Config::rows;

  const StepView& view;
  const ResidentWork& work;
  const u32 size, rank;  ///< number of the chain's blocks, and number of this block among them
  const int slot;        ///< number of the chain among the block's chains
  StepView& local;       ///< the chain's view of the step, whose arrays are in shared memory
  typename Config::Scalars& scalars;
  double (*team_scratch)[Team::kScratch];
  const ResidentPlaces places;
  const int line, rank_in_line;
  const int chain, list, warp, lane;
  int num_nodes = 0, first_own = 0, num_own = 0;
  int current = 0, candidate = 1;  ///< numbers of the sets of the current point and of its candidate
  int free[2] = {2, 3};            ///< numbers of the sets of the next candidate after a rejection, and after
                                   ///< an acceptance

  /// `local_views` and `chain_scalars` have an element for each of the block's chains.
  __device__ ResidentBlock(const StepView& v, const ResidentWork& w, unsigned char* memory,
                           StepView* local_views, typename Config::Scalars* chain_scalars,
                           double (*scratch)[Team::kScratch])
      : view(v),
        work(w),
        size(Config::wide ? static_cast<u32>(w.num_blocks) : cluster_size()),
        rank(Config::wide ? blockIdx.x % size : cluster_rank()),
        slot(Config::apart ? Team::index() : 0),
        local(local_views[slot]),
        scalars(chain_scalars[slot]),
        team_scratch(scratch),
        places(memory, v, Config::likelihood().sizes(), w,
               {static_cast<int>(sizeof(Real)), Config::form, Config::lines, kRows, Config::caches,
                Config::neighbours},
               slot),
        line(Config::wide ? 0 : static_cast<int>(rank / (size / Config::lines))),
        rank_in_line(Config::wide ? static_cast<int>(rank) : static_cast<int>(rank % (size / Config::lines))),
        chain(static_cast<int>(blockIdx.x / size + static_cast<u32>(slot) * (gridDim.x / size))),
        list(w.list_of_chain[chain < v.num_chains ? chain : 0]),
        warp(thread() / 32),
        lane(static_cast<int>(threadIdx.x) % 32) {}

  /// Number of the calling thread among those that work on its chain.
  static __device__ int thread() {
    return static_cast<int>(threadIdx.x) % (Config::apart ? kTeamLanes : Config::threads);
  }
  /// Waits for all threads of this block that work on the chain.
  __device__ void sync() const {
    if constexpr (Config::apart)
      team().sync();
    else
      __syncthreads();
  }
  __device__ ListSegments segments() const {
    return segments_of_list(work.first_segment, work.segment_first, list);
  }
  __device__ bool has_chain() const { return !Config::apart || chain < view.num_chains; }

  __device__ int team_index() const { return warp / kTeamWarps; }
  __device__ bool in_team(int index) const { return team_index() == index; }
  __device__ Team team() const { return Team{team_scratch[Team::index()]}; }
  static __device__ bool leads_team() { return threadIdx.x % kTeamLanes == 0; }

  template <class T>
  static __device__ void copy_all(const T* from, T* to, int n) {
    EMOMC_ROLLED  // the loop mostly has one iteration
    for (int i = thread(); i < n; i += Config::chain_threads) to[i] = from[i];
  }

  /// Copies the chain's state and the block's rows to shared memory; all threads of the block take part.
  __device__ void load() {
    const int first = work.first_node[list];
    num_nodes = work.first_node[list + 1] - first;
    first_own = min(rank_in_line * work.nodes_per_block, num_nodes);
    num_own = min(work.nodes_per_block, num_nodes - first_own);
    const RowNode* own = work.nodes + first + first_own;
    for (int i = static_cast<int>(threadIdx.x); i < num_own; i += Config::threads) places.nodes[i] = own[i];
    load_own_rows(own);
    if (has_chain()) load_chain();
  }

  /// Shifts the pointers of the view's arrays over chains so that the chain's element is in the right set;
  /// one thread calls this.
  __device__ void point_at_sets() {
    local.current.u = places.u(current) - static_cast<i64>(chain) * view.ld_u;
    local.current.theta = places.theta(current) - static_cast<i64>(chain) * view.ld;
    local.candidate.u = places.u(candidate) - static_cast<i64>(chain) * view.ld_u;
    local.candidate.theta = places.theta(candidate) - static_cast<i64>(chain) * view.ld;
  }

  /// Copies the chain's state back to device memory; the first of the chain's blocks does so.
  __device__ void store_back() const {
    sync();
    if (rank != 0) return;
    copy_all(places.u(current), view.current.u + static_cast<i64>(chain) * view.ld_u, view.point_size);
    copy_all(places.theta(current), view.current.theta + static_cast<i64>(chain) * view.ld, view.table.dim);
    const i64 counters = static_cast<i64>(chain) * view.num_blocks;
    copy_all(places.num_accepted, view.num_accepted + counters, view.num_blocks);
    copy_all(places.num_proposed, view.num_proposed + counters, view.num_blocks);
    if (thread() != 0) return;
    set_densities(view.current, chain, scalars.current);
    view.step[chain] = scalars.step;
    view.num_faults[chain] = scalars.num_faults;
    view.accepted[chain] = scalars.accepted;
  }

  /// Gives the sets their new roles after a decision.
  __device__ void rotate_sets(bool accepted) {
    const int old = accepted ? current : candidate;
    if (accepted) current = candidate;
    if constexpr (!Config::ahead) {
      if (accepted) candidate = old;  // otherwise the next candidate overwrites this one
    } else if (accepted) {
      candidate = free[1];
      free[1] = old;
    } else {
      candidate = free[0];
      free[0] = old;
    }
  }

 private:
  __device__ void load_chain() {
    copy_all(view.current.u + static_cast<i64>(chain) * view.ld_u, places.u(current), view.point_size);
    copy_all(view.current.theta + static_cast<i64>(chain) * view.ld, places.theta(current), view.table.dim);
    copy_all(adapted_of(view, chain), places.adapted, view.adapted_layout.num_small());
    if constexpr (!Config::apart) {
      const ParameterTable table = table_of(view, chain);
      copy_all(table.elements, places.elements, table.dim);
      copy_all(table.simplices, places.simplices, table.num_simplices);
      copy_all(table.covariance_rows, places.covariance_rows, table.num_covariance_rows);
      copy_all(table.conditionals, places.conditionals, table.num_conditionals);
    }
    const i64 counters = static_cast<i64>(chain) * view.num_blocks;
    copy_all(view.num_accepted + counters, places.num_accepted, view.num_blocks);
    copy_all(view.num_proposed + counters, places.num_proposed, view.num_blocks);
    if (thread() == 0) load_scalars();
  }

  __device__ void load_scalars() {
    typename Config::Scalars& s = scalars;
    s.current = densities_of(view.current, chain);
    s.step = view.step[chain];
    s.num_faults = view.num_faults[chain];
    s.plan = *view.record_plan;
    if (rank != 0) s.plan.capacity = 0;  // one block of the cluster records
    s.total_of_rows = work.num_rows[list];
    if constexpr (Config::Likelihood::kKeeps) s.kept = Config::Likelihood::nothing_kept();
    local = view;
    local.table = table_of(view, chain);
    local.num_tables = 1;
    if constexpr (!Config::apart) {
      local.table.elements = places.elements;
      local.table.simplices = places.simplices;
      local.table.covariance_rows = places.covariance_rows;
      local.table.conditionals = places.conditionals;
    }
    local.current.log_prior = &s.current.prior - chain;
    local.current.log_jacobian = &s.current.jacobian - chain;
    local.current.log_likelihood = &s.current.likelihood - chain;
    local.candidate.log_prior = &s.log_prior - chain;
    local.candidate.log_jacobian = &s.log_jacobian - chain;
    local.candidate.log_likelihood = &s.log_likelihood - chain;
    local.log_q = &s.log_q - chain;
    local.step = &s.step - chain;
    local.num_faults = &s.num_faults - chain;
    local.accepted = &s.accepted - chain;
    local.record_plan = &s.plan;
    const i64 counters = static_cast<i64>(chain) * view.num_blocks;
    local.num_accepted = places.num_accepted - counters;
    local.num_proposed = places.num_proposed - counters;
    point_at_sets();
  }

  __device__ void load_own_rows(const RowNode* nodes) {
    const Real* values = static_cast<const Real*>(work.rows);
    Real* rows = static_cast<Real*>(places.rows);
    constexpr int kPerNode = Config::dim * 32;
    const int num_here = Config::outside ? min(num_own, work.resident_nodes) : num_own;
    for (int i = static_cast<int>(threadIdx.x); i < num_here * kPerNode; i += Config::threads) {
      const int node = i / kPerNode, column = i % kPerNode / 32, in_node = i % 32 * kRows;
      const i64 row = nodes[node].row;
      Real x[kRows];
      load_rows(values + (row / kTileRows * Config::dim + column) * kTileRows + row % kTileRows + in_node, x);
      store_rows(x, rows + (node * Config::dim + column) * Config::node_rows + in_node);
    }
  }
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_RESIDENT_BLOCK_CUH
