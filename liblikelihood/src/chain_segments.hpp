// The segments that each chain reads.
#pragma once

#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "emomc/core/likelihood_engine.hpp"

namespace emomc {

/// The segment lists of `chains`; throws std::invalid_argument for a segment that does not exist.
inline std::vector<std::vector<int>> chain_segments(const std::vector<ChainPlan>& chains,
                                                    std::size_t num_segments) {
  std::vector<std::vector<int>> lists;
  for (const auto& chain : chains) {
    for (int segment : chain.segments)
      if (segment < 0 || static_cast<std::size_t>(segment) >= num_segments)
        throw std::invalid_argument("chain " + std::to_string(chain.id) + ": segment " +
                                    std::to_string(segment) + " does not exist; there are " +
                                    std::to_string(num_segments));
    lists.push_back(chain.segments);
  }
  return lists;
}

}  // namespace emomc
