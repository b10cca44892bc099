// Data structures and sizes that host and device share for tile_kernel.cuh and prepare_kernel.cuh.
#ifndef EMOMC_DEVICE_TILE_LAYOUT_HPP
#define EMOMC_DEVICE_TILE_LAYOUT_HPP

#include "emomc/device/active_set.hpp"
#include "emomc/device/integers.hpp"
#include "emomc/device/row_likelihood.hpp"

namespace emomc::device {

/// Tables of the tiles that each chain reads and of the order in which sums are added; all pointers are
/// device memory.
struct ChainWorkView {
  const int* list_of_chain;  ///< [num_chains] chains with equal segments share a list
  const int* first_tile;     ///< [num_lists + 1] into `tiles`
  const int* tiles;          ///< tiles of all lists, segment after segment
  const int* first_segment;  ///< [num_lists + 1] into `segment_first`
  const int* segment_first;  ///< for each segment of each list: position of its first tile in the list,
                             ///< one more at each list's end (so num_segments + num_lists entries)
  const double* num_rows;    ///< [num_lists]
  int max_tiles;             ///< tiles of the longest list
  int max_segments;          ///< largest number of segments of a list
  bool uniform;  ///< whether all chains read all tiles as one segment; the tables are not needed then
  double uniform_rows;
};

/// Numbers of evaluations that are kept for each chain (kept_sums.cuh); a slot has a number for each padded
/// row.
struct KeptView {
  void* values;  ///< num_chains x LikelihoodSizes::num_kept x slot_size
  void* states;  ///< [num_chains] the likelihood's KeptState
  int* pending;  ///< [num_chains] component that was evaluated; kAllComponents: all were, and no sums were
                 ///< kept; or kNothingPending
  i64 slot_size;
};
inline constexpr int kNothingPending = -2;

/// Arguments of the tile kernel; all pointers are device memory.
template <class Real>
struct EvaluationView {
  const Real* data;      ///< indexed by tile, column and row in the tile, never written
  const int* tile_rows;  ///< [num_tiles]
  ChainWorkView work;
  ActiveSet active;
  int chains_per_block;
  Real* coefficients;     ///< num_chains x num_coefficients
  double* common;         ///< [num_chains]
  double* tile_sums;      ///< num_chains x work.max_tiles x kSumsPerTile, the first num_tiles x kParts in use
  double* segment_sums;   ///< num_chains x work.max_segments
  unsigned* num_arrived;  ///< [num_chains], 0 between launches
  double* log_likelihood;  ///< [num_chains]; null: only tile_sums are wanted
  double* rows;            ///< num_tiles x kTileRows; null: not wanted
  const int* component;    ///< [num_chains] component that differs, for an evaluation of components
  bool is_component;  ///< whether components are evaluated, even if the kernel computes the whole density
  KeptView kept;
};

/// Threads of a block of tile_kernel.
inline constexpr int kTileThreads = 256;
/// The largest number of blocks that share a tile; the blocks' sums are nodes of the tile's tree.
inline constexpr int kMaxParts = 4;
/// Places for sums of each tile; the batch kernel divides a tile into at most this many parts.
inline constexpr int kSumsPerTile = 8;

enum class TileWork {
  full,       ///< the whole density
  component,  ///< one component differs; kept sums of the others are used
};

/// The memory in which a block finds coefficients and rows; results have the same bits.
enum class TileMemory {
  fused,   ///< in shared memory: the block computes the coefficients and copies the tile
  staged,  ///< in shared memory: the block copies both; prepare_kernel computes the coefficients
  direct,  ///< in global memory; prepare_kernel computes the coefficients
};

/// Blocks of the fused kernel that share a multiprocessor. No more are launched, since further blocks would
/// run as a second wave.
inline constexpr int kFusedBlocksAtOnce = 2;

/// Places in dynamic shared memory, in bytes: coefficients, scratch of prepare(), theta, tile.
struct TileMemoryLayout {
  u64 scratch, theta, tile, size;

  EMOMC_HD TileMemoryLayout(const LikelihoodSizes& sizes, int num_parameters, int real_bytes,
                            TileMemory memory, int parts)
      : scratch(rounded(static_cast<u64>(sizes.num_coefficients) * static_cast<u64>(real_bytes))),
        theta(scratch + static_cast<u64>(sizes.num_scratch) * 8),
        tile(memory == TileMemory::fused ? rounded(theta + static_cast<u64>(num_parameters) * 8) : scratch),
        size(memory == TileMemory::direct
                 ? 0
                 : tile + static_cast<u64>(sizes.num_columns) * kTileRows * static_cast<u64>(real_bytes) /
                              static_cast<u64>(parts)) {}

 private:
  EMOMC_HD static u64 rounded(u64 bytes) { return (bytes + 15) / 16 * 16; }
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_TILE_LAYOUT_HPP
