#include "chain_work.hpp"

#include <algorithm>
#include <map>

#include "../chain_segments.hpp"

namespace emomc {
namespace {

template <class T>
DeviceArray<T> to_device(Device& device, const std::vector<T>& values) {
  DeviceArray<T> array(device, values.size());
  array.upload(values);
  return array;
}

}  // namespace

ChainWork::ChainWork(Device& device, const std::vector<ChainPlan>& chains,
                     const std::vector<Segment>& segments, const std::vector<int>& segment_first_tile) {
  std::map<std::vector<int>, int> lists;
  std::vector<int> list_of_chain, first_tile{0}, tiles, first_segment{0}, segment_first;
  std::vector<double> num_rows;
  for (const auto& wanted : chain_segments(chains, segments.size())) {
    const auto [entry, is_new] = lists.try_emplace(wanted, static_cast<int>(lists.size()));
    list_of_chain.push_back(entry->second);
    if (!is_new) continue;
    double rows = 0;
    const int begin = first_tile.back();
    for (int segment : wanted) {
      const auto s = static_cast<std::size_t>(segment);
      segment_first.push_back(static_cast<int>(tiles.size()) - begin);
      for (int tile = segment_first_tile[s]; tile < segment_first_tile[s + 1]; ++tile) tiles.push_back(tile);
      rows += static_cast<double>(segments[s].num_rows);
    }
    segment_first.push_back(static_cast<int>(tiles.size()) - begin);
    first_tile.push_back(static_cast<int>(tiles.size()));
    first_segment.push_back(static_cast<int>(segment_first.size()));
    num_rows.push_back(rows);
    max_tiles_ = std::max(max_tiles_, first_tile.back() - begin);
    max_segments_ = std::max(max_segments_, static_cast<int>(wanted.size()));
  }
  uniform_ = lists.size() == 1 && segments.size() == 1 && max_segments_ == 1 && max_tiles_ > 0;
  uniform_rows_ = num_rows.empty() ? 0 : num_rows[0];
  list_of_chain_ = to_device(device, list_of_chain);
  first_tile_ = to_device(device, first_tile);
  tiles_ = to_device(device, tiles);
  first_segment_ = to_device(device, first_segment);
  segment_first_ = to_device(device, segment_first);
  num_rows_ = to_device(device, num_rows);
}

device::ChainWorkView ChainWork::view() const {
  return {list_of_chain_.data(),
          first_tile_.data(),
          tiles_.data(),
          first_segment_.data(),
          segment_first_.data(),
          num_rows_.data(),
          max_tiles_,
          max_segments_,
          uniform_,
          uniform_rows_};
}

}  // namespace emomc
