// Divides the cpu engine's work among threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "emomc/core/likelihood_engine.hpp"
#include "emomc/core/thread_pool.hpp"
#include "emomc/likelihood/data_set.hpp"

namespace emomc {

/// Consecutive rows of one tile, evaluated for one active chain.
struct TilePart {
  std::uint32_t tile, chain;
  std::uint32_t slot;      ///< index of the chain in the active set
  std::uint32_t nth_tile;  ///< index of the tile among the chain's tiles
  int row, num_rows;
};

/// The parts of an evaluation, in the order in which threads claim them, and their sums. The parts of all
/// chains for one tile are consecutive, so that the tile stays in cache. Parts become smaller towards the end
/// of a range, so that threads finish at about the same time. The number of rows of a part is a power of two,
/// so that a part is a node of the tree of sums, and sums do not depend on the size of parts.
class TileParts {
 public:
  /// `chains_at_once`: TileArithmetic::chains_at_once().
  TileParts(const std::vector<Tile>& tiles, const std::vector<int>& segment_first_tile,
            const ThreadPool& pool, int chains_at_once)
      : chains_at_once_(static_cast<std::size_t>(chains_at_once)),
        tiles_(tiles),
        segment_first_tile_(segment_first_tile),
        num_threads_(pool.num_threads()),
        num_ranges_(pool.num_ranges()) {}

  /// Sets the list of segments of each chain.
  void set_chains(std::vector<std::vector<int>> chain_segments);
  const std::vector<std::vector<int>>& chain_segments() const { return chain_segments_; }

  /// Plans the parts of these chains; does nothing if the last call was for the same chains.
  void choose(ActiveSet active);
  const std::vector<TilePart>& parts() const { return parts_; }
  /// Boundaries of the thread pool's ranges of parts; each range has about the same number of rows.
  const std::vector<std::size_t>& range_starts() const { return range_starts_; }
  /// Groups of neighbouring parts with the same rows for at most chains_at_once chains: group g has the parts
  /// from group_starts()[g] to group_starts()[g + 1].
  const std::vector<std::size_t>& group_starts() const { return group_starts_; }
  /// Boundaries of the thread pool's ranges, counted in groups.
  const std::vector<std::size_t>& group_range_starts() const { return group_range_starts_; }
  /// The sum of each part, which the thread that evaluates the part writes.
  std::vector<double>& sums() { return sums_; }
  /// Sum over all rows of the active chain in `slot`.
  double sum_of(std::size_t slot);
  /// The sums of the tiles of the active chain in `slot`; valid until the next call.
  std::vector<double>& tile_sums_of(std::size_t slot);

 private:
  // Range in sums_ of one tile of a chain.
  struct TileSums {
    std::size_t first, count;
  };

 public:
  /// Bytes for each tile of each chain while the tile is one part.
  static constexpr std::size_t kBytesPerTile =
      2 * sizeof(TilePart) + sizeof(TileSums) + sizeof(double) + sizeof(std::size_t);

 private:
  void make_groups();

  std::size_t chains_at_once_;
  const std::vector<Tile>& tiles_;
  const std::vector<int>& segment_first_tile_;
  int num_threads_, num_ranges_;
  std::vector<std::vector<int>> chain_segments_;
  std::vector<int> active_;  ///< active set that parts_ belongs to
  bool is_chosen_ = false;
  std::vector<TilePart> parts_;
  std::vector<std::size_t> range_starts_, group_starts_, group_range_starts_;
  /// Sums of the tiles of the first active chain, then of the second, ...
  std::vector<TileSums> tile_sums_;
  /// [number of active chains + 1] indices into tile_sums_
  std::vector<std::size_t> first_tile_;
  std::vector<double> sums_, by_tile_, by_segment_;
};

}  // namespace emomc
