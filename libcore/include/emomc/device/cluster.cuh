// Barriers other than __syncthreads, and communication between the blocks of a thread block cluster (PTX ISA,
// "barrier", "barrier.cluster" and "mapa").
#ifndef EMOMC_DEVICE_CLUSTER_CUH
#define EMOMC_DEVICE_CLUSTER_CUH

#include "emomc/device/integers.hpp"

/// Sets the number of blocks of a kernel's clusters; without effect on GPUs that have no clusters, where only
/// 1 is allowed.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define EMOMC_CLUSTER(blocks) __cluster_dims__(blocks, 1, 1)
#else
#define EMOMC_CLUSTER(blocks)
#endif

namespace emomc::device {

__device__ inline u32 cluster_rank() {
  u32 rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ inline u32 cluster_size() {
  u32 size;
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  return size;
}
/// The two parts of sync_cluster(), between which a warp may do other work.
__device__ inline void arrive_at_cluster() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
__device__ inline void wait_for_cluster() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
/// Barrier of all threads of all blocks of the cluster; after it, all of them see what any of them wrote to
/// shared memory before.
__device__ inline void sync_cluster() {
  arrive_at_cluster();
  wait_for_cluster();
}
/// Writes x to the address in the shared memory of block `rank` that corresponds to `here` in this block's.
__device__ inline void store_in_block(double* here, u32 rank, double x) {
  u32 there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(there)
               : "r"(static_cast<u32>(__cvta_generic_to_shared(here))), "r"(rank));
  asm volatile("st.shared::cluster.f64 [%0], %1;" ::"r"(there), "d"(x) : "memory");
}
/// Reads the number at the address in the shared memory of block `rank` that corresponds to `here` in this
/// block's.
__device__ inline double load_from_block(const double* here, u32 rank) {
  u32 there;
  double x;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(there)
               : "r"(static_cast<u32>(__cvta_generic_to_shared(here))), "r"(rank));
  asm volatile("ld.shared::cluster.f64 %0, [%1];" : "=d"(x) : "r"(there) : "memory");
  return x;
}
/// Copies 16 bytes to `here`, in this block's shared memory, from the corresponding address in block
/// `rank`'s.
__device__ inline void fetch_from_block(void* here, u32 rank) {
  const auto own = static_cast<u32>(__cvta_generic_to_shared(here));
  u32 there;
  u64 a, b;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(own), "r"(rank));
  asm volatile("ld.shared::cluster.v2.u64 {%0, %1}, [%2];" : "=l"(a), "=l"(b) : "r"(there) : "memory");
  asm volatile("st.shared.v2.u64 [%0], {%1, %2};" ::"r"(own), "l"(a), "l"(b) : "memory");
}
/// Initialises a barrier in shared memory at which blocks of a cluster arrive and for which one block waits
/// (PTX ISA, "mbarrier"); `count` arrivals end each phase. One thread must call this, and a sync_cluster()
/// must follow before any arrival.
__device__ inline void make_arrivals(u64* barrier, u32 count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\nfence.mbarrier_init.release.cluster;" ::"r"(
                   static_cast<u32>(__cvta_generic_to_shared(barrier))),
               "r"(count)
               : "memory");
}
/// Arrives at the barrier of block `rank`; what the thread wrote before is visible to the threads that wait
/// for the barrier.
__device__ inline void arrive_in_block(u64* barrier, u32 rank) {
  u32 there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(there)
               : "r"(static_cast<u32>(__cvta_generic_to_shared(barrier))), "r"(rank));
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(there) : "memory");
}
/// Waits for the end of a phase; phases have the numbers 0 and 1 in turn.
__device__ inline void wait_for_arrivals(u64* barrier, u32 phase) {
  u32 done;
  do
    asm volatile(
        "{\n.reg .pred p;\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n}"
        : "=r"(done)
        : "r"(static_cast<u32>(__cvta_generic_to_shared(barrier))), "r"(phase)
        : "memory");
  while (done == 0);
}
/// Barrier of `count` threads of the block. Barrier 0 is __syncthreads; barriers 1 to 4 are those of teams.
template <int id, int count>
__device__ inline void sync_some() {
  asm volatile("barrier.sync %0, %1;" ::"n"(id), "n"(count) : "memory");
}
/// Arrives at the barrier of sync_some() without waiting: what the thread wrote before is visible to the
/// threads that call sync_some().
template <int id, int count>
__device__ inline void arrive_for_some() {
  asm volatile("barrier.arrive %0, %1;" ::"n"(id), "n"(count) : "memory");
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_CLUSTER_CUH
