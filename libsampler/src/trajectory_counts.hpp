// The host's copy of the counts of gradient samplers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "chain_share.hpp"
#include "emomc/device/draw_statistics.hpp"
#include "emomc/sampler/run_chains.hpp"
#include "trajectories.hpp"

namespace emomc {

class TrajectoryCounts {
 public:
  /// `share` must outlive the object.
  TrajectoryCounts(Trajectories& trajectories, const ChainShare& share, std::size_t num_chains)
      : arrays_(trajectories.arrays()), share_(share), totals_(num_chains) {}

  /// Sets the totals to those after a segment.
  void update(const device::TrajectoryTotals* totals) { totals_.assign(totals, totals + totals_.size()); }
  void add_evaluations(std::uint64_t count) { earlier_evaluations_ += count; }

  /// Number of evaluations, including those of the runs that this run continues.
  std::uint64_t evaluations() const;
  TrajectorySummary summary() const;
  /// Mean of DrawStatistics::acceptance since the current phase began; 0 without draws.
  double mean_acceptance() const;

  /// [num_chains] sums of acceptance statistics over the draws of the current window; window_length_slope()
  /// returns those of length slopes.
  std::vector<double> window_acceptance() const;
  std::vector<double> window_length_slope() const;
  void begin_window();
  void begin_phase();

  /// The next functions save and restore the last num_saved() numbers of SamplerState::adaptation, which
  /// follow those of the WarmUp.
  std::size_t num_saved() const;
  void append_to(std::vector<double>& saved) const;
  void restore(std::span<const double> saved, std::uint64_t evaluations);

 private:
  double sum(double device::TrajectoryTotals::*part) const;

  void upload();

  TrajectoryArrays& arrays_;
  const ChainShare& share_;
  std::vector<device::TrajectoryTotals> totals_;  ///< [num_chains] totals of the chains of all ranks
  std::uint64_t earlier_evaluations_ = 0;         ///< evaluations before the leapfrogs in totals_
};

}  // namespace emomc
