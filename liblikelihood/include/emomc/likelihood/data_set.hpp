// The rows on which a likelihood is evaluated: one array, divided into segments.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "emomc/core/likelihood_engine.hpp"
#include "emomc/device/row_likelihood.hpp"

namespace emomc {

/// Number of rows of a tile. Sums over rows are balanced trees within tiles, then over tiles.
using device::kTileRows;

struct DeviceRowSource;

/// Rows in the sampler's units (standardised if so configured), in host memory or on a GPU.
struct DataSet {
  int dim = 0;
  std::size_t num_rows = 0;
  std::vector<double> values;     ///< num_rows x dim, row-major
  std::vector<Segment> segments;  ///< disjoint, ascending ranges of rows that cover all rows; at least one
  /// Rows on a GPU (device_table.hpp), in place of `values`; only an engine of that GPU can read them.
  std::shared_ptr<const DeviceRowSource> on_device = nullptr;

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

/// All rows of a table on a GPU as one segment.
DataSet data_on_device(DeviceRowSource source);

/// At most `limit` evenly spaced rows, as one segment in the host's memory.
DataSet spaced_rows(const DataSet& data, std::size_t limit);

/// The tiles of all segments; no tile crosses the end of a segment.
struct TileLayout {
  std::vector<Tile> tiles;
  std::vector<int> segment_first_tile;  ///< [num_segments + 1]
};
TileLayout tile_layout(const std::vector<Segment>& segments);

/// A data set divided into tiles. Column j of row i of tile t is values[(t * dim + j) * kTileRows + i];
/// elements beyond num_rows are 0.
template <class Real>
struct TiledData : TileLayout {
  int dim = 0;
  std::vector<Real> values;
};

/// Throws InputError where the rows of `data` are on a GPU.
void check_on_host(const DataSet& data);

/// The array TiledData::values for `data` divided as `layout` states. Throws InputError as check_on_host()
/// does.
template <class Real>
std::vector<Real> tile_values(const DataSet& data, const TileLayout& layout);

/// Divides `data` into tiles; float32 values are rounded from float64. Throws InputError as check_on_host()
/// does.
template <class Real>
TiledData<Real> tile_data(const DataSet& data);
/// Divides the rows of `segments`, in place of data.segments, into tiles; Tile::first_row counts the rows of
/// `data`.
template <class Real>
TiledData<Real> tile_data(const DataSet& data, const std::vector<Segment>& segments);

}  // namespace emomc
