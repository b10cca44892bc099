// Sizes and data structures that host and device share for the kernels of gradient_kernel.cuh.
#ifndef EMOMC_DEVICE_GRADIENT_LAYOUT_HPP
#define EMOMC_DEVICE_GRADIENT_LAYOUT_HPP

#include "emomc/device/tile_layout.hpp"

namespace emomc::device {

inline constexpr int kGradientThreads = 256, kGradientWarps = kGradientThreads / 32;
/// Threads of gradient_finish_kernel that add sums of groups, and threads of a block, whose last warp adds
/// log densities.
inline constexpr int kGradientFinishThreads = 512, kGradientFinishBlock = kGradientFinishThreads + 32;
/// The largest number of chains whose sums of products a thread computes together.
inline constexpr int kGradientChainsTogether = 4;
/// Columns of a tile of sums (GradientTile), and tiles whose sums a warp holds at once.
inline constexpr int kGradientTileColumns = 8, kGradientTilesAtOnce = 8;
/// Numbers that a warp multiplies by columns at once: the rows of a matrix of the tensor cores.
EMOMC_INLINE constexpr int gradient_numbers_at_once(int real_bytes) { return real_bytes == 4 ? 16 : 8; }
/// Neighbouring rows of a thread, which holds all numbers of these rows in registers.
EMOMC_INLINE constexpr int gradient_rows_of_thread(int real_bytes, int num_numbers) {
  const int registers = num_numbers * real_bytes / 4;
  return registers <= 8 ? 4 : registers <= 16 ? 2 : 1;
}
/// Distance in shared memory from one number of a step's rows to the next; it places neighbouring numbers in
/// different banks.
EMOMC_INLINE constexpr int gradient_stride(int real_bytes, int num_numbers) {
  return 32 * gradient_rows_of_thread(real_bytes, num_numbers) + 64 / real_bytes;
}

/// Counts of the numbers and sums of a likelihood (gradient_rows.hpp) for the host; `num_slots` 0: there is
/// no gradient.
struct GradientSizes {
  int num_slots = 0;    ///< sums over rows that are written for each chain and group of rows
  int num_sums = 0;     ///< sums from which the gradient is computed
  int num_work = 0;     ///< float64 numbers of working memory at the end, besides slots and sums
  int num_numbers = 0;  ///< numbers of a row of a chain
  int num_of_tile = 1;  ///< numbers that share the columns of a tile
  int num_tiles = 0;
  int num_gathered = 0;      ///< sums among which the indices of rows choose
  int num_used_columns = 0;  ///< columns of all tiles whose sums are used
  int num_parameters = 0;    ///< at least the number of parameters
};

/// The largest number of columns that lanes multiply by their own rows, in float64.
inline constexpr int kMostLaneColumns = 3;
/// Whether lanes multiply their own rows. In float64 a product of matrices takes longer where few columns are
/// used. The choice depends on the likelihood alone, since the bits of sums depend on it.
EMOMC_INLINE constexpr bool gradient_by_lanes(const GradientSizes& sizes, int real_bytes) {
  return real_bytes == 8 && sizes.num_used_columns > 0 && sizes.num_used_columns <= kMostLaneColumns &&
         sizes.num_of_tile <= gradient_numbers_at_once(real_bytes);
}
/// Estimate of the registers that the numbers of a thread's rows and the sums of `num_chains` chains take.
EMOMC_INLINE constexpr int gradient_registers(const GradientSizes& sizes, int real_bytes, int num_chains) {
  const int of_rows =
      gradient_rows_of_thread(real_bytes, sizes.num_numbers) * sizes.num_numbers * real_bytes / 4;
  const int tiles = sizes.num_tiles < kGradientTilesAtOnce ? sizes.num_tiles : kGradientTilesAtOnce;
  return of_rows + (gradient_by_lanes(sizes, real_bytes)
                        ? 2 * sizes.num_used_columns * num_chains * sizes.num_of_tile + 8
                        : 8 * tiles);
}
/// Blocks for which registers must have room on a multiprocessor. `together`: chains whose rows a thread
/// evaluates together.
EMOMC_INLINE constexpr int gradient_blocks(const GradientSizes& sizes, int real_bytes, int num_chains,
                                           int together) {
  const int registers = gradient_registers(sizes, real_bytes, num_chains);
  return registers > 76 ? 1 : registers <= 36 && together == 1 ? 3 : 2;
}

/// Groups of rows whose sums are written. A block computes a group of 1, 2, 4, 8 or 16 parts, and each warp
/// of the block a run of steps. Groups grow with the number of parts until there are at most kGradientGroups
/// groups or a group has kMostGradientParts parts. The size of a group, and hence the order of additions, is
/// a function of the number of parts alone.
inline constexpr int kGradientGroups = 256, kMostGradientParts = 16;
EMOMC_INLINE constexpr int gradient_parts_of_group(int num_parts) {
  if (num_parts <= kGradientGroups / 2) return 1;
  int each = 2;
  while (each < kMostGradientParts && each * kGradientGroups < num_parts) each *= 2;
  return each;
}
EMOMC_INLINE constexpr int num_gradient_groups(int num_parts) {
  const int each = gradient_parts_of_group(num_parts);
  return (num_parts + each - 1) / each;
}

/// The largest power of two that is not above n.
EMOMC_INLINE constexpr int power_below(int n) {
  int p = 1;
  while (2 * p <= n) p *= 2;
  return p;
}
/// Slots that a block of gradient_finish_kernel adds up at once, and threads that share one slot.
EMOMC_INLINE constexpr int gradient_slots_of_finish(int num_slots) {
  return num_slots < kGradientFinishThreads ? power_below(2 * num_slots - 1) : kGradientFinishThreads;
}
EMOMC_INLINE constexpr int gradient_threads_of_slot(int num_slots) {
  return kGradientFinishThreads / gradient_slots_of_finish(num_slots);
}
/// Sums of groups that a thread loads at once.
inline constexpr int kGroupsAtOnce = 16;
/// Blocks of the cluster that shares the groups of a chain at the end of an evaluation; their number is a
/// function of the numbers of groups and slots alone. In block b, thread t of a slot adds group t * blocks +
/// b and every n-th group after it, where n is the number of threads that the slot has in all blocks.
inline constexpr int kMostFinishBlocks = 8;
EMOMC_INLINE constexpr int gradient_finish_blocks(int num_groups, int num_slots) {
  return num_groups <= kGroupsAtOnce * gradient_threads_of_slot(num_slots) ? 1 : kMostFinishBlocks;
}

/// Slots of a chain that a block adds up at once.
EMOMC_INLINE constexpr int gradient_slots_at_once(const GradientSizes& sizes, int real_bytes) {
  const int most = gradient_numbers_at_once(real_bytes);
  const int numbers = sizes.num_of_tile < most ? sizes.num_of_tile : most;
  const int tiles = sizes.num_tiles < kGradientTilesAtOnce ? sizes.num_tiles : kGradientTilesAtOnce;
  const int plain =
      sizes.num_slots - sizes.num_tiles * sizes.num_of_tile * kGradientTileColumns - sizes.num_gathered;
  return tiles * numbers * kGradientTileColumns + plain;
}

/// Places in dynamic shared memory, in bytes: coefficients of the chains; numbers of each warp's step, which
/// the warp's sums replace at the end; sums that each warp gathers; sums of log densities of each chain's
/// steps in a group, `parts` for each warp; the shift of each column; copies of each warp's rows of a step,
/// if `copies`.
struct GradientMemory {
  u64 numbers, of_warp, gathered, steps, shift, rows, size;  ///< of_warp: distance from one warp's numbers to
                                                             ///< the next warp's

  EMOMC_HD GradientMemory(const GradientSizes& sizes, int num_coefficients, int real_bytes, int num_chains,
                          int parts, int num_columns, bool copies)
      : numbers(rounded(u64(num_chains) * u64(num_coefficients) * u64(real_bytes))),
        of_warp(larger(u64(num_chains) * u64(sizes.num_numbers) *
                           u64(gradient_stride(real_bytes, sizes.num_numbers)),
                       u64(num_chains) * u64(gradient_slots_at_once(sizes, real_bytes))) *
                u64(real_bytes)),
        gathered(numbers + u64(kGradientWarps) * (of_warp = rounded(of_warp))),
        steps(rounded(gathered +
                      u64(kGradientWarps) * u64(num_chains) * u64(sizes.num_gathered) * u64(real_bytes))),
        shift(rounded(steps + u64(kGradientWarps) * u64(num_chains) * u64(parts) * 8)),
        rows(rounded(shift + u64(num_columns) * u64(real_bytes))),
        size(copies ? rows + u64(kGradientThreads) * u64(num_columns) * u64(real_bytes) *
                                 u64(gradient_rows_of_thread(real_bytes, sizes.num_numbers))
                    : rows) {}

 private:
  EMOMC_HD static u64 rounded(u64 bytes) { return (bytes + 15) / 16 * 16; }
  EMOMC_HD static u64 larger(u64 a, u64 b) { return a > b ? a : b; }
};

/// Places in the dynamic shared memory of gradient_finish_kernel, in numbers of float64: slots; `sums` and
/// `work` of Gradient::write(); sums of each thread of all blocks of the cluster; the shift of each column;
/// parameters.
struct FinishMemory {
  int sums, work, parts, shift, theta, size;

  EMOMC_HD constexpr FinishMemory(const GradientSizes& sizes, int num_columns)
      : sums(sizes.num_slots),
        work(sums + sizes.num_sums),
        parts(work + sizes.num_work),
        shift(parts + kMostFinishBlocks * kGradientFinishThreads),
        theta(shift + num_columns),
        size(theta + sizes.num_parameters) {}
};

/// Arguments of both kernels; all pointers are device memory.
struct GradientKernelView {
  const void* rows;      ///< TiledData::values
  const int* tile_rows;  ///< [num_tiles]
  /// [num_lists] tiles of all ranks, and the number of this rank's first group; null: rows are not divided.
  const int *tiles_of_all, *first_group;
  const void* shift;  ///< [num_columns] numbers subtracted from columns, in the type of rows; null: none
  ChainWorkView work;
  ActiveSet active;
  const u8* wanted;          ///< [num_chains] chains with 0 are left out; null: none is left out
  const void* coefficients;  ///< num_chains x num_coefficients; not read where kernels copy parameters
  const double* common;      ///< [num_chains]; not read where kernels copy parameters
  const double* theta;       ///< num_chains x ld
  int ld;
  /// Sums of log densities: those of groups, num_chains x max_groups, where all chains read all tiles as one
  /// segment; otherwise those of steps, num_chains x work.max_tiles x steps of a tile.
  double* step_sums;
  double* segment_sums;  ///< num_chains x work.max_segments
  double* group_sums;    ///< num_chains x max_groups x num_slots
  int max_groups;
  double* log_likelihood;  ///< [num_chains]; null: not wanted
  /// Where rows are divided: the sums of groups that earlier ranks have added so far, `ld_shares` numbers for
  /// each active chain, beginning with those of the first thread of each slot; null otherwise.
  double* shares;
  int ld_shares;
  bool continues;    ///< whether earlier ranks have added their sums
  double* gradient;  ///< num_chains x ld_gradient
  int ld_gradient;
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_GRADIENT_LAYOUT_HPP
