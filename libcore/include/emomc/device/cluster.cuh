// Barriers beyond __syncthreads, and the blocks of a thread block cluster (PTX ISA, "barrier",
// "barrier.cluster" and "mapa").
#ifndef EMOMC_DEVICE_CLUSTER_CUH
#define EMOMC_DEVICE_CLUSTER_CUH

#include "emomc/device/integers.hpp"

/// The number of blocks of a kernel's clusters; GPUs that have none take 1 alone.
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
/// All threads of all blocks; what any of them wrote to shared memory before is there for all after.
__device__ inline void sync_cluster() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
/// Writes to the place that `here`, in the own block's shared memory, has in block `rank`'s.
__device__ inline void store_in_block(double* here, u32 rank, double x) {
  u32 there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(there)
               : "r"(static_cast<u32>(__cvta_generic_to_shared(here))), "r"(rank));
  asm volatile("st.shared::cluster.f64 [%0], %1;" ::"r"(there), "d"(x) : "memory");
}
/// The number at the place that `here`, in the own block's shared memory, has in block `rank`'s.
__device__ inline double load_from_block(const double* here, u32 rank) {
  u32 there;
  double x;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(there)
               : "r"(static_cast<u32>(__cvta_generic_to_shared(here))), "r"(rank));
  asm volatile("ld.shared::cluster.f64 %0, [%1];" : "=d"(x) : "r"(there) : "memory");
  return x;
}
/// 16 bytes from the place that `here`, in the own block's shared memory, has in block `rank`'s, to `here`.
__device__ inline void fetch_from_block(void* here, u32 rank) {
  const auto own = static_cast<u32>(__cvta_generic_to_shared(here));
  u32 there;
  u64 a, b;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(own), "r"(rank));
  asm volatile("ld.shared::cluster.v2.u64 {%0, %1}, [%2];" : "=l"(a), "=l"(b) : "r"(there) : "memory");
  asm volatile("st.shared.v2.u64 [%0], {%1, %2};" ::"r"(own), "l"(a), "l"(b) : "memory");
}
/// A barrier that blocks of a cluster arrive at and one waits for (PTX ISA, "mbarrier"): `count` arrivals end
/// each of its phases. In shared memory; by one thread, a sync_cluster() before any arrival.
__device__ inline void make_arrivals(u64* barrier, u32 count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\nfence.mbarrier_init.release.cluster;" ::"r"(
                   static_cast<u32>(__cvta_generic_to_shared(barrier))),
               "r"(count)
               : "memory");
}
/// At block `rank`'s; what the thread wrote before is there for those who wait.
__device__ inline void arrive_in_block(u64* barrier, u32 rank) {
  u32 there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(there)
               : "r"(static_cast<u32>(__cvta_generic_to_shared(barrier))), "r"(rank));
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(there) : "memory");
}
/// For the end of a phase, 0 or 1 in turn.
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
/// Among `count` threads of the block; barrier 0 is __syncthreads, 1 to 4 are those of teams.
template <int id, int count>
__device__ inline void sync_some() {
  asm volatile("barrier.sync %0, %1;" ::"n"(id), "n"(count) : "memory");
}
/// The same for threads that do not wait: what they wrote before is visible to the threads that sync.
template <int id, int count>
__device__ inline void arrive_for_some() {
  asm volatile("barrier.arrive %0, %1;" ::"n"(id), "n"(count) : "memory");
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_CLUSTER_CUH
