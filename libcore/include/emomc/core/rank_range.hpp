// Division of items, such as chains or rows, among ranks.
#pragma once

#include <algorithm>
#include <cstddef>

namespace emomc {

/// The contiguous part of `count` items that belongs to a rank: parts are equal, or the first ranks have one
/// item more if `count` is not a multiple of the number of ranks.
struct RankRange {
  std::size_t first = 0, end = 0;
  std::size_t size() const { return end - first; }
};
inline RankRange range_of_rank(std::size_t count, int rank, int size) {
  const auto r = static_cast<std::size_t>(rank), n = static_cast<std::size_t>(size);
  const std::size_t each = count / n, more = count % n;
  const auto begin_of = [&](std::size_t k) { return k * each + std::min(k, more); };
  return {begin_of(r), begin_of(r + 1)};
}

}  // namespace emomc
