// How many utterances of each class there are and how many are recognised: all that recall depends on.
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
  /// Mean of the recalls of the classes that occur; NaN where none does.
  double uar() const;

 private:
  std::vector<std::size_t> right_, total_;
};

/// Throws std::invalid_argument for what score() refuses.
void check(const Predictions& predictions);

/// Counts of each speaker number, empty ones among them.
std::vector<RecallCounts> counts_by_speaker(const Predictions& predictions);

/// Central interval of `values`, by linear interpolation between order statistics (type 7 of Hyndman and Fan
/// 1996).
Interval central_interval(std::vector<double> values, double level);

}  // namespace emomc
