// Teams: the threads that work together on one chain. A team has `size` members; code for a team runs in
// every member and has loops of the form `for (int i = team.rank(); i < n; i += team.size())`.
//
// Reductions have one fixed order for every kind of team: kTeamLanes strided accumulators, then a balanced
// tree over the lanes (16, 8, 4, 2, 1 inside groups of 32, then neighbouring groups). Thus a sum has the same
// bits from a host thread and from a block of 128 threads.
#ifndef EMOMC_DEVICE_TEAM_HPP
#define EMOMC_DEVICE_TEAM_HPP

#include "emomc/device/integers.hpp"
#include "emomc/device/macros.hpp"

namespace emomc::device {

inline constexpr int kTeamLanes = 128;

struct TwoSums {
  double a, b;
};
/// The results of kCount sums that a team computes together.
template <int kCount>
struct Sums {
  double of[kCount];
};
/// The largest count of numbers that reductions over Lanes accept.
inline constexpr int kMostLanes = 32;

/// A team of one host thread. The device's counterpart is BlockTeam (block_team.cuh).
struct HostTeam {
  static constexpr int size() { return 1; }
  static constexpr int rank() { return 0; }
  void sync() const {}

  /// Begins to copy n values to `to`, which is in nearer memory or is `from` itself. A member may read its
  /// own elements (rank, rank + size, ...) after finish_fetches, and those of other members after a sync that
  /// follows.
  template <class T>
  void fetch(const T* from, T* to, int n) const {
    if (from == to) return;
    for (int i = 0; i < n; ++i) to[i] = from[i];
  }
  void finish_fetches() const {}

  /// n <= kMostLanes numbers f(i), which every member can use without a sync; f must not have side effects.
  struct Lanes {
    double of[kMostLanes];
  };
  template <class F>
  Lanes lanes(int n, F f) const {
    Lanes x{};
    for (int i = 0; i < n; ++i) x.of[i] = f(i);
    return x;
  }
  /// Returns the numbers g(x_i, i).
  template <class G>
  Lanes map(const Lanes& x, int n, G g) const {
    return lanes(n, [&](int i) { return g(x.of[i], i); });
  }
  double max_of(const Lanes& x, int n) const {
    double m = x.of[0];
    for (int i = 1; i < n; ++i) m = x.of[i] > m ? x.of[i] : m;
    return m;
  }
  /// Returns the sum of the numbers, with the same bits as sum().
  double sum_of(const Lanes& x, int n) const {
    return sum(n, [&](int i) { return x.of[i]; });
  }
  /// Stores to[i] = x_i; each element is stored by one member.
  template <class T>
  void store(const Lanes& x, int n, T* to) const {
    for (int i = 0; i < n; ++i) to[i] = static_cast<T>(x.of[i]);
  }

  /// Returns the sum of f(i) for i < n to every member.
  template <class F>
  double sum(int n, F f) const {
    if (n <= kFewLanes) return sum_of_few<1>(n, [&](int i) { return Sums<1>{f(i)}; }).of[0];
    double lane[kTeamLanes] = {};
    for (int i = 0; i < n; ++i) lane[i % kTeamLanes] += f(i);
    return tree(lane);
  }

  /// Returns two sums at once: f(i) returns TwoSums.
  template <class F>
  TwoSums sum_two(int n, F f) const {
    if (n <= kFewLanes) {
      const Sums<2> sums = sum_of_few<2>(n, [&](int i) {
        const TwoSums x = f(i);
        return Sums<2>{x.a, x.b};
      });
      return {sums.of[0], sums.of[1]};
    }
    double a[kTeamLanes] = {}, b[kTeamLanes] = {};
    for (int i = 0; i < n; ++i) {
      const TwoSums x = f(i);
      a[i % kTeamLanes] += x.a;
      b[i % kTeamLanes] += x.b;
    }
    return {tree(a), tree(b)};
  }

  /// Returns kCount sums at once: f(i) returns Sums; each sum has the bits of sum().
  template <int kCount, class F>
  Sums<kCount> sum_many(int n, F f) const {
    if (n <= kFewLanes) return sum_of_few<kCount>(n, f);
    Sums<kCount> result;
    double lanes[kCount][kTeamLanes] = {};
    for (int i = 0; i < n; ++i) {
      const Sums<kCount> x = f(i);
      for (int k = 0; k < kCount; ++k) lanes[k][i % kTeamLanes] += x.of[k];
    }
    for (int k = 0; k < kCount; ++k) result.of[k] = tree(lanes[k]);
    return result;
  }

  /// Returns the maximum of f(i) for i < n, or `empty` if n is 0.
  template <class F>
  double max(int n, F f, double empty) const {
    double m = empty;
    for (int i = 0; i < n; ++i) {
      const double x = f(i);
      m = x > m ? x : m;
    }
    return m;
  }

 private:
  static constexpr int kFewLanes = 32;
  /// Returns the sums that lanes and tree() give for n <= kFewLanes: the omitted additions add 0, and no lane
  /// is -0. Only as many lanes as the tree has are set.
  template <int kCount, class F>
  static Sums<kCount> sum_of_few(int n, F f) {
    Sums<kCount> lanes[kFewLanes];
    int width = 1;
    while (width < n) width *= 2;
    for (int i = 0; i < n; ++i) {
      const Sums<kCount> x = f(i);
      for (int k = 0; k < kCount; ++k) lanes[i].of[k] = 0.0 + x.of[k];
    }
    for (int i = n; i < width; ++i) lanes[i] = {};
    for (int stride = width / 2; stride > 0; stride /= 2)
      for (int i = 0; i < stride; ++i)
        for (int k = 0; k < kCount; ++k) lanes[i].of[k] += lanes[i + stride].of[k];
    return lanes[0];
  }
  static double tree(double (&lane)[kTeamLanes]) {
    for (int group = 0; group < kTeamLanes; group += 32)
      for (int stride = 16; stride > 0; stride /= 2)
        for (int i = 0; i < stride; ++i) lane[group + i] += lane[group + i + stride];
    return (lane[0] + lane[32]) + (lane[64] + lane[96]);
  }
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_TEAM_HPP
