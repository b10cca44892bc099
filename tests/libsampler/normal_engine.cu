#include "emomc/core/cuda_launch.cuh"
#include "normal_engine.hpp"

namespace emomc::testing {
namespace {

__global__ void normal_kernel(NormalTask task) {
  begin_overlapped();
  const int index = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (index < task.active.count) evaluate_normal(task, index);
}

}  // namespace

void enqueue_normal(const NormalTask& task, Stream stream) {
  constexpr int kThreads = 32;
  if (task.active.count == 0) return;
  launch_kernel("launch of normal_kernel", Overlap::yes, normal_kernel,
                dim3(static_cast<unsigned>((task.active.count + kThreads - 1) / kThreads)), dim3(kThreads), 0,
                stream, task);
}

}  // namespace emomc::testing
