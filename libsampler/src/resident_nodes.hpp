// The rows of chains in the form that the kernel of resident_chain.cuh reads: nodes of the tree of sums.
#pragma once

#include <vector>

#include "emomc/core/chain_lists.hpp"
#include "emomc/device/resident_layout.hpp"

namespace emomc {

/// Number of lanes of a warp; a node has rows_per_lane times this number of rows.
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
