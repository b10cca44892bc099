// Binds the step body to CUDA blocks, one per chain.
#include "../stepper.hpp"
#include "emomc/core/cuda_launch.cuh"
#include "emomc/device/block_team.cuh"
#include "emomc/device/proposals.hpp"

namespace emomc {
namespace {

/// kNear: the chain's vectors are worked on in dynamic shared memory.
template <class Proposal, bool kNear>
__global__ void __launch_bounds__(device::kTeamLanes)
    transition_kernel(const __grid_constant__ device::StepView view, int accept_block, int propose_block) {
  __shared__ double scratch[device::BlockTeam::kScratch];
  extern __shared__ double memory[];
  begin_overlapped();
  const device::BlockTeam team{scratch};
  const int chain = static_cast<int>(blockIdx.x);
  if constexpr (kNear)
    device::transition<Proposal>(team, view, chain, accept_block, propose_block,
                                 device::workspace_in(memory, view.table));
  else
    device::transition<Proposal>(team, view, chain, accept_block, propose_block);
}

template <class Proposal>
class CudaStepper final : public Stepper {
 public:
  explicit CudaStepper(Stream stream) : stream_(stream) {}
  device::BlockPlan block_plan() const override { return Proposal::block_plan; }
  void enqueue(const device::StepView& view, int accept_block, int propose_block) const override {
    constexpr std::size_t kMostShared = 160 << 10;
    const std::size_t bytes = static_cast<std::size_t>(device::workspace_size(view.table)) * sizeof(double);
    const bool near = bytes <= kMostShared;
    launch_overlapped("launch of transition_kernel",
                      near ? transition_kernel<Proposal, true> : transition_kernel<Proposal, false>,
                      dim3(static_cast<unsigned>(view.num_chains)), dim3(device::kTeamLanes),
                      near ? bytes : 0, stream_, view, accept_block, propose_block);
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
