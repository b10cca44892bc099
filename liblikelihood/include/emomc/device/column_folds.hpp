// Folds that compute statistics of columns in one pass: over the rows of each block of kBlockRows rows in
// order, then over the blocks in order. Hosts and GPUs use this order and get the same bits. With up to
// kBlockRows rows the order is that of the rows alone.
// A fold is a type with a State, start(), and add(state, number, row, column).
#ifndef EMOMC_DEVICE_COLUMN_FOLDS_HPP
#define EMOMC_DEVICE_COLUMN_FOLDS_HPP

#include "emomc/device/integers.hpp"
#include "emomc/device/macros.hpp"

namespace emomc::device {

inline constexpr i64 kBlockRows = 1L << 20;

EMOMC_INLINE i64 num_blocks_of(i64 num_rows) { return (num_rows + kBlockRows - 1) / kBlockRows; }

inline constexpr i64 kNoRow = -1;

/// Range and mean of a block of a column.
struct ColumnFacts {
  double first, least, most, largest;  ///< `largest` is the largest absolute value
  double mean;
  i64 count;
  i64 first_not_finite;  ///< first row whose number is not finite, or kNoRow
};

struct FactsFold {
  using State = ColumnFacts;
  EMOMC_HD State start() const { return {0, 0, 0, 0, 0, 0, kNoRow}; }
  EMOMC_HD void add(State& s, double x, i64 row, int /*column*/) const {
    const double size = x < 0 ? -x : x;
    if (s.count == 0) {
      s.first = s.least = s.most = x;
      s.largest = size;
    }
    if (x < s.least) s.least = x;
    if (s.most < x) s.most = x;
    if (s.largest < size) s.largest = size;
    if (!(x - x == 0) && s.first_not_finite == kNoRow) s.first_not_finite = row;
    ++s.count;
    s.mean += (x - s.mean) / static_cast<double>(s.count);
  }
};

/// Sums of deviations from `mean` [columns], and of squared deviations.
struct DeviationFold {
  struct State {
    double squares, sum;
  };
  const double* mean;
  EMOMC_HD State start() const { return {0, 0}; }
  EMOMC_HD void add(State& s, double x, i64 /*row*/, int column) const {
    const double deviation = x - mean[column];
    s.squares += deviation * deviation;
    s.sum += deviation;
  }
};

struct SumFold {
  using State = double;
  EMOMC_HD State start() const { return 0; }
  EMOMC_HD void add(State& s, double x, i64 /*row*/, int /*column*/) const { s += x; }
};

/// The mean of `count` numbers with mean `mean` and `block_count` further numbers with mean `block_mean`.
EMOMC_INLINE double merged_mean(double mean, i64 count, double block_mean, i64 block_count) {
  if (count == 0) return block_mean;
  return mean +
         (block_mean - mean) * (static_cast<double>(block_count) / static_cast<double>(count + block_count));
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_COLUMN_FOLDS_HPP
