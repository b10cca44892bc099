// Kernels that read the flags of Device::capture_while().
#pragma once

#include <cuda_runtime_api.h>

#include "emomc/core/execution.hpp"

namespace emomc {

/// Enqueues a kernel in a conditional node's body: the node repeats the body if one of the flags is not 0.
void enqueue_condition(Flags flags, cudaGraphConditionalHandle node, Stream stream);
/// Enqueues a kernel that sets *again, device memory, to 1 if one of the flags is not 0, otherwise to 0.
void enqueue_condition(Flags flags, int* again, Stream stream);

}  // namespace emomc
