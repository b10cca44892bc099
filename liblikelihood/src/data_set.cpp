#include "emomc/likelihood/data_set.hpp"

#include <algorithm>

namespace emomc {

template <class Real>
TiledData<Real> tile_data(const DataSet& data) {
  return tile_data<Real>(data, data.segments);
}

template <class Real>
TiledData<Real> tile_data(const DataSet& data, const std::vector<Segment>& segments) {
  TiledData<Real> tiled;
  tiled.dim = data.dim;
  tiled.segment_first_tile.push_back(0);
  for (std::size_t s = 0; s < segments.size(); ++s) {
    const Segment& segment = segments[s];
    for (std::size_t row = 0; row < segment.num_rows; row += kTileRows)
      tiled.tiles.push_back({segment.first_row + row,
                             static_cast<int>(std::min<std::size_t>(kTileRows, segment.num_rows - row)),
                             static_cast<int>(s)});
    tiled.segment_first_tile.push_back(static_cast<int>(tiled.tiles.size()));
  }
  const auto dim = static_cast<std::size_t>(data.dim);
  tiled.values.assign(tiled.tiles.size() * dim * kTileRows, Real(0));
  for (std::size_t t = 0; t < tiled.tiles.size(); ++t)
    for (int i = 0; i < tiled.tiles[t].num_rows; ++i)
      for (std::size_t j = 0; j < dim; ++j)
        tiled.values[(t * dim + j) * kTileRows + static_cast<std::size_t>(i)] = static_cast<Real>(
            data.values[(tiled.tiles[t].first_row + static_cast<std::size_t>(i)) * dim + j]);
  return tiled;
}

template TiledData<float> tile_data<float>(const DataSet&);
template TiledData<double> tile_data<double>(const DataSet&);
template TiledData<float> tile_data<float>(const DataSet&, const std::vector<Segment>&);
template TiledData<double> tile_data<double>(const DataSet&, const std::vector<Segment>&);

}  // namespace emomc
