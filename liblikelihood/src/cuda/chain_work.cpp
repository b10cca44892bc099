#include "chain_work.hpp"

namespace emomc {

ChainLists tile_lists(const std::vector<ChainPlan>& chains, const std::vector<Segment>& segments,
                      const std::vector<int>& segment_first_tile, std::vector<int>* tiles) {
  check_segments(chains, segments.size());
  return chain_lists(chains, [&](std::size_t s) -> SegmentSize {
    const int first = segment_first_tile[s], end = segment_first_tile[s + 1];
    for (int tile = first; tiles && tile < end; ++tile) tiles->push_back(tile);
    return {end - first, segments[s].num_rows};
  });
}

ChainWork::ChainWork(Device& device, const std::vector<ChainPlan>& chains,
                     const std::vector<Segment>& segments, const std::vector<int>& segment_first_tile) {
  std::vector<int> tiles;
  const ChainLists lists = tile_lists(chains, segments, segment_first_tile, &tiles);
  max_tiles_ = lists.max_leaves;
  max_segments_ = lists.max_segments;
  uniform_ = lists.num_lists() == 1 && segments.size() == 1 && max_segments_ == 1 && max_tiles_ > 0;
  uniform_rows_ = lists.num_rows.empty() ? 0 : lists.num_rows[0];
  lists_ = {device, lists};
  tiles_ = {device, tiles.size()};
  tiles_.upload(tiles);
}

device::ChainWorkView ChainWork::view() const {
  return {lists_.list_of_chain.data(),
          lists_.first_leaf.data(),
          tiles_.data(),
          lists_.first_segment.data(),
          lists_.segment_first.data(),
          lists_.num_rows.data(),
          max_tiles_,
          max_segments_,
          uniform_,
          uniform_rows_};
}

}  // namespace emomc
