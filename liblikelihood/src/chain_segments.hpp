// Lists the segments that each chain reads, for engines that evaluate each chain by itself.
#pragma once

#include <vector>

#include "emomc/core/chain_lists.hpp"

namespace emomc {

/// The segment lists of `chains`; throws std::invalid_argument for a segment that does not exist.
inline std::vector<std::vector<int>> chain_segments(const std::vector<ChainPlan>& chains,
                                                    std::size_t num_segments) {
  check_segments(chains, num_segments);
  std::vector<std::vector<int>> lists;
  for (const auto& chain : chains) lists.push_back(chain.segments);
  return lists;
}

}  // namespace emomc
