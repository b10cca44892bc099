#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "cuda_table.hpp"
#include "emomc/core/cuda_launch.cuh"
#include "emomc/core/errors.hpp"
#include "emomc/device/equal_rows.hpp"
#include "emomc/device/row_values.hpp"
#include "emomc/likelihood/device_table.hpp"

namespace emomc {
namespace {

using device::ArrayTable;
using device::i64;
using device::kTileRows;
using device::RowFormula;
using device::u32;
using device::u64;

constexpr int kThreads = 256;
constexpr unsigned kMostBlocks = 1u << 16;

/// The number of blocks for `count` threads, at most kMostBlocks, whose threads then run loops.
dim3 blocks_for(i64 count) {
  return {static_cast<unsigned>(std::min<i64>((count + kThreads - 1) / kThreads, kMostBlocks))};
}
/// A thread handles the elements first_place(), first_place() + stride_of_places(), ...
__device__ i64 first_place() { return static_cast<i64>(blockIdx.x) * kThreads + threadIdx.x; }
__device__ i64 stride_of_places() { return static_cast<i64>(gridDim.x) * kThreads; }

/// One block of threads for each block of rows and each column. All threads load numbers; one thread adds
/// them up in the order of the rows.
template <class Fold>
__global__ void __launch_bounds__(kThreads)
    fold_kernel(const __grid_constant__ RowFormula rows, const Fold fold, typename Fold::State* states) {
  constexpr int kFetched = 8 * kThreads;
  __shared__ double fetched[kFetched];
  const auto column = static_cast<int>(blockIdx.y);
  const i64 first = static_cast<i64>(blockIdx.x) * device::kBlockRows;
  const i64 end = min(first + device::kBlockRows, rows.table.num_rows);
  typename Fold::State state = fold.start();
  for (i64 at = first; at < end; at += kFetched) {
    const int count = static_cast<int>(min(static_cast<i64>(kFetched), end - at));
    for (int i = static_cast<int>(threadIdx.x); i < count; i += kThreads) fetched[i] = rows(at + i, column);
    __syncthreads();
    if (threadIdx.x == 0)
      for (int i = 0; i < count; ++i) fold.add(state, fetched[i], at + i, column);
    __syncthreads();
  }
  if (threadIdx.x == 0) states[static_cast<i64>(blockIdx.x) * gridDim.y + column] = state;
}

__global__ void __launch_bounds__(kThreads)
    gather_kernel(const ArrayTable table, const i64* which, i64 count, double* values) {
  for (i64 i = first_place(); i < count; i += stride_of_places())
    for (int j = 0; j < table.num_columns; ++j) values[i * table.num_columns + j] = table(which[i], j);
}

__global__ void __launch_bounds__(kThreads)
    equal_rows_kernel(const device::EqualRows rows, u64* num_equal, u32* is_full) {
  u64 own = 0;
  for (i64 row = first_place(); row < rows.table.num_rows; row += stride_of_places()) {
    const auto swap = [](u32* at, u32 expected, u32 desired) { return atomicCAS(at, expected, desired); };
    const device::Insertion insertion = rows.insert(row, swap);
    own += insertion == device::Insertion::equal ? 1 : 0;
    if (insertion == device::Insertion::full) *is_full = 1;
  }
  using Number = unsigned long long;
  if (own > 0) atomicAdd(reinterpret_cast<Number*>(num_equal), static_cast<Number>(own));
}

__global__ void __launch_bounds__(kThreads)
    digests_of_rows_kernel(const ArrayTable table, i64 count, device::Digest* digests) {
  for (i64 i = first_place(); i < count; i += stride_of_places()) digests[i] = digest_of_rows(table, i);
}
__global__ void __launch_bounds__(kThreads)
    digests_of_digests_kernel(const device::Digest* from, i64 num_from, i64 count, device::Digest* digests) {
  for (i64 i = first_place(); i < count; i += stride_of_places())
    digests[i] = digest_of_digests(from, num_from, i);
}

__global__ void __launch_bounds__(kThreads)
    tests_kernel(const __grid_constant__ RowFormula rows, const device::RowTest* tests, int num_tests,
                 device::TestedRows* results) {
  using Number = unsigned long long;
  double values[device::kMostFormulaSteps] = {};
  for (i64 row = first_place(); row < rows.table.num_rows; row += stride_of_places()) {
    rows.evaluate(row, values);
    for (int t = 0; t < num_tests; ++t) {
      const int output = tests[t].output;
      const double value = rows.num_steps == 0 ? rows.column(row, output) : values[rows.outputs[output]];
      if (passes(tests[t], value))
        atomicAdd(reinterpret_cast<Number*>(&results[t].num_passing), Number{1});
      else
        atomicMin(reinterpret_cast<Number*>(&results[t].first_failing), static_cast<Number>(row));
    }
  }
}

/// Writes the tiles of an engine, one block for each tile.
template <class Real>
__global__ void __launch_bounds__(kThreads)
    tiles_kernel(const __grid_constant__ RowFormula rows, const i64* first_rows, const int* tile_rows,
                 Real* tiles) {
  double values[device::kMostFormulaSteps] = {};
  const i64 first = first_rows[blockIdx.x];
  Real* tile = tiles + static_cast<i64>(blockIdx.x) * rows.num_outputs * kTileRows;
  for (int i = static_cast<int>(threadIdx.x); i < tile_rows[blockIdx.x]; i += kThreads) {
    rows.evaluate(first + i, values);
    for (int j = 0; j < rows.num_outputs; ++j)
      tile[static_cast<i64>(j) * kTileRows + i] =
          static_cast<Real>(rows.num_steps == 0 ? rows.column(first + i, j) : values[rows.outputs[j]]);
  }
}

template <class T>
DeviceArray<T> uploaded(Device& device, const std::vector<T>& values) {
  DeviceArray<T> array(device, values.size());
  array.upload(values);
  return array;
}

/// A DeviceRowSource in the memory of its GPU.
class UploadedSource {
 public:
  UploadedSource(Device& device, const DeviceArray<ArrayColumn>& columns, const DeviceRowSource& source)
      : shifts_(uploaded(device, source.shifts)),
        steps_(uploaded(device, source.steps)),
        outputs_(uploaded(device, source.outputs)),
        rows_{{columns.data(), static_cast<int>(columns.size()), static_cast<i64>(source.table->num_rows())},
              shifts_.data(),
              steps_.data(),
              static_cast<int>(steps_.size()),
              outputs_.data(),
              source.dim()} {}
  const RowFormula& rows() const { return rows_; }

 private:
  DeviceArray<device::ColumnShift> shifts_;
  DeviceArray<device::FormulaStep> steps_;
  DeviceArray<int> outputs_;
  RowFormula rows_;
};

/// A key that is equal for sources and layouts with the same tiles.
std::string key_of(const DeviceRowSource& source, const TileLayout& layout, std::size_t bytes_of_real) {
  std::string key = std::to_string(bytes_of_real);
  const auto add = [&key](const auto& value) {
    key.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  for (const auto& shift : source.shifts) {
    add(shift.mean);
    add(shift.sd);
    add(shift.value);
    key += shift.is_constant ? 'c' : ' ';
  }
  for (const auto& step : source.steps) {
    add(step.operation);
    add(step.index);
    add(step.arguments);
    add(step.value);
  }
  for (const int output : source.outputs) add(output);
  // A segment's tiles but for the last one are full, so that its first row and its last tile say which rows
  // it has.
  for (std::size_t s = 0; s + 1 < layout.segment_first_tile.size(); ++s) {
    const int first = layout.segment_first_tile[s], end = layout.segment_first_tile[s + 1];
    add(end);
    if (first == end) continue;
    add(layout.tiles[static_cast<std::size_t>(first)].first_row);
    add(layout.tiles[static_cast<std::size_t>(end - 1)].num_rows);
  }
  return key;
}

class CudaTable final : public DeviceTable {
 public:
  CudaTable(int gpu, std::size_t num_rows, std::vector<ArrayColumn> columns,
            std::shared_ptr<const void> owner)
      : DeviceTable(gpu, num_rows, std::move(columns), std::move(owner)),
        device_(make_cuda_device(gpu)),
        columns_(uploaded(*device_, DeviceTable::columns())) {
    EMOMC_CUDA_CHECK(cudaDeviceSynchronize());  // the caller's streams may still write the columns
  }

  std::vector<double> rows(const std::vector<std::size_t>& which) const override {
    const DeviceArray<i64> places = uploaded(*device_, std::vector<i64>(which.begin(), which.end()));
    const DeviceArray<double> values(*device_, which.size() * num_columns());
    const auto count = static_cast<i64>(which.size());
    launch("launch of gather_kernel", gather_kernel, blocks_for(count), view(), places.data(), count,
           values.data());
    return values.download();
  }

  std::vector<device::TestedRows> tested(const DeviceRowSource& source,
                                         const std::vector<device::RowTest>& tests) const override {
    if (tests.empty()) return {};
    const UploadedSource own(*device_, columns_, source);
    const DeviceArray<device::RowTest> wanted = uploaded(*device_, tests);
    const DeviceArray<device::TestedRows> results =
        uploaded(*device_, std::vector<device::TestedRows>(tests.size(), {num_rows(), 0}));
    launch("launch of tests_kernel", tests_kernel, blocks_for(static_cast<i64>(num_rows())), own.rows(),
           wanted.data(), static_cast<int>(tests.size()), results.data());
    return results.download();
  }

  /// Tiles of `source`, whose table is this one. The tiles live as long as an engine holds them.
  template <class Real>
  std::shared_ptr<const DeviceRows<Real>> tiles(const DeviceRowSource& source,
                                                const TileLayout& layout) const {
    const std::lock_guard lock(tiles_mutex_);
    std::weak_ptr<const void>& known = tiles_[key_of(source, layout, sizeof(Real))];
    if (const auto there = known.lock()) return std::static_pointer_cast<const DeviceRows<Real>>(there);
    use_device_of(device_->stream());
    const UploadedSource own(*device_, columns_, source);
    std::vector<i64> first_rows;
    std::vector<int> tile_rows;
    for (const Tile& tile : layout.tiles) {
      first_rows.push_back(static_cast<i64>(tile.first_row));
      tile_rows.push_back(tile.num_rows);
    }
    const DeviceArray<i64> firsts = uploaded(*device_, first_rows);
    const DeviceArray<int> counts = uploaded(*device_, tile_rows);
    auto made = std::make_shared<DeviceRows<Real>>(layout.tiles.size() *
                                                   static_cast<std::size_t>(source.dim()) * kTileRows);
    if (!layout.tiles.empty())
      launch("launch of tiles_kernel", tiles_kernel<Real>, dim3(static_cast<unsigned>(layout.tiles.size())),
             own.rows(), firsts.data(), counts.data(), made->data());
    device_->synchronize();
    known = made;
    return made;
  }

 protected:
  std::shared_ptr<const DeviceTable> with_columns(std::vector<ArrayColumn> columns) const override {
    return std::make_shared<CudaTable>(gpu(), num_rows(), std::move(columns), owner());
  }
  std::vector<device::ColumnFacts> facts() const override {
    return folded(plain_rows(shared_from_this()), device::FactsFold{});
  }
  std::vector<device::DeviationFold::State> deviations(const std::vector<double>& mean) const override {
    const DeviceArray<double> means = uploaded(*device_, mean);
    return folded(plain_rows(shared_from_this()), device::DeviationFold{means.data()});
  }
  std::vector<double> sums(const DeviceRowSource& source) const override {
    return folded(source, device::SumFold{});
  }

  std::size_t count_equal(std::size_t num_slots, std::size_t num_parts) const override {
    const DeviceArray<u32> slots(*device_, num_slots);
    const DeviceArray<u64> num_equal(*device_, 1);
    const DeviceArray<u32> is_full(*device_, 1);
    for (std::size_t part = 0; part < num_parts; ++part) {
      EMOMC_CUDA_CHECK(cudaMemsetAsync(slots.data(), 0, slots.bytes(), device_->stream()));
      launch("launch of equal_rows_kernel", equal_rows_kernel, blocks_for(static_cast<i64>(num_rows())),
             device::EqualRows{view(), slots.data(), num_slots - 1, part, num_parts}, num_equal.data(),
             is_full.data());
    }
    if (is_full.download()[0] != 0)
      throw MachineError("rows of a GPU: more different rows than there is room for while they are counted");
    return num_equal.download()[0];
  }

  std::vector<device::Digest> digests() const override {
    const auto chunks = [](i64 count) { return (count + device::kHashedRows - 1) / device::kHashedRows; };
    i64 count = chunks(static_cast<i64>(num_rows()));
    DeviceArray<device::Digest> digests(*device_, static_cast<std::size_t>(count));
    launch("launch of digests_of_rows_kernel", digests_of_rows_kernel, blocks_for(count), view(), count,
           digests.data());
    while (count > device::kHashedRows) {
      DeviceArray<device::Digest> next(*device_, static_cast<std::size_t>(chunks(count)));
      launch("launch of digests_of_digests_kernel", digests_of_digests_kernel, blocks_for(chunks(count)),
             digests.data(), count, chunks(count), next.data());
      device_->synchronize();
      count = chunks(count);
      digests = std::move(next);
    }
    return digests.download();
  }

 private:
  ArrayTable view() const {
    return {columns_.data(), static_cast<int>(num_columns()), static_cast<i64>(num_rows())};
  }
  template <class... Parameters, class... Arguments>
  void launch(const char* name, void (*kernel)(Parameters...), dim3 grid, Arguments... arguments) const {
    launch_kernel(name, Overlap::no, kernel, grid, dim3(kThreads), 0, device_->stream(), arguments...);
  }

  template <class Fold>
  std::vector<typename Fold::State> folded(const DeviceRowSource& source, const Fold& fold) const {
    const UploadedSource own(*device_, columns_, source);
    const auto blocks = static_cast<std::size_t>(device::num_blocks_of(static_cast<i64>(num_rows())));
    const auto dim = static_cast<std::size_t>(source.dim());
    constexpr std::size_t kMostColumns = 65535;  // limited by the size of a grid
    if (dim > kMostColumns)
      throw InputError("data: " + std::to_string(dim) + " columns on a GPU; allowed: up to " +
                       std::to_string(kMostColumns));
    const DeviceArray<typename Fold::State> states(*device_, blocks * dim);
    if (dim > 0)
      launch("launch of fold_kernel", fold_kernel<Fold>,
             dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(dim)), own.rows(), fold,
             states.data());
    return states.download();
  }

  std::unique_ptr<Device> device_;
  DeviceArray<ArrayColumn> columns_;
  mutable std::mutex tiles_mutex_;
  mutable std::map<std::string, std::weak_ptr<const void>> tiles_;
};

}  // namespace

std::shared_ptr<const DeviceTable> make_device_table(int gpu, std::size_t num_rows,
                                                     std::vector<ArrayColumn> columns,
                                                     std::shared_ptr<const void> owner) {
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const i64 bytes = bytes_of(columns[j].type);
    if (reinterpret_cast<std::uintptr_t>(columns[j].data) % static_cast<std::uintptr_t>(bytes) != 0 ||
        columns[j].stride % bytes != 0)
      throw InputError("data: column " + std::to_string(j) +
                       " of the arrays on the GPU is not aligned to its numbers; allowed: a copy of it");
  }
  return std::make_shared<CudaTable>(gpu, num_rows, std::move(columns), std::move(owner));
}

int gpu_of_address(const void* address) {
  cudaPointerAttributes attributes{};
  const cudaError_t status = cudaPointerGetAttributes(&attributes, address);
  if (status != cudaSuccess) cudaGetLastError();
  if (status != cudaSuccess ||
      (attributes.type != cudaMemoryTypeDevice && attributes.type != cudaMemoryTypeManaged))
    throw InputError("data: an array that calls itself one of CUDA is in the memory of no GPU here");
  return attributes.device;
}

template <class Real>
std::shared_ptr<const DeviceRows<Real>> rows_on_device(const DataSet& data, const TileLayout& layout,
                                                       Device& device) {
  use_device_of(device.stream());
  if (!data.on_device) return std::make_shared<DeviceRows<Real>>(tile_values<Real>(data, layout));
  const auto* table = dynamic_cast<const CudaTable*>(data.on_device->table.get());
  if (table == nullptr || gpu_of_stream(device.stream()) != table->gpu())
    throw InputError("data: they are in the memory of GPU " + std::to_string(data.on_device->table->gpu()) +
                     ", the engine is not there");
  return table->tiles<Real>(*data.on_device, layout);
}
template std::shared_ptr<const DeviceRows<float>> rows_on_device(const DataSet&, const TileLayout&, Device&);
template std::shared_ptr<const DeviceRows<double>> rows_on_device(const DataSet&, const TileLayout&, Device&);

}  // namespace emomc
