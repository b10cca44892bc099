// Turns failures of CUDA calls into exceptions. Only for .cu files and for sources that are compiled with
// CUDA.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "emomc/core/errors.hpp"

namespace emomc {

/// Throws CudaError with the call, its file and line, and CUDA's error text unless `status` is cudaSuccess.
inline void check_cuda(cudaError_t status, const char* call, const char* file, int line) {
  if (status == cudaSuccess) return;
  throw CudaError(std::string(call) + " failed at " + file + ":" + std::to_string(line) + ": " +
                      cudaGetErrorName(status) + ": " + cudaGetErrorString(status),
                  static_cast<int>(status));
}

}  // namespace emomc

#define EMOMC_CUDA_CHECK(call) ::emomc::check_cuda((call), #call, __FILE__, __LINE__)
/// To be used after a kernel launch: reports a bad launch configuration at once.
#define EMOMC_CUDA_CHECK_LAUNCH(kernel) \
  ::emomc::check_cuda(cudaGetLastError(), "launch of " kernel, __FILE__, __LINE__)
