// Replaces src/cuda in a build without CUDA.
#include "../device_ranks.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/core/execution.hpp"

namespace emomc {

std::vector<CudaDeviceInfo> list_cuda_devices() { return {}; }

bool built_with_cuda() { return false; }

std::string name_among_gpus(Device&) { return {}; }

std::unique_ptr<Device> make_cuda_device(int) {
  throw InputError(
      "backend cuda: this emomc was built without CUDA; choose --backend cpu, or build with "
      "CUDA 12.4 or newer (README.md)");
}

}  // namespace emomc
