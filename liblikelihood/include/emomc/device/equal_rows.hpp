// Counts the rows of a table that are equal to another row: rows are inserted into a hash table, a part of
// them at a time, so that the hash table is small compared with the rows.
#ifndef EMOMC_DEVICE_EQUAL_ROWS_HPP
#define EMOMC_DEVICE_EQUAL_ROWS_HPP

#include "emomc/device/array_table.hpp"

namespace emomc::device {

enum class Insertion { none, first, equal, full };

struct EqualRows {
  ArrayTable table;
  u32* slots;  ///< [mask + 1] slots of the hash table: 0, or the number of a row plus 1
  u64 mask;    ///< a power of two minus 1
  u64 part, num_parts;

  /// Inserts a row if it belongs to `part`. `swap(address, expected, desired)` is an atomic compare-and-swap
  /// that returns the previous value.
  template <class Swap>
  EMOMC_HD Insertion insert(i64 row, Swap swap) const {
    const u64 hash = hash_of(row);
    if ((hash >> 40) % num_parts != part) return Insertion::none;
    u64 at = hash & mask;
    for (u64 tries = 0; tries <= mask; ++tries, at = (at + 1) & mask) {
      u32 there = slots[at];
      if (there == 0) there = swap(slots + at, u32{0}, static_cast<u32>(row) + 1);
      if (there == 0) return Insertion::first;
      if (is_equal(static_cast<i64>(there) - 1, row)) return Insertion::equal;
    }
    return Insertion::full;
  }

 private:
  // Adding 0 turns -0 into 0.
  EMOMC_HD double number(i64 row, int j) const { return table(row, j) + 0.0; }
  EMOMC_HD u64 hash_of(i64 row) const {
    u64 hash = 0x9e3779b97f4a7c15UL;
    for (int j = 0; j < table.num_columns; ++j) {
      const double x = number(row, j);
      u64 bits;
      __builtin_memcpy(&bits, &x, sizeof bits);
      // The finaliser of SplitMix64 (Steele, Lea and Flood 2014).
      hash = (hash ^ bits) + 0x9e3779b97f4a7c15UL;
      hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9UL;
      hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebUL;
      hash ^= hash >> 31;
    }
    return hash;
  }
  EMOMC_HD bool is_equal(i64 a, i64 b) const {
    for (int j = 0; j < table.num_columns; ++j)
      if (number(a, j) != number(b, j)) return false;
    return true;
  }
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_EQUAL_ROWS_HPP
