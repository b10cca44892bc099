// Runs the phases of trajectories in CUDA blocks, one per chain. The host launches a segment; the GPU repeats
// evaluation and `advance` until all chains have completed the segment's steps.
#include "../trajectories.hpp"
#include "emomc/core/cuda_launch.cuh"
#include "emomc/device/block_team.cuh"
#include "emomc/device/trajectories.hpp"
#include "emomc/device/warp_team.cuh"

namespace emomc {
namespace {

using device::BlockTeam;
using device::TrajectoryView;

/// The kind of parameter table, as in stepper.cu: kernels for tables with only elements and simplices do not
/// contain the other code. Used for the kernel that runs once per leapfrog.
enum class TableKind { plain, any };

template <class Moves>
__global__ void __launch_bounds__(device::kTeamLanes, 4)
    begin_segment_kernel(const __grid_constant__ TrajectoryView view) {
  __shared__ double scratch[BlockTeam::kScratchOfMany];
  begin_overlapped();
  device::begin_segment<Moves>(BlockTeam{scratch}, view, static_cast<int>(blockIdx.x));
}

template <class Moves, TableKind kTable, class Team>
__device__ void advance_if_active(const Team& team, const TrajectoryView& view) {
  // This call comes first, even in blocks that have nothing to do: the grid must not end before the preceding
  // one has ended.
  begin_overlapped();
  const int chain = static_cast<int>(blockIdx.x);
  if constexpr (kTable == TableKind::plain) {
    __builtin_assume(view.step.table.num_covariance_rows == 0);
    __builtin_assume(view.step.table.num_conditionals == 0);
  }
  if (view.active[chain] == 0) return;
  device::advance<Moves>(team, view, chain);
}

template <class Moves, TableKind kTable>
__global__ void __launch_bounds__(device::kTeamLanes, 3)
    advance_kernel(const __grid_constant__ TrajectoryView view) {
  __shared__ double scratch[BlockTeam::kScratchOfMany];
  advance_if_active<Moves, kTable>(BlockTeam{scratch}, view);
}

/// Advances each chain by one warp.
template <class Moves, TableKind kTable>
__global__ void __launch_bounds__(32, 1) advance_by_warp_kernel(const __grid_constant__ TrajectoryView view) {
  advance_if_active<Moves, kTable>(device::WarpTeam{}, view);
}

/// The phases that are rarely run.
enum class Rare { begin_chain, begin_trial, finish_trial };

template <Rare kPhase>
__global__ void __launch_bounds__(device::kTeamLanes, 4)
    rare_phase_kernel(const __grid_constant__ TrajectoryView view) {
  __shared__ double scratch[BlockTeam::kScratchOfMany];
  begin_overlapped();
  const BlockTeam team{scratch};
  const int chain = static_cast<int>(blockIdx.x);
  if constexpr (kPhase == Rare::begin_chain)
    device::begin_chain(team, view, chain);
  else if constexpr (kPhase == Rare::begin_trial)
    device::begin_trial(team, view, chain);
  else
    device::finish_trial(team, view, chain);
}

template <class Moves>
class CudaTrajectories final : public Trajectories {
 public:
  CudaTrajectories(LikelihoodEngine& engine, const Ensemble& ensemble, RecordLayout record, RepeatedBy by)
      : engine_(engine),
        device_(engine.device()),
        ensemble_(ensemble),
        arrays_(device_, ensemble, Moves::has_tree, record),
        leapfrogs_(device_.capture_while([this] { enqueue_leapfrogs(); },
                                         {arrays_.view().active, ensemble.num_chains()}, by)) {}

  const TrajectoryArrays& arrays() const override { return arrays_; }
  TrajectoryArrays& arrays() override { return arrays_; }

  void evaluate_current() override {
    engine_.evaluate_with_gradient(ensemble_.current_view(), arrays_.gradients(), all());
    launch("launch of begin_chain", rare_phase_kernel<Rare::begin_chain>);
    device_.synchronize();
  }

  void launch() override {
    launch("launch of begin_segment_kernel", begin_segment_kernel<Moves>);
    device_.launch(*leapfrogs_);
  }

  std::vector<double> try_step() override {
    launch("launch of begin_trial", rare_phase_kernel<Rare::begin_trial>);
    engine_.evaluate_with_gradient(ensemble_.candidate_view(), arrays_.gradients(), all());
    launch("launch of finish_trial", rare_phase_kernel<Rare::finish_trial>);
    std::vector<double> acceptance;
    for (const auto& state : arrays_.states()) acceptance.push_back(state.acceptance);
    return acceptance;
  }

  std::string stepping() const override {
    return std::string("kernels for each leapfrog, repeated by ") +
           (leapfrogs_->is_repeated_by_host() ? "the host: the driver has no conditional graph nodes"
                                              : "the GPU until all chains have done their steps");
  }

 private:
  ActiveSet all() const { return {nullptr, ensemble_.num_chains()}; }

  void launch(const char* name, void (*kernel)(TrajectoryView)) {
    launch_kernel(name, Overlap::no, kernel, dim3(static_cast<unsigned>(ensemble_.num_chains())),
                  dim3(device::kTeamLanes), 0, device_.stream(), arrays_.view());
  }

  // Enqueues several leapfrogs between two checks of the chains; each check takes a kernel and a repetition
  // of the graph.
  void enqueue_leapfrogs() {
    constexpr int kTogether = 8;
    const device::ParameterTable& table = arrays_.view().step.table;
    const bool is_plain = table.num_covariance_rows + table.num_conditionals == 0;
    // With few parameters there is little work, so that a block's barriers would take longer than the work.
    constexpr int kMostOfWarp = 64;
    const bool by_warp = table.dim_unconstrained <= kMostOfWarp;
    const auto kernel = by_warp    ? is_plain ? advance_by_warp_kernel<Moves, TableKind::plain>
                                              : advance_by_warp_kernel<Moves, TableKind::any>
                           : is_plain ? advance_kernel<Moves, TableKind::plain>
                                   : advance_kernel<Moves, TableKind::any>;
    for (int i = 0; i < kTogether; ++i) {
      engine_.evaluate_with_gradient(ensemble_.candidate_view(), arrays_.gradients_under_way(), all());
      launch_kernel("launch of advance_kernel", Overlap::yes, kernel,
                    dim3(static_cast<unsigned>(ensemble_.num_chains())),
                    dim3(by_warp ? 32 : device::kTeamLanes), 0, device_.stream(), arrays_.view());
    }
  }

  LikelihoodEngine& engine_;
  Device& device_;
  const Ensemble& ensemble_;
  TrajectoryArrays arrays_;
  std::unique_ptr<Graph> leapfrogs_;
};

}  // namespace

std::unique_ptr<Trajectories> make_cuda_trajectories(const std::string& kind, LikelihoodEngine& engine,
                                                     const Ensemble& ensemble, RecordLayout record,
                                                     RepeatedBy by) {
#define EMOMC_MAKE(Kind)                                                                                    \
  if (kind == device::Kind::name)                                                                           \
    return std::make_unique<CudaTrajectories<device::TrajectoryOf<device::Kind>>>(engine, ensemble, record, \
                                                                                  by);
  EMOMC_TRAJECTORIES(EMOMC_MAKE)
#undef EMOMC_MAKE
  return nullptr;
}

}  // namespace emomc
