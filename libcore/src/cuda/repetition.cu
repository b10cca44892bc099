#include "emomc/core/cuda_launch.cuh"
#include "repetition.hpp"

namespace emomc {
namespace {

constexpr int kThreads = 256;

__device__ int is_one_set(Flags flags) {
  int any = 0;
  for (int i = static_cast<int>(threadIdx.x); i < flags.count; i += kThreads) any |= flags.values[i];
  return __syncthreads_or(any) ? 1 : 0;
}

__global__ void __launch_bounds__(kThreads)
    conditional_node_kernel(Flags flags, cudaGraphConditionalHandle node) {
  const int again = is_one_set(flags);
  if (threadIdx.x == 0) cudaGraphSetConditional(node, static_cast<unsigned>(again));
}

__global__ void __launch_bounds__(kThreads) repetition_kernel(Flags flags, int* again) {
  const int value = is_one_set(flags);
  if (threadIdx.x == 0) *again = value;
}

}  // namespace

void enqueue_condition(Flags flags, cudaGraphConditionalHandle node, Stream stream) {
  launch_kernel("launch of conditional_node_kernel", Overlap::no, conditional_node_kernel, dim3(1),
                dim3(kThreads), 0, stream, flags, node);
}

void enqueue_condition(Flags flags, int* again, Stream stream) {
  launch_kernel("launch of repetition_kernel", Overlap::no, repetition_kernel, dim3(1), dim3(kThreads), 0,
                stream, flags, again);
}

}  // namespace emomc
