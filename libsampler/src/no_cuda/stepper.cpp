// Stands in for src/cuda where the build has no CUDA: no Device of that kind exists then.
#include "../stepper.hpp"

namespace emomc {

std::unique_ptr<Stepper> make_cuda_stepper(const std::string&, Stream) { return nullptr; }

}  // namespace emomc
