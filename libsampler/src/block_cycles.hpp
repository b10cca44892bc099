// A cost model for the ways to run a block of a step on a GPU; plan_resident() takes the cheapest.
#pragma once

#include <algorithm>
#include <cmath>

#include "emomc/core/likelihood_engine.hpp"
#include "emomc/device/resident_layout.hpp"

namespace emomc {

// Cycles per decided block of a step, fitted to measurements on an H200 (8 components of 13 columns in
// float32, 100 to 20,000 rows, acceptance rate 0.23 to 0.27). Only the order of the results matters.
struct BlockCycles {
  bool is_whole;        // a step has one block, which changes all parameters
  double rows_like_it;  // rows of the measured model that cost as much as one row of this model

  BlockCycles(const DeviceLikelihood& likelihood, int num_blocks)
      : is_whole(num_blocks == 1),
        rows_like_it(likelihood.cost_of_row / 216.0 * (likelihood.real == "float" ? 1 : 2)) {}

  // Returns the cycles for the sums of segments. Each segment is summed by one warp. All warps share the
  // segments, except in the form `lines`, in which one warp sums the segments of a line.
  static double segments_of(int count) { return count > 1 ? 350.0 * count : 0; }

  double ahead(int rows, int segments) const {
    constexpr int kWarps = 16;
    const double proposals = (is_whole ? 14'500 : 9'800) + 2.0 * rows_like_it * rows;
    // concurrent with the proposals
    const double likelihood = (is_whole ? 8'000 : 5'500) + 5.0 * rows_like_it * rows;
    return std::max(proposals, likelihood) + segments_of(segments) / kWarps;
  }
  double of_lines(int rows, int segments, int lines) const {
    const double turn = (is_whole ? 11'500 + 300 * lines : 8'000 + 800 * lines) + 3.5 * rows_like_it * rows +
                        segments_of(segments);
    return turn * turns(lines);
  }
  // In the wide form each thread block evaluates all lines.
  double wide(int rows, int segments, int lines) const {
    const double turn = (is_whole ? 13'400 : 9'500) + 2'300 * lines + 3.2 * rows_like_it * rows * lines +
                        segments_of(segments);
    return turn * turns(lines);
  }

  // Time for a thread block that serves `chains` chains, whose work overlaps; fitted to 128 to 512 chains of
  // up to 20,000 rows. `outside`: the number of rows in device memory; their latency is hidden in full
  // evaluations, but not in evaluations of one component.
  double of_teams(int rows, int outside, int segments, int chains, bool caches) const {
    const bool kept = caches && !is_whole;
    const double proposals = is_whole ? 15'000 + 1'700 * chains : 10'000 + 1'300 * chains;
    const double row = kept ? 5.6 + 0.55 * chains : 4.0 + 1.75 * chains;
    return proposals + (row * rows + (kept ? 0.5 * chains * outside : 0)) * rows_like_it +
           segments_of(segments) * chains / device::kTeamWarps;
  }
  // Separate kernels for the parts of a step; `rows` is the total over all chains per multiprocessor.
  double launched(double rows, int chains, bool caches) const {
    const bool kept = caches && !is_whole;
    return 30'000 + (kept ? 45 : 40) * chains + (kept ? 1.75 : 2.5) * rows_like_it * rows;
  }

 private:
  // Turns per decided block: a turn's candidates are useful up to and including the first accepted one.
  static double turns(int lines) {
    constexpr double kAcceptance = 0.234;
    return lines == 1 ? 1.0 : kAcceptance / (1 - std::pow(1 - kAcceptance, lines));
  }
};

}  // namespace emomc
