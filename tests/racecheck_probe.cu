// Shows whether compute-sanitizer's racecheck reports a hazard that does not exist. scripts/test-gpu.sh runs
// racecheck on this program before it trusts racecheck with a kernel whose named barriers some of the block's
// threads join and others do not (resident_chain.cuh). One thread writes, __syncthreads, all threads read,
// __syncthreads: there is no hazard. With an argument, three quarters of the threads first meet at a named
// barrier, around no access at all, which cannot cause a hazard.
#include <cstdio>

namespace {

constexpr int kThreads = 512, kSome = 384, kRounds = 20;

template <bool partial_barriers>
__global__ void probe(int* out) {
  __shared__ int shared;
  int sum = 0;
#pragma unroll 1
  for (int i = 0; i < kRounds; ++i) {
    if (partial_barriers && threadIdx.x < kSome) asm volatile("barrier.sync 4, %0;" ::"n"(kSome) : "memory");
    if (threadIdx.x == 0) shared = i;
    __syncthreads();
    sum += shared;
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}

}  // namespace

int main(int count, char**) {
  int* out = nullptr;
  cudaError_t error = cudaMalloc(&out, kThreads * sizeof(int));
  if (error == cudaSuccess) {
    if (count > 1)
      probe<true><<<1, kThreads>>>(out);
    else
      probe<false><<<1, kThreads>>>(out);
    error = cudaDeviceSynchronize();
  }
  if (error != cudaSuccess) std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  cudaFree(out);
  return error != cudaSuccess;
}
