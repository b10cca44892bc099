// CUDA's runtime works on the current device of the calling thread. Nothing here relies on which one that is:
// whatever enqueues work or asks for properties first says whose they are. Only for sources that are compiled
// with CUDA.
#pragma once

#include <cuda_runtime_api.h>

#include "emomc/core/cuda_check.hpp"
#include "emomc/core/execution.hpp"

namespace emomc {

/// Makes the GPU of `stream` the current device of the calling thread.
inline void use_device_of(Stream stream) {
  int wanted = 0, current = 0;
  if (cudaStreamGetDevice(stream, &wanted) != cudaSuccess) {
    cudaGetLastError();  // a driver before CUDA 12.8; there is one GPU then, or each thread has its own
    return;
  }
  EMOMC_CUDA_CHECK(cudaGetDevice(&current));
  if (current != wanted) EMOMC_CUDA_CHECK(cudaSetDevice(wanted));
}

}  // namespace emomc
