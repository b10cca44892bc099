// Kernels that begin before the kernel ahead of them in the stream has ended (programmatic dependent launch;
// PTX ISA, "griddepcontrol"). The host launches them with Overlap::yes (core/cuda_launch.cuh).
#ifndef EMOMC_DEVICE_OVERLAP_CUH
#define EMOMC_DEVICE_OVERLAP_CUH

namespace emomc::device {

/// Waits until all earlier kernels have ended and their writes are visible. Every thread calls it once.
/// Before it, a kernel may read what no kernel writes and, since this order holds in every kernel, what was
/// written by kernels ahead of the one before it.
__device__ inline void wait_for_kernels_ahead() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
/// Lets the next kernel begin, which waits for this one to end where it needs its results.
__device__ inline void let_next_kernel_begin() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}
/// Both.
__device__ inline void begin_overlapped() {
  wait_for_kernels_ahead();
  let_next_kernel_begin();
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_OVERLAP_CUH
