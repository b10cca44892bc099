// Counts the utterances of each class and those that are recognised; unweighted average recall depends only
// on these counts.
#pragma once

#include <cstddef>
#include <vector>

#include "emomc/speech/scores.hpp"

namespace emomc {

class RecallCounts {
 public:
  explicit RecallCounts(int num_classes)
      : right_(static_cast<std::size_t>(num_classes)), total_(static_cast<std::size_t>(num_classes)) {}

  void add(int truth, bool is_right) {
    right_[static_cast<std::size_t>(truth)] += is_right ? 1 : 0;
    ++total_[static_cast<std::size_t>(truth)];
  }
  void add(const RecallCounts& other);
  /// The mean recall of the classes that occur; NaN if no class occurs.
  double uar() const;

 private:
  std::vector<std::size_t> right_, total_;
};

/// Throws std::invalid_argument for predictions that score() refuses.
void check(const Predictions& predictions);

/// The counts of each speaker number from 0 to the largest; a number without utterances has empty counts.
std::vector<RecallCounts> counts_by_speaker(const Predictions& predictions);

/// The central interval of `values` with probability `level`, by linear interpolation between order
/// statistics (type 7 of Hyndman and Fan 1996).
Interval central_interval(std::vector<double> values, double level);

}  // namespace emomc
