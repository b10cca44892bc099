// Launches that may begin before the kernel ahead of them in the stream has ended (programmatic dependent
// launch), which hides the time of a launch and of what a kernel can do without its predecessor's results.
// The host side is launch_kernel; each kernel launched so calls begin_overlapped().
#pragma once

#include <tuple>

#include "emomc/core/cuda_check.hpp"
#include "emomc/core/current_device.hpp"
#include "emomc/core/execution.hpp"
#include "emomc/device/overlap.cuh"

namespace emomc {

using device::begin_overlapped;

/// Whether a kernel may begin before the one ahead of it has ended.
enum class Overlap { no, yes };

/// Where and how a kernel is launched.
struct LaunchShape {
  dim3 grid, block;
  std::size_t shared_bytes = 0;  ///< of dynamic shared memory
};

/// Enqueues `kernel`, a function or a RuntimeKernel's, on the device of `stream`. Throws CudaError with
/// `name`.
inline void launch_function(const char* name, Overlap overlap, const void* kernel, const LaunchShape& shape,
                            Stream stream, void** arguments) {
  use_device_of(stream);
  constexpr std::size_t kAlwaysAllowed = 40 << 10;  // beside some static shared memory
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

/// Enqueues `kernel`; `shared_bytes` of dynamic shared memory. Throws CudaError.
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
