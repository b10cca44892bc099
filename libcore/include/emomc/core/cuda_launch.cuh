// Launches that may begin before the kernel ahead of them in the stream has ended (programmatic dependent
// launch), which hides the time of a launch. The host side is launch_overlapped; each kernel launched so
// calls begin_overlapped() before it reads what earlier kernels wrote.
#pragma once

#include "emomc/core/cuda_check.hpp"
#include "emomc/core/execution.hpp"

namespace emomc {

/// Lets the next kernel begin, then waits until all earlier ones have ended and their writes are visible.
/// Every thread calls it once. Before it, only memory that no kernel writes may be read.
__device__ inline void begin_overlapped() {
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
}

/// Enqueues `kernel`; `shared_bytes` of dynamic shared memory, also beyond 48 KiB. Throws CudaError.
template <class... Parameters, class... Arguments>
void launch_overlapped(const char* name, void (*kernel)(Parameters...), dim3 grid, dim3 block,
                       std::size_t shared_bytes, Stream stream, Arguments... arguments) {
  constexpr std::size_t kAlwaysAllowed = 48 << 10;
  if (shared_bytes > kAlwaysAllowed)
    EMOMC_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          static_cast<int>(shared_bytes)));
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &overlap;
  config.numAttrs = 1;
  check_cuda(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...), name, __FILE__,
             __LINE__);
}

}  // namespace emomc
