#include "../resident_chains.hpp"

namespace emomc {

std::unique_ptr<ResidentChains> make_resident_chains(const LikelihoodEngine&, const Ensemble&,
                                                     const std::string&, const ProposalBlocks&,
                                                     const std::vector<ChainPlan>&, bool, std::string& why) {
  why = "this build is without CUDA";
  return nullptr;
}

}  // namespace emomc
