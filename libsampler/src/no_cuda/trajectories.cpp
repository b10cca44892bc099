// Replaces src/cuda in a build without CUDA, where no Device of that kind exists.
#include "../trajectories.hpp"

namespace emomc {

std::unique_ptr<Trajectories> make_cuda_trajectories(const std::string&, LikelihoodEngine&, const Ensemble&,
                                                     RecordLayout, RepeatedBy) {
  return nullptr;
}

}  // namespace emomc
