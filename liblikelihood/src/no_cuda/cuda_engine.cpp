// Replaces src/cuda in a build without CUDA.
#include "../engine_factories.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/likelihood/models.hpp"

namespace emomc {

template <class Model>
std::unique_ptr<LikelihoodEngine> make_cuda_engine(const Model&, Precision, const DataSet&, Device&) {
  throw InputError("backend cuda: this emomc was built without CUDA; choose --backend cpu");
}

#define EMOMC_INSTANTIATE(Model)                                                               \
  template std::unique_ptr<LikelihoodEngine> make_cuda_engine(const device::Model&, Precision, \
                                                              const DataSet&, Device&);
EMOMC_MODELS(EMOMC_INSTANTIATE)

}  // namespace emomc
