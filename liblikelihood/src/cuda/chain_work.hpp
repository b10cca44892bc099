// Which tiles each chain reads and in which order their sums are taken: tables in device memory.
#pragma once

#include <vector>

#include "emomc/core/execution.hpp"
#include "emomc/core/likelihood_engine.hpp"
#include "emomc/likelihood/data_set.hpp"

namespace emomc {

/// What kernels read; all pointers are device memory.
struct ChainWorkView {
  const int* list_of_chain;  ///< [num_chains] chains with equal segments share a list
  const int* first_tile;     ///< [num_lists + 1] into `tiles`
  const int* tiles;          ///< of all lists, segment after segment
  const int* first_segment;  ///< [num_lists + 1] into `segment_first`
  const int* segment_first;  ///< for each segment of each list: position of its first tile in the list,
                             ///< one more at each list's end (so num_segments + num_lists entries)
  const double* num_rows;    ///< [num_lists]
  int max_tiles;             ///< of a list
  int max_segments;          ///< of a list
  bool uniform;              ///< all chains read all tiles, as one segment: no table need be looked at
  double uniform_rows;
};

/// The tables, built once per allocate().
class ChainWork {
 public:
  ChainWork() = default;
  /// `segment_first_tile` as in TiledData. Throws std::invalid_argument for a segment that does not exist.
  ChainWork(Device& device, const std::vector<ChainPlan>& chains, const std::vector<Segment>& segments,
            const std::vector<int>& segment_first_tile);

  ChainWorkView view() const;
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
