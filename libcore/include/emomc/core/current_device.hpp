// Selection of the current CUDA device. CUDA's runtime acts on the current device of the calling thread; code
// that enqueues work or reads properties must first select the device, because nothing else guarantees which
// one is current. Only for sources that are compiled with CUDA.
#pragma once

#include <cuda_runtime_api.h>

#include "emomc/core/cuda_check.hpp"
#include "emomc/core/execution.hpp"

namespace emomc {

/// Index of the GPU of a stream that a Device has made; -1 for any other stream. CUDA's own query is avoided
/// because it would end a capture that is under way on the stream.
int gpu_of_stream(Stream stream) noexcept;

/// Makes the GPU of `stream`, which a Device has made, the current device of the calling thread.
inline void use_device_of(Stream stream) {
  const int wanted = gpu_of_stream(stream);
  if (wanted >= 0) EMOMC_CUDA_CHECK(cudaSetDevice(wanted));
}

}  // namespace emomc
