// CUDA's runtime works on the current device of the calling thread. Nothing here relies on which one that is:
// whatever enqueues work or asks for properties first says whose they are. Only for sources that are compiled
// with CUDA.
#pragma once

#include <cuda_runtime_api.h>

#include "emomc/core/cuda_check.hpp"
#include "emomc/core/execution.hpp"

namespace emomc {

/// The GPU of a stream that a Device has made; -1 for any other. CUDA's own question about a stream ends a
/// capture that is under way on it.
int gpu_of_stream(Stream stream) noexcept;

/// Makes the GPU of `stream`, a Device's, the current device of the calling thread.
inline void use_device_of(Stream stream) {
  const int wanted = gpu_of_stream(stream);
  if (wanted >= 0) EMOMC_CUDA_CHECK(cudaSetDevice(wanted));
}

}  // namespace emomc
