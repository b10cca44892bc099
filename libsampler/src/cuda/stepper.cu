// Runs the step body in CUDA blocks, one per chain.
#include "../stepper.hpp"
#include "emomc/core/cuda_launch.cuh"
#include "emomc/device/block_team.cuh"
#include "emomc/device/proposals.hpp"

namespace emomc {
namespace {

/// The kind of parameter table. Most targets have only elements and simplices. Kernels for them do not
/// contain the other code, because a kernel that runs once per step spends most of its time waiting for
/// instructions.
enum class TableKind { plain, any };
template <TableKind kKind>
__device__ device::Workspace with_table(device::Workspace w) {
  if constexpr (kKind == TableKind::plain) w.table.num_covariance_rows = w.table.num_conditionals = 0;
  return w;
}

/// Makes a transition of each chain. kNear: the chain's vectors are in dynamic shared memory during the work.
template <class Proposal, TableKind kKind, bool kNear>
__global__ void __launch_bounds__(device::kTeamLanes, 4)
    transition_kernel(const __grid_constant__ device::StepView view, int accept_block, int propose_block) {
  __shared__ double scratch[device::BlockTeam::kScratch];
  extern __shared__ __align__(8) unsigned char memory[];
  const device::BlockTeam team{scratch};
  const int chain = static_cast<int>(blockIdx.x);
  const device::Workspace w =
      with_table<kKind>(kNear ? device::workspace_in(memory, view, chain) : device::rows_of(view, chain));
  // This reads the results of the preceding transition, which has ended: the likelihood's kernels, which wait
  // for that transition, have begun.
  const device::Prepared prepared =
      device::prepare_transition<Proposal>(team, view, chain, accept_block, propose_block, w);
  begin_overlapped();
  team.sync();
  device::finish_transition<Proposal>(team, view, chain, accept_block, propose_block, prepared, w);
}

/// Returns the size of a workspace in dynamic shared memory with room for one more candidate.
EMOMC_HD inline device::i64 prefetch_bytes(const device::StepView& view) {
  return device::workspace_bytes(view) +
         (view.point_size + view.table.dim) * static_cast<device::i64>(sizeof(double));
}

/// Makes a transition by two teams, one for each outcome of the acceptance, that compute the next candidate
/// while the likelihood of the present one is not known yet (Brockwell 2006, "Parallel Markov chain Monte
/// Carlo simulation by pre-fetching"). The candidate of the actual outcome is stored.
template <class Proposal, TableKind kKind>
__global__ void __launch_bounds__(2 * device::kTeamLanes, Proposal::Phases::has_ratio_in_theta ? 1 : 2)
    prefetching_kernel(const __grid_constant__ device::StepView view, int accept_block, int propose_block) {
  using Team = device::BlockTeams<2>;
  __shared__ double scratch[2][Team::kScratch];
  extern __shared__ __align__(8) unsigned char memory[];
  const bool if_accepted = Team::index() == 1;
  const Team team{scratch[Team::index()]};
  const int chain = static_cast<int>(blockIdx.x);
  unsigned char* own = memory + Team::index() * prefetch_bytes(view);
  const device::Workspace w = with_table<kKind>(device::workspace_in(own, view, chain));
  double* next_u = reinterpret_cast<double*>(own + device::workspace_bytes(view));
  const device::Prepared prepared =
      device::prepare_transition<Proposal>(team, view, chain, accept_block, propose_block, w);
  team.sync();
  const device::Candidate next = device::propose<Proposal>(
      team, view, chain, prepared.adapted,
      if_accepted ? device::KnownPoint{w.u, w.theta} : device::KnownPoint{w.current_u, w.current_theta}, w,
      next_u, next_u + view.point_size);
  begin_overlapped();
  __syncthreads();
  const device::Decision decision = device::decide<Proposal>(view, chain, prepared);
  if (decision.accepted == if_accepted) device::store(team, view, chain, next);
  if (!if_accepted)
    device::accept_or_reject<Proposal>(team, view, chain, accept_block, decision, prepared, w);
  if constexpr (Proposal::Phases::moves_by_fit) {
    __syncthreads();  // the accepted point is now the current one
    if (decision.accepted == if_accepted)
      device::store_kept<Proposal>(team, view, chain, prepared.adapted.block,
                                   if_accepted ? w.u : w.current_u);
  }
}

/// Draws innovations of phase P ahead. The grid has a team for each chain (x), step (y) and group of
/// P::kMovesTogether of the step's moves by a fit (z); the last group may be smaller. Dynamic shared memory:
/// [dim_unconstrained x kMovesTogether] doubles.
template <class P>
__global__ void __launch_bounds__(device::kTeamLanes, 4)
    draw_ahead_kernel(const __grid_constant__ device::StepView view) {
  __shared__ double scratch[device::BlockTeam::kScratch];
  extern __shared__ __align__(8) unsigned char memory[];
  const int chain = static_cast<int>(blockIdx.x), first = static_cast<int>(blockIdx.z) * P::kMovesTogether;
  const int left = view.drawn.num_moves - first, block = view.drawn.first_block + first;
  const device::i64 step = view.step[chain] + blockIdx.y;
  const double* adapted = device::adapted_of(view, chain);
  const device::InnovationView of_first{adapted,
                                        adapted + view.adapted_layout.num_small(),
                                        view.adapted_layout,
                                        view.blocks[block],
                                        block,
                                        view.shape,
                                        view.table.mixture,
                                        nullptr};
  P::draw_ahead(device::BlockTeam{scratch},
                device::RandomSource{view.seed, static_cast<device::u64>(step), view.chain_id[chain]},
                of_first, left < P::kMovesTogether ? left : P::kMovesTogether,
                reinterpret_cast<double*>(memory), view.drawn.row(chain, step, first), view.drawn.ld);
}

template <class Proposal>
class CudaStepper final : public Stepper {
 public:
  explicit CudaStepper(Stream stream) : stream_(stream) {}
  void enqueue(const device::StepView& view, int accept_block, int propose_block,
               bool evaluated) const override {
    if (view.table.num_covariance_rows + view.table.num_conditionals == 0)
      launch<TableKind::plain>(view, accept_block, propose_block, evaluated);
    else
      launch<TableKind::any>(view, accept_block, propose_block, evaluated);
  }

  void draw_ahead(const device::StepView& view, std::int64_t num_steps) const override {
    if (!view.drawn.values) return;
    Proposal::Phases::visit_moves_by_fit([&](auto phase) {
      using P = decltype(phase);
      const int num_moves = view.drawn.num_moves;
      const auto groups = static_cast<unsigned>((num_moves + P::kMovesTogether - 1) / P::kMovesTogether);
      const std::size_t bytes =
          static_cast<std::size_t>(view.table.dim_unconstrained * P::kMovesTogether) * sizeof(double);
      launch_kernel("launch of draw_ahead_kernel", Overlap::no, draw_ahead_kernel<P>,
                    dim3(static_cast<unsigned>(view.num_chains), static_cast<unsigned>(num_steps), groups),
                    dim3(device::kTeamLanes), bytes, stream_, view);
    });
  }

 private:
  template <TableKind kKind>
  void launch(const device::StepView& view, int accept_block, int propose_block, bool evaluated) const {
    constexpr std::size_t kMostShared = 160 << 10;
    const auto prefetch = static_cast<std::size_t>(2 * prefetch_bytes(view));
    if (evaluated && propose_block != device::kNoBlock && view.num_chains <= kMostPrefetching &&
        prefetch <= kMostShared) {
      launch_kernel("launch of prefetching_kernel", Overlap::yes, prefetching_kernel<Proposal, kKind>,
                    dim3(static_cast<unsigned>(view.num_chains)), dim3(2 * device::kTeamLanes), prefetch,
                    stream_, view, accept_block, propose_block);
      return;
    }
    const auto bytes = static_cast<std::size_t>(device::workspace_bytes(view));
    const bool near = bytes <= kMostShared;
    // Without a likelihood evaluation in between, this transition reads what the preceding one writes, so
    // they must not overlap.
    launch_kernel("launch of transition_kernel", evaluated ? Overlap::yes : Overlap::no,
                  near ? transition_kernel<Proposal, kKind, true> : transition_kernel<Proposal, kKind, false>,
                  dim3(static_cast<unsigned>(view.num_chains)), dim3(device::kTeamLanes), near ? bytes : 0,
                  stream_, view, accept_block, propose_block);
  }

  // With more chains, the likelihood leaves no multiprocessor idle that could prepare both outcomes.
  static constexpr int kMostPrefetching = 64;

  Stream stream_;
};

}  // namespace

std::unique_ptr<Stepper> make_cuda_stepper(const std::string& kind, Stream stream) {
#define EMOMC_MAKE(Proposal) \
  if (kind == device::Proposal::name) return std::make_unique<CudaStepper<device::Proposal>>(stream);
  EMOMC_PROPOSALS(EMOMC_MAKE)
#undef EMOMC_MAKE
  return nullptr;
}

}  // namespace emomc
