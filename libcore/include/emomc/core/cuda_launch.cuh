// Kernel launches that may begin before the preceding kernel in the stream has ended (programmatic dependent
// launch). The overlap hides the launch latency and the part of a kernel that needs no results of its
// predecessor. The host calls launch_kernel; each kernel launched this way calls begin_overlapped().
#pragma once

#include <tuple>

#include "emomc/core/cuda_check.hpp"
#include "emomc/core/current_device.hpp"
#include "emomc/core/execution.hpp"
#include "emomc/device/overlap.cuh"

namespace emomc {

using device::begin_overlapped;

/// Whether a kernel may begin before the preceding kernel in the stream has ended.
enum class Overlap { no, yes };

/// Grid, block and dynamic shared memory of a launch.
struct LaunchShape {
  dim3 grid, block;
  std::size_t shared_bytes = 0;  ///< size of the dynamic shared memory
};

/// Enqueues `kernel`, a function or a RuntimeKernel's handle, on the device of `stream`. Throws CudaError
/// with `name` in its message.
inline void launch_function(const char* name, Overlap overlap, const void* kernel, const LaunchShape& shape,
                            Stream stream, void** arguments) {
  use_device_of(stream);
  constexpr std::size_t kAlwaysAllowed = 40 << 10;  // leaves room for static shared memory below CUDA's
                                                    // default of 48 KiB
  if (shape.shared_bytes > kAlwaysAllowed)
    EMOMC_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          static_cast<int>(shape.shared_bytes)));
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = overlap == Overlap::yes ? 1 : 0;
  check_cuda(cudaLaunchKernelExC(&config, kernel, arguments), name, __FILE__, __LINE__);
}

/// Enqueues `kernel` with `shared_bytes` bytes of dynamic shared memory. Throws CudaError with `name` in its
/// message.
template <class... Parameters, class... Arguments>
void launch_kernel(const char* name, Overlap overlap, void (*kernel)(Parameters...), dim3 grid, dim3 block,
                   std::size_t shared_bytes, Stream stream, Arguments... arguments) {
  std::tuple<Parameters...> values(static_cast<Parameters>(arguments)...);
  std::apply(
      [&](auto&... value) {
        void* pointers[] = {const_cast<void*>(static_cast<const void*>(&value))...};
        launch_function(name, overlap, reinterpret_cast<const void*>(kernel), {grid, block, shared_bytes},
                        stream, pointers);
      },
      values);
}

}  // namespace emomc
