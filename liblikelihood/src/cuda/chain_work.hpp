// Tables in device memory of the tiles that each chain reads and of the order in which sums are added.
#pragma once

#include <vector>

#include "emomc/core/chain_lists.hpp"
#include "emomc/device/tile_layout.hpp"
#include "emomc/likelihood/data_set.hpp"

namespace emomc {

/// Lists of the tiles that chains read; chains with equal segments share a list. Appends the tiles of one
/// list after the other to `tiles`, unless that is null. `segment_first_tile` is as in TiledData. Throws
/// std::invalid_argument for a segment that does not exist.
ChainLists tile_lists(const std::vector<ChainPlan>& chains, const std::vector<Segment>& segments,
                      const std::vector<int>& segment_first_tile, std::vector<int>* tiles = nullptr);

/// The tables; they are built once for each allocate().
class ChainWork {
 public:
  ChainWork() = default;
  ChainWork(Device& device, const std::vector<ChainPlan>& chains, const std::vector<Segment>& segments,
            const std::vector<int>& segment_first_tile);

  device::ChainWorkView view() const;
  int max_tiles() const { return max_tiles_; }
  int max_segments() const { return max_segments_; }
  int num_chains() const { return static_cast<int>(lists_.list_of_chain.size()); }

 private:
  DeviceChainLists lists_;  ///< lists whose leaves are tiles
  DeviceArray<int> tiles_;
  int max_tiles_ = 0, max_segments_ = 0;
  bool uniform_ = false;
  double uniform_rows_ = 0;
};

}  // namespace emomc
