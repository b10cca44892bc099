// How the cpu engine's threads share an evaluation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "emomc/core/likelihood_engine.hpp"
#include "emomc/core/thread_pool.hpp"
#include "emomc/likelihood/data_set.hpp"

namespace emomc {

/// Neighbouring rows of a tile, of an active chain.
struct TilePart {
  std::uint32_t tile, chain;
  std::uint32_t slot;      ///< of the active chain, in order
  std::uint32_t nth_tile;  ///< of the chain
  int row, num_rows;
};

/// The parts of an evaluation in the order in which threads claim them, and their sums. Chains lie side by
/// side, so that a tile stays in cache. The nearer a range's end, the smaller the parts, so that threads end
/// together; a part is a power of two of rows and a node of the tree of sums, which does not depend on it.
class TileParts {
 public:
  TileParts(const std::vector<Tile>& tiles, const std::vector<int>& segment_first_tile,
            const ThreadPool& pool)
      : tiles_(tiles),
        segment_first_tile_(segment_first_tile),
        num_threads_(pool.num_threads()),
        num_ranges_(pool.num_ranges()) {}

  /// Each with its list of segments.
  void set_chains(std::vector<std::vector<int>> chain_segments);
  const std::vector<std::vector<int>>& chain_segments() const { return chain_segments_; }

  /// The parts of these chains; nothing is done where they are those of the last call.
  void choose(ActiveSet active);
  const std::vector<TilePart>& parts() const { return parts_; }
  /// Of the pool's ranges of parts, with about as many rows each.
  const std::vector<std::size_t>& range_starts() const { return range_starts_; }
  /// One for each part, to be written by whoever evaluates it.
  std::vector<double>& sums() { return sums_; }
  /// Sum over the rows of the active chain in `slot`.
  double sum_of(std::size_t slot);

 private:
  // Of a chain's tile, in sums_.
  struct TileSums {
    std::size_t first, count;
  };

 public:
  /// What a tile of a chain takes, as long as it is not cut.
  static constexpr std::size_t kBytesPerTile = 2 * sizeof(TilePart) + sizeof(TileSums) + sizeof(double);

 private:
  const std::vector<Tile>& tiles_;
  const std::vector<int>& segment_first_tile_;
  int num_threads_, num_ranges_;
  std::vector<std::vector<int>> chain_segments_;
  std::vector<int> active_;  ///< of parts_
  bool is_chosen_ = false;
  std::vector<TilePart> parts_;
  std::vector<std::size_t> range_starts_;
  std::vector<TileSums> tile_sums_;      ///< of the first active chain's tiles, then the second's, ...
  std::vector<std::size_t> first_tile_;  ///< [number of active chains + 1] in tile_sums_
  std::vector<double> sums_, by_tile_, by_segment_;
};

}  // namespace emomc
