#include "emomc/likelihood/data_set.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "emomc/core/errors.hpp"
#include "emomc/likelihood/device_table.hpp"

namespace emomc {

DataSet data_on_device(DeviceRowSource source) {
  DataSet data;
  data.dim = source.dim();
  data.num_rows = source.table->num_rows();
  data.segments = {{0, data.num_rows}};
  data.on_device = std::make_shared<const DeviceRowSource>(std::move(source));
  return data;
}

DataSet spaced_rows(const DataSet& data, std::size_t limit) {
  const std::size_t count = std::min(data.num_rows, limit);
  if (data.on_device) return DataSet::single_segment(data.dim, spaced_rows(*data.on_device, count));
  const auto dim = static_cast<std::size_t>(data.dim);
  std::vector<double> values;
  values.reserve(count * dim);
  for (std::size_t i = 0; i < count; ++i) {
    const double* row = data.values.data() + i * data.num_rows / count * dim;
    values.insert(values.end(), row, row + dim);
  }
  return DataSet::single_segment(data.dim, std::move(values));
}

TileLayout tile_layout(const std::vector<Segment>& segments) {
  TileLayout layout;
  layout.segment_first_tile.push_back(0);
  for (std::size_t s = 0; s < segments.size(); ++s) {
    const Segment& segment = segments[s];
    for (std::size_t row = 0; row < segment.num_rows; row += kTileRows)
      layout.tiles.push_back({segment.first_row + row,
                              static_cast<int>(std::min<std::size_t>(kTileRows, segment.num_rows - row)),
                              static_cast<int>(s)});
    layout.segment_first_tile.push_back(static_cast<int>(layout.tiles.size()));
  }
  return layout;
}

void check_on_host(const DataSet& data) {
  if (!data.on_device) return;
  throw InputError("data: they are in the memory of GPU " + std::to_string(data.on_device->table->gpu()) +
                   ", where backend cuda alone reads them; allowed: a copy of them in the host's memory");
}

template <class Real>
std::vector<Real> tile_values(const DataSet& data, const TileLayout& layout) {
  check_on_host(data);
  const auto dim = static_cast<std::size_t>(data.dim);
  std::vector<Real> values(layout.tiles.size() * dim * kTileRows, Real(0));
  for (std::size_t t = 0; t < layout.tiles.size(); ++t)
    for (int i = 0; i < layout.tiles[t].num_rows; ++i)
      for (std::size_t j = 0; j < dim; ++j)
        values[(t * dim + j) * kTileRows + static_cast<std::size_t>(i)] = static_cast<Real>(
            data.values[(layout.tiles[t].first_row + static_cast<std::size_t>(i)) * dim + j]);
  return values;
}

template <class Real>
TiledData<Real> tile_data(const DataSet& data) {
  return tile_data<Real>(data, data.segments);
}

template <class Real>
TiledData<Real> tile_data(const DataSet& data, const std::vector<Segment>& segments) {
  TiledData<Real> tiled{tile_layout(segments), data.dim, {}};
  tiled.values = tile_values<Real>(data, tiled);
  return tiled;
}

template std::vector<float> tile_values<float>(const DataSet&, const TileLayout&);
template std::vector<double> tile_values<double>(const DataSet&, const TileLayout&);
template TiledData<float> tile_data<float>(const DataSet&);
template TiledData<double> tile_data<double>(const DataSet&);
template TiledData<float> tile_data<float>(const DataSet&, const std::vector<Segment>&);
template TiledData<double> tile_data<double>(const DataSet&, const std::vector<Segment>&);

}  // namespace emomc
