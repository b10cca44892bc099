// Replaces src/cuda in a build without CUDA, where no Device of that kind exists.
#include "../stepper.hpp"

namespace emomc {

std::unique_ptr<Stepper> make_cuda_stepper(const std::string&, Stream) { return nullptr; }

}  // namespace emomc
