// Replaces src/cuda in a build without CUDA.
#include "../engine_factories.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/likelihood/models.hpp"

namespace emomc {

namespace {
[[noreturn]] void refuse() {
  throw InputError("backend cuda: this emomc was built without CUDA; choose --backend cpu");
}
}  // namespace

std::unique_ptr<LikelihoodEngine> make_cuda_engine(const std::shared_ptr<const RowModel>&, Precision,
                                                   const DataSet&, Device&, Communicator*) {
  refuse();
}
template <class Model>
std::unique_ptr<LikelihoodEngine> make_mixture_cuda_engine(const Model&, Precision, const DataSet&, Device&,
                                                           Communicator*) {
  refuse();
}

#define EMOMC_INSTANTIATE(Model, Shape)                                \
  template std::unique_ptr<LikelihoodEngine> make_mixture_cuda_engine( \
      const device::Model&, Precision, const DataSet&, Device&, Communicator*);
EMOMC_MODELS(EMOMC_INSTANTIATE)

}  // namespace emomc
