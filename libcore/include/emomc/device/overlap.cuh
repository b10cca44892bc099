// Device side of kernels that begin before the preceding kernel in the stream has ended (programmatic
// dependent launch; PTX ISA, "griddepcontrol"). The host launches such kernels with Overlap::yes
// (core/cuda_launch.cuh).
#ifndef EMOMC_DEVICE_OVERLAP_CUH
#define EMOMC_DEVICE_OVERLAP_CUH

namespace emomc::device {

/// Waits until all earlier kernels have ended and their writes are visible. Every thread calls this once.
/// Before the call, a kernel may read data that no kernel writes. If the kernel directly before it waits
/// before it lets the next kernel begin, as begin_overlapped() does, it may also read data written by kernels
/// that precede that one.
__device__ inline void wait_for_kernels_ahead() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
/// Lets the next kernel begin; that kernel waits for the end of this one where it needs its results.
__device__ inline void let_next_kernel_begin() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}
/// Calls wait_for_kernels_ahead() and let_next_kernel_begin().
__device__ inline void begin_overlapped() {
  wait_for_kernels_ahead();
  let_next_kernel_begin();
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_OVERLAP_CUH
