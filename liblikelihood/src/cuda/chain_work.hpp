// Which tiles each chain reads and in which order their sums are taken: tables in device memory.
#pragma once

#include <vector>

#include "emomc/core/execution.hpp"
#include "emomc/core/likelihood_engine.hpp"
#include "emomc/device/tile_layout.hpp"
#include "emomc/likelihood/data_set.hpp"

namespace emomc {

/// The tables, built once per allocate().
class ChainWork {
 public:
  ChainWork() = default;
  /// `segment_first_tile` as in TiledData. Throws std::invalid_argument for a segment that does not exist.
  ChainWork(Device& device, const std::vector<ChainPlan>& chains, const std::vector<Segment>& segments,
            const std::vector<int>& segment_first_tile);

  device::ChainWorkView view() const;
  int max_tiles() const { return max_tiles_; }
  int max_segments() const { return max_segments_; }
  int num_chains() const { return static_cast<int>(list_of_chain_.size()); }

 private:
  DeviceArray<int> list_of_chain_, first_tile_, tiles_, first_segment_, segment_first_;
  DeviceArray<double> num_rows_;
  int max_tiles_ = 0, max_segments_ = 0;
  bool uniform_ = false;
  double uniform_rows_ = 0;
};

}  // namespace emomc
