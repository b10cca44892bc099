// Teams of kTeamLanes threads of a CUDA block, with the interface of HostTeam and the same sums, bit for bit.
#ifndef EMOMC_DEVICE_BLOCK_TEAM_CUH
#define EMOMC_DEVICE_BLOCK_TEAM_CUH

#include "emomc/device/team.hpp"

namespace emomc::device {

/// With one team, blockDim.x >= kTeamLanes and all threads of the block make the same calls; threads beyond
/// the team have no elements of their own but receive the results too. With several teams, blockDim.x =
/// kTeams x kTeamLanes; each kTeamLanes neighbouring threads are a team, which may diverge from the other
/// teams. `scratch`: kScratch doubles of shared memory per team, or kScratchOfMany if sum_many() is called.
template <int kTeams>
struct BlockTeams {
  static constexpr int kWarps = kTeamLanes / 32;
  static constexpr int kScratch = 3 * kWarps;
  /// The largest number of sums of sum_many(), and the size of `scratch` that it needs.
  static constexpr int kMostSums = 6, kScratchOfMany = kMostSums * kWarps;
  double* scratch;

  static __device__ int size() { return kTeamLanes; }
  /// Index of the calling thread's team in the block.
  static __device__ int index() { return static_cast<int>(threadIdx.x) / kTeamLanes; }
  static __device__ int rank() {
    if constexpr (kTeams > 1) return static_cast<int>(threadIdx.x) % kTeamLanes;
    return threadIdx.x < kTeamLanes ? static_cast<int>(threadIdx.x) : kNobody;
  }
  __device__ void sync() const {
    if constexpr (kTeams > 1)
      asm volatile("barrier.sync %0, %1;" ::"r"(1 + index()), "n"(kTeamLanes) : "memory");
    else
      __syncthreads();
  }

  /// Copies n elements asynchronously. `to` is in shared memory, or is `from` itself, in which case nothing
  /// is copied.
  template <class T>
  __device__ void fetch(const T* from, T* to, int n) const {
    static_assert(sizeof(T) % 8 == 0 && alignof(T) == 8);
    if (n == 0 || from == to) return;
    constexpr int kWords = sizeof(T) / 8;
    EMOMC_ROLLED
    for (int i = rank(); i < n; i += size())
      for (int word = 0; word < kWords; ++word)
        copy_ahead(reinterpret_cast<double*>(to + i) + word,
                   reinterpret_cast<const double*>(from + i) + word);
  }
  __device__ void finish_fetches() const { asm volatile("cp.async.wait_all;" ::: "memory"); }

  /// Up to 32 numbers, held by each warp: number i is in lane i.
  struct Lanes {
    double mine;
  };
  static __device__ int lane() { return static_cast<int>(threadIdx.x) % 32; }
  template <class F>
  __device__ Lanes lanes(int n, F f) const {
    return {lane() < n ? f(lane()) : 0.0};
  }
  template <class G>
  __device__ Lanes map(const Lanes& x, int n, G g) const {
    return {lane() < n ? g(x.mine, lane()) : 0.0};
  }
  __device__ double max_of(const Lanes& x, int n) const {
    double m = lane() < n ? x.mine : -__builtin_bit_cast(double, u64{0x7ff0000000000000ul});
#pragma unroll
    for (int stride = 16; stride > 0; stride /= 2)
      if (stride < n) m = larger(__shfl_xor_sync(0xffffffffu, m, stride), m);
    return __shfl_sync(0xffffffffu, m, 0);
  }
  // Levels of the tree at which only zeros would be added are skipped.
  __device__ double sum_of(const Lanes& x, int n) const {
    double sum = x.mine;
#pragma unroll
    for (int stride = 16; stride > 0; stride /= 2)
      if (stride < n) sum += __shfl_xor_sync(0xffffffffu, sum, stride);
    return __shfl_sync(0xffffffffu, sum, 0);
  }
  template <class T>
  __device__ void store(const Lanes& x, int n, T* to) const {
    if (rank() < n) to[rank()] = static_cast<T>(x.mine);
  }

  template <class F>
  __device__ double sum(int n, F f) const {
    double x = 0;
    EMOMC_ROLLED
    for (int i = rank(); i < n; i += kTeamLanes) x += f(i);
    put(0, warp_sum(x));
    sync();
    const double total = across(0);
    sync();
    return total;
  }

  template <class F>
  __device__ TwoSums sum_two(int n, F f) const {
    TwoSums x{0, 0};
    EMOMC_ROLLED
    for (int i = rank(); i < n; i += kTeamLanes) {
      const TwoSums y = f(i);
      x.a += y.a;
      x.b += y.b;
    }
    return sum_of_lanes(x);
  }
  template <int kCount, class F>
  __device__ Sums<kCount> sum_many(int n, F f) const {
    static_assert(kCount <= kMostSums);
    Sums<kCount> x{};
    EMOMC_ROLLED
    for (int i = rank(); i < n; i += kTeamLanes) {
      const Sums<kCount> y = f(i);
#pragma unroll
      for (int k = 0; k < kCount; ++k) x.of[k] += y.of[k];
    }
#pragma unroll
    for (int k = 0; k < kCount; ++k) put(k, warp_sum(x.of[k]));
    sync();
#pragma unroll
    for (int k = 0; k < kCount; ++k) x.of[k] = across(k);
    sync();
    return x;
  }
  /// Adds one TwoSums per member by the same tree over lanes as sum_two.
  __device__ TwoSums sum_of_lanes(TwoSums x) const {
    put(0, warp_sum(x.a));
    put(1, warp_sum(x.b));
    sync();
    x = {across(0), across(1)};
    sync();
    return x;
  }
  /// Returns whether `x` is true for some member; includes a sync().
  __device__ bool any(bool x) const {
    if constexpr (kTeams == 1) return __syncthreads_or(x);
    int result;
    asm volatile(
        "{\n.reg .pred own, some;\nsetp.ne.s32 own, %1, 0;\nbarrier.red.or.pred some, %2, %3, own;\n"
        "selp.s32 %0, 1, 0, some;\n}"
        : "=r"(result)
        : "r"(static_cast<int>(x)), "r"(1 + index()), "n"(kTeamLanes)
        : "memory");
    return result != 0;
  }

  template <class F>
  __device__ double max(int n, F f, double empty) const {
    double m = empty;
    EMOMC_ROLLED
    for (int i = rank(); i < n; i += kTeamLanes) m = larger(f(i), m);
    put(0, warp_max(m));
    sync();
    m = larger(larger(scratch[0], scratch[1]), larger(scratch[2], scratch[3]));
    sync();
    return m;
  }

 private:
  static constexpr int kNobody = 1 << 30;
  /// Copies from global to shared memory without passing through a register.
  static __device__ void copy_ahead(double* to, const double* from) {
    asm volatile(
        "cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(static_cast<u32>(__cvta_generic_to_shared(to))),
        "l"(from)
        : "memory");
  }
  static __device__ double larger(double a, double b) { return a > b ? a : b; }
  static __device__ double warp_sum(double x) {
    for (int stride = 16; stride > 0; stride /= 2) x += __shfl_down_sync(0xffffffffu, x, stride);
    return x;
  }
  static __device__ double warp_max(double x) {
    for (int stride = 16; stride > 0; stride /= 2) x = larger(__shfl_xor_sync(0xffffffffu, x, stride), x);
    return x;
  }
  __device__ void put(int which, double x) const {
    if (rank() < kTeamLanes && rank() % 32 == 0) scratch[which * kWarps + rank() / 32] = x;
  }
  __device__ double across(int which) const {
    const double* s = scratch + which * kWarps;
    return (s[0] + s[1]) + (s[2] + s[3]);
  }
};

using BlockTeam = BlockTeams<1>;

static_assert(kTeamLanes == 128);

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_BLOCK_TEAM_CUH
