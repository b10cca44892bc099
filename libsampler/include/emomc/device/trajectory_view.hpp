// The data that gradient samplers read and write: the trajectory of each chain, in flat arrays.
#ifndef EMOMC_DEVICE_TRAJECTORY_VIEW_HPP
#define EMOMC_DEVICE_TRAJECTORY_VIEW_HPP

#include "emomc/device/draw_statistics.hpp"
#include "emomc/device/leapfrog.hpp"
#include "emomc/device/step_view.hpp"

namespace emomc::device {

/// A point whose energy exceeds the initial one by more than this is a divergence (Stan's constant).
inline constexpr double kDivergentError = 1000;

/// The state of the trajectory of one chain, without its vectors.
struct TrajectoryState {
  double initial_energy;
  double log_weight;          ///< log of the sum of exp(H_0 - H) over all points of the tree
  double subtree_log_weight;  ///< log of the sum of exp(H_0 - H) over the points of the new subtree
  double acceptance;          ///< sum over points, or value of the end point alone
  LogDensities sample, proposal;
  double sample_energy, proposal_energy;
  /// If the length is learnt: slope of its criterion at the end point, times the acceptance there.
  double length_slope;
  LeapfrogFactors leapfrog;  ///< factors of the draw's leapfrogs
  int direction;             ///< direction of time, 1 or -1
  int depth;                 ///< number of completed doublings
  int leaf;                  ///< number of points of the new subtree before the next one
  int length;                ///< number of leapfrogs of a trajectory without a tree
  int num_leapfrogs;
  int moved, divergent, fault;  ///< flags, 1 if true
};

/// An arc of a trajectory: the momenta at its two ends and the sum over all its points, [n] each.
struct Arc {
  const double *first, *last, *sum;
};

/// The vectors of a chain's trajectory, [n] each.
struct TrajectoryVectors {
  double* gradient;         ///< gradient of the log density at the chain's current point
  double* momentum;         ///< momentum at the moving point, whose u is the chain's candidate
  double* moving_gradient;  ///< gradient of the log density at the moving point
  double* work;
  // The next arrays exist for trees only.
  double* ends;  ///< 2 x 3 n: u, momentum, gradient at the backward and the forward end of the tree
  double* sum;   ///< sum of the momenta of the tree
  double *proposal_u, *proposal_gradient;  ///< proposal of the new subtree
  double* levels;  ///< kMostDoublings x 3 n: first, last, sum of the latest complete subtree of size 2^level

  /// `end`: 0 backward, 1 forward.
  EMOMC_INLINE double* end_u(int end, int n) const { return ends + end * 3 * n; }
  EMOMC_INLINE double* end_momentum(int end, int n) const { return ends + (end * 3 + 1) * n; }
  EMOMC_INLINE double* end_gradient(int end, int n) const { return ends + (end * 3 + 2) * n; }
  EMOMC_INLINE double* level_first(int level, int n) const { return levels + level * 3 * n; }
  EMOMC_INLINE double* level_last(int level, int n) const { return levels + (level * 3 + 1) * n; }
  EMOMC_INLINE double* level_sum(int level, int n) const { return levels + (level * 3 + 2) * n; }
  EMOMC_INLINE Arc level(int level, int n) const {
    return {level_first(level, n), level_last(level, n), level_sum(level, n)};
  }
};

inline constexpr int kPlainVectors = 4, kTreeVectors = 9 + 3 * kMostDoublings;
EMOMC_INLINE constexpr int trajectory_size(int n, bool has_tree) {
  return n * (kPlainVectors + (has_tree ? kTreeVectors : 0));
}

EMOMC_INLINE TrajectoryVectors vectors_in(double* memory, int n) {
  double* ends = memory + kPlainVectors * n;
  double* sum = ends + 6 * n;
  return {memory, memory + n, memory + 2 * n, memory + 3 * n, ends, sum, sum + n, sum + 2 * n, sum + 3 * n};
}

/// Everything that a gradient sampler reads and writes, passed by value to kernels; memory of the engine's
/// device.
struct TrajectoryView {
  StepView step;  ///< the candidates are the points at which density and gradient are evaluated
  double* vectors;
  int ld_vectors;               ///< `vectors` is num_chains x ld_vectors
  double* likelihood_gradient;  ///< num_chains x step.ld: gradient of the log likelihood at the candidates'
                                ///< theta
  double* scratch;
  int ld_scratch;              ///< `scratch` is num_chains x ld_scratch: scratch memory of
                               ///< gradient_of_density()
  TrajectoryState* states;     ///< [num_chains]
  TrajectoryTotals* totals;    ///< [num_chains]
  DrawStatistics* statistics;  ///< slots x num_chains, in the slots of StepView::record
  const i64* until;            ///< [1] number of steps after which a chain rests
  u8* active;                  ///< [num_chains] 1: the candidate's density and gradient are to be evaluated
};

/// A team's view of one chain's trajectory.
struct Trajectory {
  int chain;
  i64 step;
  RandomSource random;
  double beta, step_size;
  bool has_metric;       ///< whether the metric has been learnt, so that leapfrogs are fitted to it
  const double* length;  ///< adapted numbers at AdaptedLayout::length(), for kinds with an adapted length
  Metric metric;
  Workspace rows;
  TrajectoryVectors x;
};

/// Returns the view of a chain's trajectory at step `step`, which the chain has reached.
EMOMC_INLINE Trajectory trajectory_of(const TrajectoryView& v, int chain, i64 step) {
  const StepView& s = v.step;
  const int n = s.table.dim_unconstrained;
  const Workspace rows = rows_of(s, chain);
  const double* adapted = rows.adapted;
  return {chain,
          step,
          {s.seed, static_cast<u64>(step), s.chain_id[chain]},
          s.beta[chain],
          exp(adapted[s.adapted_layout.scale(0)]),
          adapted[s.adapted_layout.has_metric()] != 0,
          adapted + s.adapted_layout.length(),
          {s.shape, n, adapted + s.adapted_layout.sd(0), adapted + s.adapted_layout.dense(0)},
          rows,
          vectors_in(v.vectors + static_cast<i64>(chain) * v.ld_vectors, n)};
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_TRAJECTORY_VIEW_HPP
