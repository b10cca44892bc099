// How long a block of a step takes by each way of running it, of which plan_resident() takes the shortest.
#pragma once

#include <algorithm>
#include <cmath>

#include "emomc/core/likelihood_engine.hpp"
#include "emomc/device/resident_layout.hpp"

namespace emomc {

// Cycles for each block of a step that is decided on, fitted to times on an H200 (8 components of 13 columns
// in float32, 100 to 20,000 rows, acceptance 0.23 to 0.27). Only which one is least matters.
struct BlockCycles {
  bool is_whole;        // a step has one block, in which everything changes
  double rows_like_it;  // of that model, which take as long as one of this

  BlockCycles(const DeviceLikelihood& likelihood, int num_blocks)
      : is_whole(num_blocks == 1),
        rows_like_it(likelihood.num_coefficients / 216.0 * (likelihood.real == "float" ? 1 : 2)) {}

  // A segment's sum is one of a warp: all warps take them in turn, of a line one warp does.
  static double segments_of(int count) { return count > 1 ? 350.0 * count : 0; }

  double ahead(int rows, int segments) const {
    constexpr int kWarps = 16;
    const double proposals = (is_whole ? 14'500 : 9'800) + 2.0 * rows_like_it * rows;
    const double likelihood = (is_whole ? 8'000 : 5'500) + 5.0 * rows_like_it * rows;  // beside them
    return std::max(proposals, likelihood) + segments_of(segments) / kWarps;
  }
  double of_lines(int rows, int segments, int lines) const {
    const double turn = (is_whole ? 11'500 + 300 * lines : 8'000 + 800 * lines) + 3.5 * rows_like_it * rows +
                        segments_of(segments);
    return turn * turns(lines);
  }
  // Each block evaluates all lines.
  double wide(int rows, int segments, int lines) const {
    const double turn = (is_whole ? 13'400 : 9'500) + 2'300 * lines + 3.2 * rows_like_it * rows * lines +
                        segments_of(segments);
    return turn * turns(lines);
  }

  // Of `chains` chains of a block, which overlap; 128 to 512 on up to 20,000 rows, as below. `outside`: of
  // the rows those in device memory, which are hidden behind full evaluations, but not behind a component's.
  double of_teams(int rows, int outside, int segments, int chains, bool caches) const {
    const bool kept = caches && !is_whole;
    const double proposals = is_whole ? 15'000 + 1'700 * chains : 10'000 + 1'300 * chains;
    const double row = kept ? 5.6 + 0.55 * chains : 4.0 + 1.75 * chains;
    return proposals + (row * rows + (kept ? 0.5 * chains * outside : 0)) * rows_like_it +
           segments_of(segments) * chains / device::kTeamWarps;
  }
  // Kernels of their own; `rows` of all chains, for each multiprocessor.
  double launched(double rows, int chains, bool caches) const {
    const bool kept = caches && !is_whole;
    return 30'000 + (kept ? 45 : 40) * chains + (kept ? 1.75 : 2.5) * rows_like_it * rows;
  }

 private:
  // For each block that is decided on: candidates are of use up to the first one that is accepted.
  static double turns(int lines) {
    constexpr double kAcceptance = 0.234;
    return lines == 1 ? 1.0 : kAcceptance / (1 - std::pow(1 - kAcceptance, lines));
  }
};

}  // namespace emomc
