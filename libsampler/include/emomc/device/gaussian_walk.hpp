// Random walk Metropolis with Gaussian increments (Metropolis et al. 1953; scaling after Roberts, Gelman
// and Gilks 1997), over all free parameters at once or block by block.
#ifndef EMOMC_DEVICE_GAUSSIAN_WALK_HPP
#define EMOMC_DEVICE_GAUSSIAN_WALK_HPP

#include "emomc/device/schedule.hpp"

namespace emomc::device {

/// Draws standard normal numbers to z[begin ..) of the block; pairs are counted from `first`.
template <class Team>
EMOMC_HD void draw_normals(const Team& team, const RandomSource& random, Purpose purpose, u32 first,
                           const ProposalBlock& block, double* z) {
  const int begin = block.begin, end = begin + block.size;
  EMOMC_ROLLED
  for (int pair = begin / 2 + team.rank(); 2 * pair < end; pair += team.size()) {
    const NormalPair normals = random.normal_pair(purpose, first + static_cast<u32>(pair));
    if (2 * pair >= begin) z[2 * pair] = normals.even;
    if (2 * pair + 1 < end) z[2 * pair + 1] = normals.odd;
  }
}

/// Returns row i of L v, summed from column 0 on; f(j) is element j of v. Several elements of L are loaded at
/// a time, because on a GPU they are in device memory. The loop has no branches, because a branch would make
/// the loads wait for each other.
template <class F>
EMOMC_INLINE double lower_row(const double* factor, int n, F f, int i) {
  constexpr int kAtATime = 8;
  const double* row = factor + i;
  double sum = 0;
  int j = 0;
  EMOMC_ROLLED
  for (; j + kAtATime <= i + 1; j += kAtATime) {
    double l[kAtATime];
    EMOMC_UNROLL
    for (int k = 0; k < kAtATime; ++k) l[k] = row[(j + k) * n];
    EMOMC_UNROLL
    for (int k = 0; k < kAtATime; ++k) sum += l[k] * f(j + k);
  }
  double l[kAtATime];
  EMOMC_UNROLL
  for (int k = 0; k < kAtATime; ++k) l[k] = row[(j + k < i ? j + k : i) * n];
  EMOMC_UNROLL
  for (int k = 0; k < kAtATime; ++k) {
    const double next = sum + l[k] * f(j + k < i ? j + k : i);
    sum = j + k <= i ? next : sum;
  }
  return sum;
}

/// Computes out = L v, where L is lower triangular, [n x n] column-major, and f(j) is element j of v. Each
/// element is summed by columns from the first on. It is not specified which member writes an element; a sync
/// must follow before others read it.
template <class Team, class F>
EMOMC_HD void lower_multiply_by(const Team& team, const double* factor, int n, F f, double* out) {
  // Each member takes a short row and a long one, so that all members have equal work.
  EMOMC_ROLLED
  for (int i = team.rank(); 2 * i < n; i += team.size()) {
    out[i] = lower_row(factor, n, f, i);
    if (n - 1 - i != i) out[n - 1 - i] = lower_row(factor, n, f, n - 1 - i);
  }
}

/// Computes the same sums column by column, so that the processor's vector units add several rows at once.
template <class F>
inline void lower_multiply_by(const HostTeam&, const double* factor, int n, F f, double* __restrict out) {
  for (int i = 0; i < n; ++i) out[i] = 0;
  for (int j = 0; j < n; ++j) {
    const double v = f(j);
    const double* column = factor + static_cast<i64>(j) * n;
    for (int i = j; i < n; ++i) out[i] += column[i] * v;
  }
}

template <class Team>
EMOMC_HD void lower_multiply(const Team& team, const double* factor, int n, const double* z, double* out) {
  lower_multiply_by(
      team, factor, n, [=](int j) { return z[j]; }, out);
}

/// Computes lower_row for kColumns vectors at once, with the same bits for each: element j of vector c is z[j
/// kColumns + c]. write(c, sum) receives the sums.
template <int kColumns, class Write>
EMOMC_INLINE void lower_row_of_columns(const double* factor, int n, const double* z, int i, Write write) {
  constexpr int kAtATime = 8;
  const double* row = factor + i;
  double sum[kColumns] = {};
  int j = 0;
  EMOMC_ROLLED
  for (; j + kAtATime <= i + 1; j += kAtATime) {
    double l[kAtATime];
    EMOMC_UNROLL
    for (int k = 0; k < kAtATime; ++k) l[k] = row[(j + k) * n];
    EMOMC_UNROLL
    for (int k = 0; k < kAtATime; ++k) {
      EMOMC_UNROLL
      for (int c = 0; c < kColumns; ++c) sum[c] += l[k] * z[(j + k) * kColumns + c];
    }
  }
  double l[kAtATime];
  EMOMC_UNROLL
  for (int k = 0; k < kAtATime; ++k) l[k] = row[(j + k < i ? j + k : i) * n];
  EMOMC_UNROLL
  for (int k = 0; k < kAtATime; ++k) {
    const double* with = z + (j + k < i ? j + k : i) * kColumns;
    EMOMC_UNROLL
    for (int c = 0; c < kColumns; ++c) {
      const double next = sum[c] + l[k] * with[c];
      sum[c] = j + k <= i ? next : sum[c];
    }
  }
  EMOMC_UNROLL
  for (int c = 0; c < kColumns; ++c) write(c, sum[c]);
}

/// candidate = u + scale L z on the block, where z is standard normal and L is 1, diag(sd) or the Cholesky
/// factor.
template <Division kDivision>
struct GaussianWalk : Phase {
  static constexpr Division division = kDivision;
  static constexpr Need need = kDivision == Division::by_component ? Need::increment : Need::value;

  /// Draws the increment; only the factor L of a dense shape is left to apply().
  template <class Team>
  EMOMC_HD static void innovate(const Team& team, const RandomSource& random, const InnovationView& view,
                                const Innovation& innovation) {
    const double scale = exp(view.adapted[view.layout.scale(view.block_index)]);
    const int begin = view.block.begin, end = begin + view.block.size;
    const u32 first = first_number(view, num_pairs(view));
    const auto put = [&](int i, double z) {
      const double sd = view.shape == IncrementShape::diagonal ? view.adapted[view.layout.sd(i)] : 1.0;
      innovation.main[i] = scale * (sd * z);
    };
    EMOMC_ROLLED
    for (int pair = begin / 2 + team.rank(); 2 * pair < end; pair += team.size()) {
      const NormalPair z = random.normal_pair(Purpose::innovation, first + static_cast<u32>(pair));
      if (2 * pair >= begin) put(2 * pair, z.even);
      if (2 * pair + 1 < end) put(2 * pair + 1, z.odd);
    }
  }

  template <class Team>
  EMOMC_HD static double apply(const Team& team, const ProposalView& view) {
    const ProposalBlock& block = view.adapted.block;
    const double* z = view.innovation.main + block.begin;
    const double* factor = view.adapted.dense + block.dense_offset;
    double* candidate = view.candidate + block.begin;
    const bool dense = view.adapted.shape == IncrementShape::dense;
    if (dense) {
      lower_multiply(team, factor, block.size, z, candidate);
      team.sync();
    }
    EMOMC_ROLLED
    for (int i = team.rank(); i < block.size; i += team.size())
      candidate[i] = view.u[block.begin + i] + (dense ? candidate[i] : z[i]);
    return 0.0;  // symmetric
  }
};

using WalkByComponent = GaussianWalk<Division::by_component>;

struct RandomWalk {
  static constexpr const char* name = "random_walk";
  static constexpr ShapeLearning learning = ShapeLearning::as_asked;
  using Phases = Schedule<GaussianWalk<Division::whole>>;
};
struct ComponentWise {
  static constexpr const char* name = "component_wise";
  static constexpr ShapeLearning learning = ShapeLearning::as_asked;
  using Phases = Schedule<WalkByComponent>;
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_GAUSSIAN_WALK_HPP
