// Replaces src/cuda in a build without CUDA.
#include "emomc/core/errors.hpp"
#include "mixture_moments.hpp"

namespace emomc {

template <class Model>
std::unique_ptr<MomentEngine> make_cuda_moments(const Model&, const DataSet&, Device&) {
  throw InputError("backend cuda: this emomc was built without CUDA; choose --backend cpu");
}

#define EMOMC_INSTANTIATE(Model, Shape) \
  template std::unique_ptr<MomentEngine> make_cuda_moments(const device::Model&, const DataSet&, Device&);
EMOMC_MODELS(EMOMC_INSTANTIATE)

}  // namespace emomc
