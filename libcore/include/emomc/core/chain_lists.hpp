// Groups chains by the segments that they read. Chains with equal segments share one list; the leaves of a
// list are the nodes with which a kernel's tree of sums begins (tiles or parts of tiles).
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "emomc/core/likelihood_engine.hpp"

namespace emomc {

/// Throws std::invalid_argument if a chain names a segment that does not exist.
inline void check_segments(const std::vector<ChainPlan>& chains, std::size_t num_segments) {
  for (const auto& chain : chains)
    for (const int segment : chain.segments)
      if (segment < 0 || static_cast<std::size_t>(segment) >= num_segments)
        throw std::invalid_argument("chain " + std::to_string(chain.id) + ": segment " +
                                    std::to_string(segment) + " does not exist; there are " +
                                    std::to_string(num_segments));
}

/// Numbers of leaves and of rows of one segment.
struct SegmentSize {
  int num_leaves;
  std::size_t num_rows;
};

/// The tables of all lists, as kernels read them (ListSegments of device/row_sums.cuh).
struct ChainLists {
  std::vector<int> list_of_chain;     ///< [num_chains]
  std::vector<int> first_leaf{0};     ///< [num_lists + 1]
  std::vector<int> first_segment{0};  ///< [num_lists + 1] into segment_first
  /// [number of entries] The first leaf of each segment within its list; each list ends with its number of
  /// leaves.
  std::vector<int> segment_first;
  std::vector<double> num_rows;          ///< [num_lists]
  int max_leaves = 0, max_segments = 0;  ///< largest numbers of leaves and segments of one list
  std::size_t num_lists() const { return num_rows.size(); }
};

/// Builds the lists of `chains`. `add_segment(s)` is called once for each segment of each list, in order; the
/// callback returns the segment's SegmentSize and may record its leaves.
template <class AddSegment>
ChainLists chain_lists(const std::vector<ChainPlan>& chains, const AddSegment& add_segment) {
  ChainLists lists;
  std::map<std::vector<int>, int> known;
  for (const auto& chain : chains) {
    const auto [entry, is_new] = known.try_emplace(chain.segments, static_cast<int>(known.size()));
    lists.list_of_chain.push_back(entry->second);
    if (!is_new) continue;
    int num_leaves = 0;
    double rows = 0;
    for (const int segment : chain.segments) {
      lists.segment_first.push_back(num_leaves);
      const SegmentSize size = add_segment(static_cast<std::size_t>(segment));
      num_leaves += size.num_leaves;
      rows += static_cast<double>(size.num_rows);
    }
    lists.segment_first.push_back(num_leaves);
    lists.first_leaf.push_back(lists.first_leaf.back() + num_leaves);
    lists.first_segment.push_back(static_cast<int>(lists.segment_first.size()));
    lists.num_rows.push_back(rows);
    lists.max_leaves = std::max(lists.max_leaves, num_leaves);
    lists.max_segments = std::max(lists.max_segments, static_cast<int>(chain.segments.size()));
  }
  return lists;
}

/// The tables of ChainLists in device memory.
struct DeviceChainLists {
  DeviceArray<int> list_of_chain, first_leaf, first_segment, segment_first;
  DeviceArray<double> num_rows;

  DeviceChainLists() = default;
  DeviceChainLists(Device& device, const ChainLists& lists)
      : list_of_chain(device, lists.list_of_chain.size()),
        first_leaf(device, lists.first_leaf.size()),
        first_segment(device, lists.first_segment.size()),
        segment_first(device, lists.segment_first.size()),
        num_rows(device, lists.num_rows.size()) {
    list_of_chain.upload(lists.list_of_chain);
    first_leaf.upload(lists.first_leaf);
    first_segment.upload(lists.first_segment);
    segment_first.upload(lists.segment_first);
    num_rows.upload(lists.num_rows);
  }
};

}  // namespace emomc
