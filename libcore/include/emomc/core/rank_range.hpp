// How things are divided among ranks.
#pragma once

#include <algorithm>
#include <cstddef>

namespace emomc {

/// The contiguous part of `count` things that a rank has: all ranks have equal parts, the first ones one more
/// where they do not come out even.
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
