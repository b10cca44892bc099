// The rows that a likelihood is evaluated on: one array, cut into segments.
#pragma once

#include <cstddef>
#include <vector>

#include "emomc/core/likelihood_engine.hpp"

namespace emomc {

/// Rows per tile: sums over rows are balanced trees inside tiles, then over tiles.
inline constexpr int kTileRows = 1024;

/// Values as the likelihood sees them (standardised if so configured), host memory.
struct DataSet {
  int dim = 0;
  std::size_t num_rows = 0;
  std::vector<double> values;     ///< num_rows x dim, row-major
  std::vector<Segment> segments;  ///< disjoint, ascending, covering all rows; at least one

  /// All rows as one segment.
  static DataSet single_segment(int dim, std::vector<double> values) {
    DataSet data;
    data.dim = dim;
    data.num_rows = dim > 0 ? values.size() / static_cast<std::size_t>(dim) : 0;
    data.values = std::move(values);
    data.segments = {{0, data.num_rows}};
    return data;
  }
};

/// One tile: rows [first_row, first_row + num_rows) of the data set, num_rows <= kTileRows.
struct Tile {
  std::size_t first_row = 0;
  int num_rows = 0;
  int segment = 0;
};

/// The data set cut into tiles that do not cross segments. Tile t, column j, row i of the tile is
/// values[(t * dim + j) * kTileRows + i]; places beyond num_rows hold 0.
template <class Real>
struct TiledData {
  int dim = 0;
  std::vector<Tile> tiles;
  std::vector<int> segment_first_tile;  ///< [num_segments + 1]
  std::vector<Real> values;
};

template <class Real>
TiledData<Real> tile_data(const DataSet& data);

}  // namespace emomc
