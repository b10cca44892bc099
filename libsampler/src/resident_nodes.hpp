// The rows of chains as the kernel of resident_chain.cuh takes them: nodes of the tree of sums.
#pragma once

#include <vector>

#include "emomc/core/chain_lists.hpp"
#include "emomc/device/resident_layout.hpp"

namespace emomc {

/// Lanes of a warp; a node has as many times rows_per_lane rows.
inline constexpr int kNodeLanes = 32;

/// The leaves of the summation trees for all distinct segment lists of the chains. A segment is padded to
/// whole pieces of nodes, so that its last nodes may have no rows.
struct ResidentNodes {
  std::vector<device::RowNode> nodes;
  ChainLists lists;
};
ResidentNodes plan_nodes(const DeviceLikelihood& likelihood, const std::vector<ChainPlan>& chains,
                         int rows_per_lane, int log2_piece = 0);

}  // namespace emomc
