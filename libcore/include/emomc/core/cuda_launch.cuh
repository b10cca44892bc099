// Launches that may begin before the kernel ahead of them in the stream has ended (programmatic dependent
// launch), which hides the time of a launch and of what a kernel can do without its predecessor's results.
// The host side is launch_kernel; each kernel launched so calls begin_overlapped().
#pragma once

#include "emomc/core/cuda_check.hpp"
#include "emomc/core/execution.hpp"

namespace emomc {

/// Waits until all earlier kernels have ended and their writes are visible, then lets the next one begin.
/// Every thread calls it once. Before it, a kernel may read what no kernel writes and, since this order holds
/// in every kernel, what was written by kernels ahead of the one before it.
__device__ inline void begin_overlapped() {
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
}

/// Whether a kernel may begin before the one ahead of it has ended.
enum class Overlap { no, yes };

/// Enqueues `kernel`; `shared_bytes` of dynamic shared memory, also beyond 48 KiB. Throws CudaError.
template <class... Parameters, class... Arguments>
void launch_kernel(const char* name, Overlap overlap, void (*kernel)(Parameters...), dim3 grid, dim3 block,
                   std::size_t shared_bytes, Stream stream, Arguments... arguments) {
  constexpr std::size_t kAlwaysAllowed = 48 << 10;
  if (shared_bytes > kAlwaysAllowed)
    EMOMC_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          static_cast<int>(shared_bytes)));
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = overlap == Overlap::yes ? 1 : 0;
  check_cuda(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...), name, __FILE__,
             __LINE__);
}

}  // namespace emomc
