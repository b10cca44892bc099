// Data structures that host and device share for the kernels of node_sums.cuh.
#ifndef EMOMC_DEVICE_NODE_LAYOUT_HPP
#define EMOMC_DEVICE_NODE_LAYOUT_HPP

#include "emomc/device/active_set.hpp"
#include "emomc/device/integers.hpp"

namespace emomc::device {

inline constexpr int kNodeThreads = 128;

/// Two numbers of a table: first tile and number of tiles of a node; rank and index of a place; or the
/// indices of the two numbers of an addition.
struct IntPair {
  int first, second;
};

/// Tables of lists of segments; all pointers are device memory.
struct NodeTables {
  const int* list_of_chain;  ///< [num_chains]
  const int* first_node;     ///< [num_lists + 1] into `nodes`
  const IntPair* nodes;      ///< nodes of this rank
  const int* first_place;    ///< [num_lists + 1] into `places`
  const IntPair* places;     ///< places of the nodes of all ranks; rank -1: the number is zero
  const int* first_add;      ///< [num_lists + 1] into `adds`
  const IntPair* adds;       ///< indices (to, from); from -1: a zero is added
  const int* results;        ///< [num_lists] index of the sum among the list's numbers; -1: the sum is 0
  const double* num_rows;    ///< [num_lists] rows of all ranks
  int width;                 ///< numbers of a record
};

/// Arguments of both kernels; all pointers are device memory.
struct NodeSumsView {
  NodeTables tables;
  ActiveSet active;
  int rank;
  double* tile_sums;  ///< num_chains x sums_per_chain; overwritten
  i64 sums_per_chain;
  int log2_per_tile;       ///< log2 of the number of sums of a tile; negative: a sum covers several tiles
  double* records;         ///< ranks x active chains x tables.width
  const double* common;    ///< [num_chains]
  double* log_likelihood;  ///< [num_chains]
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_NODE_LAYOUT_HPP
