// Statistics that gradient samplers record for their draws.
#ifndef EMOMC_DEVICE_DRAW_STATISTICS_HPP
#define EMOMC_DEVICE_DRAW_STATISTICS_HPP

namespace emomc::device {

/// A tree is doubled at most this often, so that a draw takes at most 1,023 leapfrogs (Stan's default).
inline constexpr int kMostDoublings = 10;

inline constexpr int kMostLeapfrogs = (1 << kMostDoublings) - 1;

/// Statistics of the trajectory that led to a draw.
struct DrawStatistics {
  double step_size;
  /// Acceptance probability of the end point; for a tree, the mean of min(1, exp(H_0 - H)) over its points.
  double acceptance;
  double energy;   ///< Hamiltonian H of the drawn point: kinetic energy less log density
  int tree_depth;  ///< number of completed doublings; 0 without a tree
  int num_leapfrogs;
  int divergent;  ///< 1: the trajectory reached a point with a much larger energy or without a finite one
  int reserved;
};

/// Sums over the draws of a chain since the current phase (warm-up or sampling) began.
struct TrajectoryTotals {
  double window_acceptance;    ///< sum of DrawStatistics::acceptance since the window of warm-up began
  double window_length_slope;  ///< sum of TrajectoryState::length_slope since the window of warm-up began
  double draws, acceptance, leapfrogs, divergences;
  double deepest;  ///< number of draws whose tree had kMostDoublings doublings
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_DRAW_STATISTICS_HPP
