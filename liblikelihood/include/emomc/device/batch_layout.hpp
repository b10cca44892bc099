// What host and device agree on about batch_kernel.cuh.
#ifndef EMOMC_DEVICE_BATCH_LAYOUT_HPP
#define EMOMC_DEVICE_BATCH_LAYOUT_HPP

#include "emomc/device/integers.hpp"
#include "emomc/device/row_likelihood.hpp"

namespace emomc::device {

enum class BatchWork {
  full,       ///< all components
  component,  ///< one component differs: sums of the others from where they are kept
};

/// How rows come to the threads.
enum class BatchRows {
  loaded,    ///< when their turn comes: other blocks work meanwhile
  ahead,     ///< through shared memory while those before are worked on; for chains that are uniform
  streamed,  ///< when a sum of products needs them, once for all chains of a block, where registers hold too
             ///< few
};

inline constexpr int kBatchThreads = 128;
/// Blocks that a multiprocessor holds; and where rows are streamed.
inline constexpr int kBatchBlocks = 4;
template <int kRealBytes>
inline constexpr int kStreamedBatchBlocks = kRealBytes == 4 ? 3 : 2;
/// Columns of streamed rows that a thread has in shared memory or on their way there.
inline constexpr int kStreamedColumns = 16;
/// Chains that a thread evaluates together where rows are streamed.
inline constexpr int kStreamedAtOnce = 16;
/// Chains of a block, at most; and where a thread evaluates several together, on rows in registers.
inline constexpr int kBatchChains = 16, kBatchChainsTogether = 32;
/// Sums of a group, which a warp adds up; it loads some groups at once.
inline constexpr int kBatchGroup = 256, kBatchGroupsAtOnce = 4;
/// Sums of a chain that one warp adds up, where there are fewer chains than warps.
inline constexpr int kBatchSumsOfWarp = kBatchGroup * kBatchGroupsAtOnce;
/// Parts that a block sums by itself, at most.
inline constexpr int kBatchLog2Run = 4, kBatchRun = 1 << kBatchLog2Run;
/// The largest number of segments of a list, and of groups that a block or a warp sums.
inline constexpr int kBatchGroups = 1024;
inline constexpr int kBatchWarpGroups = 128;
/// Shared memory that sums of parts take.
inline constexpr int kBatchFinishBytes = 2 * kBatchGroups * 8;
inline constexpr int kNoTile = -1;

/// All pointers are device memory; lists as in ChainWorkView.
struct BatchView {
  const void* rows;      ///< TiledData::values
  const int* tile_rows;  ///< [num_tiles]
  const int* active;     ///< [num_active] chains; null: the first ones
  int num_active, chains_per_block;
  int num_positions;  ///< tiles of the longest list
  // Where rows come ahead or are streamed: bytes of shared memory in front of them; where they come ahead,
  // how many neighbouring parts a block takes in turn and sums by itself (1 << log2_run), and how many of 32
  // parts are to stay in the L2 cache.
  int ahead_at, log2_run, staying_of_32;
  const int *list_of_chain, *first_tile, *tiles, *first_segment, *segment_first;
  const double* num_rows;    ///< [num_lists]
  int max_segments;          ///< of a list
  const void* coefficients;  ///< num_chains x num_coefficients; not read where the kernel copies parameters
  const double* common;      ///< [num_chains]; likewise
  const double* theta;       ///< num_chains x ld_theta; read where the kernel copies parameters
  i64 ld_theta;
  double* tile_sums;  ///< num_chains x sums_per_chain
  i64 sums_per_chain;
  unsigned* num_arrived;   ///< [num_chains], 0 between launches
  double* log_likelihood;  ///< [num_chains]; null: tile_sums are what is wanted
  // Of a component's evaluation, as in KeptSumsView.
  const int* component;  ///< [num_chains]
  void* kept;            ///< num_chains x LikelihoodSizes::num_kept x slot_size
  const void* stale;     ///< [num_chains] the likelihood's KeptState
  int* pending;          ///< [num_chains]
  i64 slot_size;
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_BATCH_LAYOUT_HPP
