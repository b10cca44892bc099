// A team of one warp, with the same sums as HostTeam, bit for bit. For small tasks, in which a block would
// mostly wait at its barriers.
#ifndef EMOMC_DEVICE_WARP_TEAM_CUH
#define EMOMC_DEVICE_WARP_TEAM_CUH

#include "emomc/device/team.hpp"

namespace emomc::device {

struct WarpTeam {
  static __device__ int size() { return 32; }
  static __device__ int rank() { return static_cast<int>(threadIdx.x) % 32; }
  __device__ void sync() const { __syncwarp(); }

  template <class T>
  __device__ void fetch(const T* from, T* to, int n) const {
    if (from == to) return;
    EMOMC_ROLLED
    for (int i = rank(); i < n; i += 32) to[i] = from[i];
  }
  __device__ void finish_fetches() const {}

  /// Up to 32 numbers; number i is in lane i.
  struct Lanes {
    double mine;
  };
  template <class F>
  __device__ Lanes lanes(int n, F f) const {
    return {rank() < n ? f(rank()) : 0.0};
  }
  template <class G>
  __device__ Lanes map(const Lanes& x, int n, G g) const {
    return {rank() < n ? g(x.mine, rank()) : 0.0};
  }
  __device__ double max_of(const Lanes& x, int n) const {
    double m = rank() < n ? x.mine : -__builtin_bit_cast(double, u64{0x7ff0000000000000ul});
#pragma unroll
    for (int stride = 16; stride > 0; stride /= 2)
      if (stride < n) m = larger(__shfl_xor_sync(kAll, m, stride), m);
    return __shfl_sync(kAll, m, 0);
  }
  __device__ double sum_of(const Lanes& x, int n) const {
    double sum = x.mine;
#pragma unroll
    for (int stride = 16; stride > 0; stride /= 2)
      if (stride < n) sum += __shfl_xor_sync(kAll, sum, stride);
    return __shfl_sync(kAll, sum, 0);
  }
  template <class T>
  __device__ void store(const Lanes& x, int n, T* to) const {
    if (rank() < n) to[rank()] = static_cast<T>(x.mine);
  }

  // The tree has kTeamLanes lanes, in groups of 32 that the warp adds one after the other.
  template <class F>
  __device__ double sum(int n, F f) const {
    double first = 0, last = 0;
    EMOMC_ROLLED
    for (int group = 0; group < kTeamLanes && group < n; group += 32) {
      double x = 0;
      EMOMC_ROLLED
      for (int i = group + rank(); i < n; i += kTeamLanes) x += f(i);
      const double sum = warp_sum(x);
      first += group < kTeamLanes / 2 ? sum : 0.0;
      last += group < kTeamLanes / 2 ? 0.0 : sum;
    }
    return first + last;
  }
  template <class F>
  __device__ TwoSums sum_two(int n, F f) const {
    TwoSums first{0, 0}, last{0, 0};
    EMOMC_ROLLED
    for (int group = 0; group < kTeamLanes && group < n; group += 32) {
      TwoSums x{0, 0};
      EMOMC_ROLLED
      for (int i = group + rank(); i < n; i += kTeamLanes) {
        const TwoSums y = f(i);
        x.a += y.a;
        x.b += y.b;
      }
      x = {warp_sum(x.a), warp_sum(x.b)};
      const bool is_first = group < kTeamLanes / 2;
      first.a += is_first ? x.a : 0.0;
      first.b += is_first ? x.b : 0.0;
      last.a += is_first ? 0.0 : x.a;
      last.b += is_first ? 0.0 : x.b;
    }
    return {first.a + last.a, first.b + last.b};
  }
  template <int kCount, class F>
  __device__ Sums<kCount> sum_many(int n, F f) const {
    Sums<kCount> first{}, last{};
    EMOMC_ROLLED
    for (int group = 0; group < kTeamLanes && group < n; group += 32) {
      Sums<kCount> x{};
      EMOMC_ROLLED
      for (int i = group + rank(); i < n; i += kTeamLanes) {
        const Sums<kCount> y = f(i);
#pragma unroll
        for (int k = 0; k < kCount; ++k) x.of[k] += y.of[k];
      }
      const bool is_first = group < kTeamLanes / 2;
#pragma unroll
      for (int k = 0; k < kCount; ++k) {
        const double sum = warp_sum(x.of[k]);
        first.of[k] += is_first ? sum : 0.0;
        last.of[k] += is_first ? 0.0 : sum;
      }
    }
#pragma unroll
    for (int k = 0; k < kCount; ++k) first.of[k] += last.of[k];
    return first;
  }
  template <class F>
  __device__ double max(int n, F f, double empty) const {
    double m = empty;
    EMOMC_ROLLED
    for (int i = rank(); i < n; i += 32) m = larger(f(i), m);
#pragma unroll
    for (int stride = 16; stride > 0; stride /= 2) m = larger(__shfl_xor_sync(kAll, m, stride), m);
    return m;
  }

 private:
  static constexpr unsigned kAll = 0xffffffffu;
  static __device__ double larger(double a, double b) { return a > b ? a : b; }
  static __device__ double warp_sum(double x) {
#pragma unroll
    for (int stride = 16; stride > 0; stride /= 2) x += __shfl_xor_sync(kAll, x, stride);
    return x;
  }
};

static_assert(kTeamLanes == 128);

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_WARP_TEAM_CUH
