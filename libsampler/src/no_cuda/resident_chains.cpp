#include "../resident_chains.hpp"

#include "../resident_plan.hpp"

namespace emomc {

std::unique_ptr<ResidentChains> make_resident_chains(const LikelihoodEngine&, const Ensemble&,
                                                     const std::string&, const ProposalBlocks&,
                                                     const std::vector<ChainPlan>&, StepKernels, bool,
                                                     std::string& why) {
  why = "this build is without CUDA";
  return nullptr;
}

const DeviceSources& sampler_device_sources() {
  static const DeviceSources none;
  return none;
}

}  // namespace emomc
