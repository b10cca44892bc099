#include "resident_nodes.hpp"

#include <algorithm>

namespace emomc {

ResidentNodes plan_nodes(const DeviceLikelihood& likelihood, const std::vector<ChainPlan>& chains,
                         int rows_per_lane, int log2_piece) {
  ResidentNodes result;
  const int node_rows = kNodeLanes * rows_per_lane;
  result.lists = chain_lists(chains, [&](std::size_t segment) -> SegmentSize {
    const auto count = static_cast<device::i64>(likelihood.segment_rows[segment]);
    const device::i64 first =
        static_cast<device::i64>(likelihood.segment_first_tile[segment]) * device::kTileRows;
    const device::i64 piece_rows = static_cast<device::i64>(node_rows) << log2_piece;
    const device::i64 end = (count + piece_rows - 1) / piece_rows * piece_rows;
    for (device::i64 row = 0; row < end; row += node_rows)
      result.nodes.push_back(
          {first + row, static_cast<int>(std::clamp<device::i64>(count - row, 0, node_rows))});
    return {static_cast<int>(end / node_rows), likelihood.segment_rows[segment]};
  });
  return result;
}

}  // namespace emomc
