// Binds the step body to CUDA blocks, one per chain.
#include "../stepper.hpp"
#include "emomc/core/cuda_launch.cuh"
#include "emomc/device/block_team.cuh"
#include "emomc/device/proposals.hpp"

namespace emomc {
namespace {

/// kNear: the chain's vectors are worked on in dynamic shared memory.
template <class Proposal, bool kNear>
__global__ void __launch_bounds__(device::kTeamLanes, 4)
    transition_kernel(const __grid_constant__ device::StepView view, int accept_block, int propose_block) {
  __shared__ double scratch[device::BlockTeam::kScratch];
  extern __shared__ __align__(8) unsigned char memory[];
  const device::BlockTeam team{scratch};
  const int chain = static_cast<int>(blockIdx.x);
  const device::Workspace w = kNear ? device::workspace_in(memory, view) : device::rows_of(view, chain);
  // Reads what the transition before has written, which has ended: the likelihood's kernels, which wait for
  // it, have begun.
  const device::Prepared prepared =
      device::prepare_transition<Proposal>(team, view, chain, accept_block, propose_block, w);
  begin_overlapped();
  team.sync();
  device::finish_transition<Proposal>(team, view, chain, accept_block, propose_block, prepared, w);
}

template <class Proposal>
class CudaStepper final : public Stepper {
 public:
  explicit CudaStepper(Stream stream) : stream_(stream) {}
  device::BlockPlan block_plan() const override { return Proposal::block_plan; }
  void enqueue(const device::StepView& view, int accept_block, int propose_block) const override {
    constexpr std::size_t kMostShared = 160 << 10;
    const auto bytes = static_cast<std::size_t>(device::workspace_bytes(view));
    const bool near = bytes <= kMostShared;
    // Without an acceptance there may be no likelihood between this transition and the one before.
    launch_kernel("launch of transition_kernel",
                  accept_block == device::kNoBlock ? Overlap::no : Overlap::yes,
                  near ? transition_kernel<Proposal, true> : transition_kernel<Proposal, false>,
                  dim3(static_cast<unsigned>(view.num_chains)), dim3(device::kTeamLanes), near ? bytes : 0,
                  stream_, view, accept_block, propose_block);
  }

 private:
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
