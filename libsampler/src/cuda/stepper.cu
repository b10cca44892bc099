// Binds the step body to CUDA blocks, one per chain.
#include "../stepper.hpp"
#include "emomc/core/cuda_check.hpp"
#include "emomc/device/block_team.cuh"
#include "emomc/device/proposals.hpp"

namespace emomc {
namespace {

template <class Proposal>
__global__ void __launch_bounds__(device::kTeamLanes)
    transition_kernel(const __grid_constant__ device::StepView view, int accept_block, int propose_block) {
  __shared__ double scratch[device::kTeamLanes / 32];
  device::transition<Proposal>(device::BlockTeam{scratch}, view, static_cast<int>(blockIdx.x), accept_block,
                               propose_block);
}

template <class Proposal>
class CudaStepper final : public Stepper {
 public:
  explicit CudaStepper(Stream stream) : stream_(stream) {}
  device::BlockPlan block_plan() const override { return Proposal::block_plan; }
  void enqueue(const device::StepView& view, int accept_block, int propose_block) const override {
    transition_kernel<Proposal>
        <<<view.num_chains, device::kTeamLanes, 0, stream_>>>(view, accept_block, propose_block);
    EMOMC_CUDA_CHECK_LAUNCH("transition_kernel");
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
