// Replaces src/cuda in a build without CUDA.
#include "emomc/core/errors.hpp"
#include "emomc/likelihood/device_table.hpp"

namespace emomc {

namespace {
[[noreturn]] void refuse() {
  throw InputError(
      "data: an array of a GPU, and this emomc was built without CUDA; allowed: a copy of it in the host's "
      "memory");
}
}  // namespace

// NOLINTBEGIN(performance-unnecessary-value-param): as where there is CUDA
std::shared_ptr<const DeviceTable> make_device_table(int, std::size_t, std::vector<ArrayColumn>,
                                                     std::shared_ptr<const void>) {
  refuse();
}
// NOLINTEND(performance-unnecessary-value-param)
int gpu_of_address(const void*) { refuse(); }

}  // namespace emomc
