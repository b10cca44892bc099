// Computes the moments of a round of EM on the GPU, in float64. Blocks go through the tiles, responsibilities
// are stored in shared memory, and each thread adds its moments over the rows in order.
#include <algorithm>

#include "../mixture_moments.hpp"
#include "cuda_table.hpp"
#include "emomc/core/cuda_launch.cuh"
#include "emomc/device/block_sums.cuh"
#include "emomc/device/mixture_rows.cuh"
#include "emomc/device/prepare_kernel.cuh"
#include "emomc/likelihood/data_set.hpp"
#include "emomc/likelihood/models.hpp"

namespace emomc {
namespace {

constexpr int kThreads = 256;
// A constant, so that the order of additions does not depend on the GPU.
constexpr int kBlocks = 264;
constexpr std::size_t kSharedBytes = 96 << 10;

template <class Model>
struct MomentView {
  Model model;
  const double* data;  ///< TiledData::values
  const int* tile_rows;
  int num_tiles;
  const double* coefficients;
  const double* common;
  const Moment* moments;
  int num_moments;
  double* sums;  ///< kBlocks x (num_moments + 1), the log likelihood last
  int rows_at_once;
};

/// Writes responsibilities and values of `count` rows of a tile from row `first` on to r [K][stride] and x
/// [d][stride]. Returns the sum of the thread's rows' log2 densities.
template <class Model>
__device__ double fill_rows(const MomentView<Model>& view, const double* tile, int first, int count,
                            int stride, double* r, double* x) {
  const auto shape = view.model.shape();
  double log2_sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kThreads) {
    for (int j = 0; j < shape.dim; ++j) x[j * stride + i] = tile[j * kTileRows + first + i];
    const auto row = [&](int j, double(&value)[1]) { value[0] = x[j * stride + i]; };
    double sum[1], log2_density[1];
    device::add_components(shape, view.coefficients, row, sum);
    device::log2_of_rows(shape, view.coefficients, x + i, stride, sum, log2_density);
    log2_sum += log2_density[0] + *view.common;
    for (int k = 0; k < shape.num_components; ++k) {
      double term[1][1][1];
      device::accumulate(shape, view.coefficients, k, row, term);
      const double t = term[0][0][0] - log2_density[0];
      r[k * stride + i] = device::real_exp2(t < 0 ? t : 0.0);
    }
  }
  return log2_sum;
}

template <class Model>
__global__ void __launch_bounds__(kThreads, 2)
    moments_kernel(const __grid_constant__ MomentView<Model> view) {
  extern __shared__ double memory[];
  __shared__ double scratch[kThreads / 32];
  const int stride = view.rows_at_once + 1;
  double* r = memory;
  double* x = memory + view.model.shape().num_components * stride;
  double* sums = view.sums + static_cast<std::size_t>(blockIdx.x) * (view.num_moments + 1);
  double log2_sum = 0;
  for (int tile = static_cast<int>(blockIdx.x); tile < view.num_tiles; tile += kBlocks) {
    const double* values = view.data + static_cast<std::size_t>(tile) * view.model.shape().dim * kTileRows;
    for (int first = 0; first < view.tile_rows[tile]; first += view.rows_at_once) {
      const int count = min(view.rows_at_once, view.tile_rows[tile] - first);
      log2_sum += fill_rows(view, values, first, count, stride, r, x);
      __syncthreads();
      for (int m = static_cast<int>(threadIdx.x); m < view.num_moments; m += kThreads) {
        const Moment moment = view.moments[m];
        const double* weight = moment.component == kEveryComponent ? nullptr : r + moment.component * stride;
        const double* a = moment.a == kNoColumn ? nullptr : x + moment.a * stride;
        const double* b = moment.b == kNoColumn ? nullptr : x + moment.b * stride;
        double sum = 0;
        for (int i = 0; i < count; ++i) {
          const double left = weight ? weight[i] : 1.0;
          sum = EMOMC_FMA(a ? left * a[i] : left, b ? b[i] : 1.0, sum);
        }
        sums[m] += sum;
      }
      __syncthreads();
    }
  }
  log2_sum = device::sum_over_threads<kThreads>(log2_sum, scratch);
  if (threadIdx.x == 0) sums[view.num_moments] = device::kLn2 * log2_sum;
}

/// One thread per moment; adds the sums of all blocks in order and writes the result to the first block's
/// place.
__global__ void add_blocks_kernel(double* sums, int size) {
  const int m = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (m >= size) return;
  double sum = 0;
  for (int block = 0; block < kBlocks; ++block) sum += sums[static_cast<std::size_t>(block) * size + m];
  sums[m] = sum;
}

template <class Model>
class CudaMoments final : public MomentEngine {
 public:
  CudaMoments(const Model& model, const DataSet& data, Device& device)
      : CudaMoments(model, data, device, tile_layout(data.segments)) {}

  MomentSums compute(const std::vector<double>& theta) override {
    theta_.upload(theta);
    EMOMC_CUDA_CHECK(cudaMemsetAsync(sums_.data(), 0, sums_.bytes(), device_.stream()));
    launch_kernel(
        "launch of prepare_kernel", Overlap::no, device::prepare_kernel<device::MixtureRows<Model>, double>,
        dim3(1), dim3(device::kTeamLanes), 0, device_.stream(), device::MixtureRows<Model>{view_.model},
        theta_.data(), 0, ActiveSet{nullptr, 1}, coefficients_.data(), common_.data(), scratch_.data());
    const auto shape = view_.model.shape();
    const auto shared = static_cast<std::size_t>(view_.rows_at_once + 1) *
                        static_cast<std::size_t>(shape.num_components + shape.dim) * sizeof(double);
    launch_kernel("launch of moments_kernel", Overlap::no, moments_kernel<Model>, dim3(kBlocks),
                  dim3(kThreads), shared, device_.stream(), view_);
    const int size = view_.num_moments + 1;
    launch_kernel("launch of add_blocks_kernel", Overlap::no, add_blocks_kernel,
                  dim3(static_cast<unsigned>((size + kThreads - 1) / kThreads)), dim3(kThreads), 0,
                  device_.stream(), sums_.data(), size);
    std::vector<double> total(static_cast<std::size_t>(size));
    device_.copy(total.data(), sums_.data(), total.size() * sizeof(double));
    device_.synchronize();
    MomentSums result{total.back(), std::move(total)};
    result.moments.pop_back();
    return result;
  }

 private:
  CudaMoments(const Model& model, const DataSet& data, Device& device, const TileLayout& tiles)
      : device_(device),
        data_(rows_on_device<double>(data, tiles, device)),
        tile_rows_(device, tiles.tiles.size()) {
    const auto shape = model.shape();
    std::vector<int> rows;
    for (const Tile& tile : tiles.tiles) rows.push_back(tile.num_rows);
    tile_rows_.upload(rows);
    const auto moments = moment_layout(model).moments();
    moments_ = {device, moments.size()};
    moments_.upload(moments);
    coefficients_ = {device, static_cast<std::size_t>(shape.num_coefficients())};
    common_ = {device, 1};
    scratch_ = {device, static_cast<std::size_t>(shape.num_scratch())};
    theta_ = {device, static_cast<std::size_t>(model.num_parameters())};
    sums_ = {device, kBlocks * (moments.size() + 1)};
    const auto row_bytes = static_cast<std::size_t>(shape.num_components + shape.dim) * sizeof(double);
    const auto at_once = std::clamp<std::size_t>(kSharedBytes / row_bytes, 2, kThreads + 1) - 1;
    view_ = {model,
             data_->data(),
             tile_rows_.data(),
             static_cast<int>(tiles.tiles.size()),
             coefficients_.data(),
             common_.data(),
             moments_.data(),
             static_cast<int>(moments.size()),
             sums_.data(),
             static_cast<int>(at_once)};
  }

  Device& device_;
  std::shared_ptr<const DeviceRows<double>> data_;
  DeviceArray<int> tile_rows_;
  DeviceArray<Moment> moments_;
  DeviceArray<double> coefficients_, common_, scratch_, theta_, sums_;
  MomentView<Model> view_;
};

}  // namespace

template <class Model>
std::unique_ptr<MomentEngine> make_cuda_moments(const Model& model, const DataSet& data, Device& device) {
  return std::make_unique<CudaMoments<Model>>(model, data, device);
}

#define EMOMC_INSTANTIATE(Model, Shape) \
  template std::unique_ptr<MomentEngine> make_cuda_moments(const device::Model&, const DataSet&, Device&);
EMOMC_MODELS(EMOMC_INSTANTIATE)

}  // namespace emomc
