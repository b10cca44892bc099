// Data structures and sizes that host and device share for batch_kernel.cuh.
#ifndef EMOMC_DEVICE_BATCH_LAYOUT_HPP
#define EMOMC_DEVICE_BATCH_LAYOUT_HPP

#include "emomc/device/integers.hpp"
#include "emomc/device/row_likelihood.hpp"

namespace emomc::device {

enum class BatchWork {
  full,       ///< all components
  component,  ///< one component differs; kept sums of the others are used
};

/// How rows reach the threads.
enum class BatchRows {
  loaded,    ///< loaded when they are needed; other blocks work meanwhile
  ahead,     ///< copied to shared memory while earlier rows are processed; for uniform chains only
  streamed,  ///< loaded when a sum of products needs them, once for all chains of a block, where registers
             ///< have no room for the rows
};

inline constexpr int kBatchThreads = 128;
/// Blocks that a multiprocessor holds, and kStreamedBatchBlocks for streamed rows.
inline constexpr int kBatchBlocks = 4;
template <int kRealBytes>
inline constexpr int kStreamedBatchBlocks = kRealBytes == 4 ? 3 : 2;
/// Columns of streamed rows for which a thread has room in shared memory.
inline constexpr int kStreamedColumns = 16;
/// Chains that a thread evaluates together where rows are streamed.
inline constexpr int kStreamedAtOnce = 16;
/// The largest number of chains of a block, and the one for threads that evaluate several chains together on
/// rows in registers.
inline constexpr int kBatchChains = 16, kBatchChainsTogether = 32;
/// Sums of a group, which a warp adds up, and groups that a warp loads at once.
inline constexpr int kBatchGroup = 256, kBatchGroupsAtOnce = 4;
/// The largest number of sums of a chain that one warp adds up where there are fewer chains than warps.
inline constexpr int kBatchSumsOfWarp = kBatchGroup * kBatchGroupsAtOnce;
/// The largest number of parts that a block sums by itself.
inline constexpr int kBatchLog2Run = 4, kBatchRun = 1 << kBatchLog2Run;
/// The largest number of segments of a list, and of groups that a block (kBatchGroups) or a warp
/// (kBatchWarpGroups) sums.
inline constexpr int kBatchGroups = 1024;
inline constexpr int kBatchWarpGroups = 128;
/// Bytes of shared memory for sums of parts.
inline constexpr int kBatchFinishBytes = 2 * kBatchGroups * 8;
inline constexpr int kNoTile = -1;

/// Arguments of batch_kernel. All pointers are device memory; lists are as in ChainWorkView.
struct BatchView {
  const void* rows;      ///< TiledData::values
  const int* tile_rows;  ///< [num_tiles]
  const int* active;     ///< [num_active] chains; null: the first num_active chains
  int num_active, chains_per_block;
  int num_positions;  ///< tiles of the longest list
  // For rows that are copied ahead or streamed: `ahead_at` is the offset in bytes of the rows in shared
  // memory. For rows that are copied ahead: a block takes 1 << log2_run neighbouring parts in turn and sums
  // them by itself, and `staying_of_32` of 32 parts are to stay in the L2 cache.
  int ahead_at, log2_run, staying_of_32;
  const int *list_of_chain, *first_tile, *tiles, *first_segment, *segment_first;
  const double* num_rows;    ///< [num_lists]
  int max_segments;          ///< largest number of segments of a list
  const void* coefficients;  ///< num_chains x num_coefficients; not read where the kernel copies parameters
  const double* common;      ///< [num_chains]; not read where the kernel copies parameters
  const double* theta;       ///< num_chains x ld_theta; read where the kernel copies parameters
  i64 ld_theta;
  double* tile_sums;  ///< num_chains x sums_per_chain
  i64 sums_per_chain;
  unsigned* num_arrived;   ///< [num_chains], 0 between launches
  double* log_likelihood;  ///< [num_chains]; null: only tile_sums are wanted
  // The members below are for the evaluation of one component; they are as in KeptView.
  const int* component;  ///< [num_chains] component that differs
  void* kept;            ///< num_chains x LikelihoodSizes::num_kept x slot_size
  const void* stale;     ///< [num_chains] the likelihood's KeptState
  int* pending;          ///< [num_chains]
  i64 slot_size;
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_BATCH_LAYOUT_HPP
