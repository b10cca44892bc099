// Owns data, tables and work memory on the GPU and enqueues the kernels of mixture_kernels.cuh.
#include <algorithm>
#include <cmath>
#include <limits>

#include "../chain_segments.hpp"
#include "../engine_factories.hpp"
#include "../tree_sum.hpp"
#include "batch_evaluation.hpp"
#include "chain_work.hpp"
#include "device_rows.hpp"
#include "emomc/core/cuda_launch.cuh"
#include "emomc/likelihood/models.hpp"
#include "mixture_kernels.cuh"
#include "prepare_kernel.cuh"

namespace emomc {
namespace {

constexpr std::size_t kMaxSharedBytes = 110 << 10;  // two such blocks on a multiprocessor of Hopper
constexpr std::size_t kStaticShared = 2 << 10;      // of tile_kernel, at most
constexpr int kDrawsAtOnce = 256;

int device_attribute(cudaDeviceAttr which) {
  int device = 0, value = 0;
  EMOMC_CUDA_CHECK(cudaGetDevice(&device));
  EMOMC_CUDA_CHECK(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

// The memory that evaluations of a set of chains work in.
template <class Shape, class Real>
struct WorkMemory {
  ChainWork work;
  DeviceArray<Real> coefficients;
  DeviceArray<double> common, scratch, tile_sums, segment_sums;
  DeviceArray<unsigned> num_arrived;

  static std::size_t bytes(const Shape& shape, std::size_t num_chains, std::size_t max_tiles,
                           std::size_t max_segments) {
    return num_chains *
           (static_cast<std::size_t>(shape.num_coefficients()) * sizeof(Real) +
            (1 + static_cast<std::size_t>(shape.num_scratch()) + max_tiles * kSumsPerTile + max_segments) *
                sizeof(double) +
            sizeof(unsigned));
  }
  void allocate(Device& device, const Shape& shape) {
    const auto n = static_cast<std::size_t>(work.num_chains());
    coefficients = {device, n * static_cast<std::size_t>(shape.num_coefficients())};
    common = {device, n};
    scratch = {device, n * static_cast<std::size_t>(shape.num_scratch())};
    tile_sums = {device, n * static_cast<std::size_t>(work.max_tiles()) * kSumsPerTile};
    segment_sums = {device, n * static_cast<std::size_t>(work.max_segments())};
    num_arrived = {device, n};
  }
};

template <class Model, class Real>
class CudaEngine final : public LikelihoodEngine {
  using Shape = ShapeOf<Model>;

 public:
  CudaEngine(const Model& model, const DataSet& data, Device& device)
      : CudaEngine(model, data, device, tile_data<Real>(data)) {}

  std::string name() const override { return "cuda"; }
  const ParameterLayout& layout() const override { return layout_; }
  Capabilities capabilities() const override { return {true, false}; }
  Device& device() const override { return device_; }
  std::size_t num_segments() const override { return segments_.size(); }
  std::size_t num_rows() const override { return num_rows_; }

  std::optional<DeviceLikelihood> device_likelihood() const override {
    const Shape shape = model_.shape();
    DeviceLikelihood result{.model = model_type_name<Model>(),
                            .real = sizeof(Real) == sizeof(float) ? "float" : "double",
                            .num_components = shape.num_components,
                            .dim = shape.dim,
                            .by_column_pairs = !device::kIsAxisAligned<Shape>,
                            .num_coefficients = shape.num_coefficients(),
                            .num_terms = shape.num_terms(),
                            .num_scratch = shape.num_scratch(),
                            .num_pairs = shape.num_pairs(),
                            .rows = data_.data(),
                            .segment_first_tile = segment_first_tile_,
                            .segment_rows = {},
                            .kept = kept_.data(),
                            .kept_bytes = kept_.size() * sizeof(Real),
                            .rows_per_thread = 0};
    for (const Segment& segment : segments_) result.segment_rows.push_back(segment.num_rows);
    result.rows_per_thread = rows_per_thread(result);
    return result;
  }

  MemoryPlan plan(const std::vector<ChainPlan>& chains, ComponentCaches caches) const override {
    MemoryPlan plan;
    plan.data_bytes = data_.size() * sizeof(Real);
    std::size_t max_tiles = 0, max_segments = 0;
    for (const auto& list : chain_segments(chains, num_segments())) {
      std::size_t num_tiles = 0;
      for (int s : list)
        num_tiles += static_cast<std::size_t>(segment_first_tile_[static_cast<std::size_t>(s) + 1] -
                                              segment_first_tile_[static_cast<std::size_t>(s)]);
      max_tiles = std::max(max_tiles, num_tiles);
      max_segments = std::max(max_segments, list.size());
    }
    plan.work_bytes = WorkMemory<Shape, Real>::bytes(model_.shape(), chains.size(), max_tiles, max_segments);
    if (caches == ComponentCaches::on)
      plan.cache_bytes = chains.size() * num_slots() * padded_rows() * sizeof(Real);
    return plan;
  }

  void allocate(const std::vector<ChainPlan>& chains, ComponentCaches caches) override {
    // What an earlier call took goes first.
    run_ = {};
    kept_ = {};
    stale_ = {};
    pending_ = {};
    const MemoryPlan needed = plan(chains, caches);
    if (needed.work_bytes + needed.cache_bytes > device_.free_bytes())
      throw MachineError("out of GPU memory: " + std::to_string(chains.size()) + " chains take " +
                         std::to_string(needed.work_bytes + needed.cache_bytes) + " bytes, " +
                         std::to_string(device_.free_bytes()) + " are free; use fewer chains");
    run_.work = ChainWork(device_, chains, segments_, segment_first_tile_);
    run_.allocate(device_, model_.shape());
    batch_ = BatchEvaluation::make(*device_likelihood(), static_cast<int>(chains.size()), run_.work.view(),
                                   false, num_multiprocessors_);
    component_batch_.reset();
    if (caches == ComponentCaches::on)
      component_batch_ = BatchEvaluation::make(*device_likelihood(), static_cast<int>(chains.size()),
                                               run_.work.view(), true, num_multiprocessors_);
    if (caches == ComponentCaches::off) return;
    kept_ = {device_, chains.size() * num_slots() * padded_rows()};
    stale_ = {device_, chains.size()};
    stale_.upload(
        std::vector<device::StaleSums>(chains.size(), {device::StaleSums::kAll, device::StaleSums::kAll}));
    pending_ = {device_, chains.size()};
    pending_.upload(std::vector<int>(chains.size(), kNothingPending));
  }

  void evaluate(EnsembleView candidate, ActiveSet active) override {
    EvaluationView<Shape, Real> view = view_of(run_, active);
    view.log_likelihood = candidate.log_likelihood;
    run_tiles<TileWork::full>(run_, view, candidate.theta, candidate.ld);
  }
  void evaluate_component(EnsembleView candidate, const int* component, ActiveSet active) override {
    if (kept_.size() == 0) return evaluate(candidate, active);
    EvaluationView<Shape, Real> view = view_of(run_, active);
    view.log_likelihood = candidate.log_likelihood;
    view.component = component;
    view.is_component = true;
    run_tiles<TileWork::component>(run_, view, candidate.theta, candidate.ld);
  }
  void rebuild_caches(EnsembleView, ActiveSet active) override {
    if (kept_.size() == 0 || active.count == 0) return;
    launch_kernel("launch of forget_kernel", Overlap::yes, forget_kernel<Real>, one_thread_each(active),
                  dim3(kThreads), 0, device_.stream(), cache_view(), active);
  }
  void commit(const std::uint8_t* accepted, ActiveSet active) override {
    if (kept_.size() == 0 || active.count == 0) return;
    launch_kernel("launch of commit_kernel", Overlap::yes, commit_kernel<Real>, one_thread_each(active),
                  dim3(kThreads), 0, device_.stream(), cache_view(), accepted, active);
  }

  void sums_by_segment(const double* theta, int num_draws, double* out) override {
    for (int first = 0; first < num_draws; first += kDrawsAtOnce) {
      const int count = std::min(kDrawsAtOnce, num_draws - first);
      WorkMemory<Shape, Real> memory;
      const auto common =
          evaluate_all_tiles(theta + static_cast<std::ptrdiff_t>(first) * dim(), count, memory, nullptr);
      auto sums = memory.tile_sums.download();
      const auto num_tiles = static_cast<std::size_t>(memory.work.max_tiles());
      for (int draw = 0; draw < count; ++draw)
        for (std::size_t s = 0; s < segments_.size(); ++s) {
          double* tiles = sums.data() + static_cast<std::size_t>(draw) * num_tiles * kSumsPerTile;
          const int begin = segment_first_tile_[s], end = segment_first_tile_[s + 1];
          const double sum = tree_sum({tiles + begin, static_cast<std::size_t>(end - begin)});
          *out++ = log_likelihood_of(sum, segments_[s].num_rows, common[static_cast<std::size_t>(draw)]);
        }
    }
  }

  void evaluate_rows(const double* theta, double* out) override {
    WorkMemory<Shape, Real> memory;
    DeviceArray<double> rows(device_, padded_rows());
    const double common = evaluate_all_tiles(theta, 1, memory, rows.data())[0];
    const auto values = rows.download();
    for (std::size_t s = 0; s < segments_.size(); ++s) {
      const auto tiled = static_cast<std::size_t>(segment_first_tile_[s]) * kTileRows;
      for (std::size_t i = 0; i < segments_[s].num_rows; ++i)
        out[segments_[s].first_row + i] = (values[tiled + i] + common) * device::kLn2;
    }
  }

 private:
  CudaEngine(const Model& model, const DataSet& data, Device& device, const TiledData<Real>& tiled)
      : model_(model),
        layout_(layout_of(model)),
        device_(device),
        segments_(data.segments),
        segment_first_tile_(tiled.segment_first_tile),
        num_rows_(data.num_rows),
        data_(tiled.values),
        tile_rows_(device, tiled.tiles.size()),
        num_multiprocessors_(device_attribute(cudaDevAttrMultiProcessorCount)),
        most_shared_(std::min(kMaxSharedBytes, static_cast<std::size_t>(device_attribute(
                                                   cudaDevAttrMaxSharedMemoryPerBlockOptin)) -
                                                   kStaticShared)) {
    std::vector<int> rows;
    for (const Tile& tile : tiled.tiles) rows.push_back(tile.num_rows);
    tile_rows_.upload(rows);
  }

  static constexpr unsigned kThreads = 128;
  static dim3 one_thread_each(ActiveSet active) {
    return dim3((static_cast<unsigned>(active.count) + kThreads - 1) / kThreads);
  }
  std::size_t num_slots() const {
    return static_cast<std::size_t>(model_.shape().num_blocks() * device::kKeptOfBlock<kKept>);
  }
  std::size_t padded_rows() const { return tile_rows_.size() * kTileRows; }
  int dim() const { return model_.num_parameters(); }

  KeptSumsView<Real> cache_view() const {
    return {kept_.data(), stale_.data(), pending_.data(), padded_rows()};
  }

  EvaluationView<Shape, Real> view_of(const WorkMemory<Shape, Real>& memory, ActiveSet active) const {
    EvaluationView<Shape, Real> view{};
    view.shape = model_.shape();
    view.data = data_.data();
    view.tile_rows = tile_rows_.data();
    view.work = memory.work.view();
    view.active = active;
    view.coefficients = memory.coefficients.data();
    view.common = memory.common.data();
    view.tile_sums = memory.tile_sums.data();
    view.segment_sums = memory.segment_sums.data();
    view.num_arrived = memory.num_arrived.data();
    view.cache = cache_view();
    return view;
  }

  device::BatchView batch_view(const EvaluationView<Shape, Real>& view) const {
    device::BatchView batch{};
    batch.rows = view.data;
    batch.tile_rows = view.tile_rows;
    batch.active = view.active.chains;
    batch.num_active = view.active.count;
    batch.list_of_chain = view.work.list_of_chain;
    batch.first_tile = view.work.first_tile;
    batch.tiles = view.work.tiles;
    batch.first_segment = view.work.first_segment;
    batch.segment_first = view.work.segment_first;
    batch.num_rows = view.work.num_rows;
    batch.max_segments = view.work.max_segments;
    batch.coefficients = view.coefficients;
    batch.common = view.common;
    batch.tile_sums = view.tile_sums;
    batch.sums_per_chain = static_cast<device::i64>(view.work.max_tiles) * kSumsPerTile;
    batch.num_arrived = view.num_arrived;
    batch.log_likelihood = view.log_likelihood;
    batch.num_positions = view.work.max_tiles;
    batch.component = view.component;
    batch.kept = view.cache.values;
    batch.stale = view.cache.stale;
    batch.pending = view.cache.pending;
    batch.slot_size = static_cast<device::i64>(view.cache.slot_size);
    return batch;
  }

  // Chooses grid and kernel by the amount of work alone; the bits are those of any other choice.
  template <TileWork kWork>
  void run_tiles(const WorkMemory<Shape, Real>& memory, EvaluationView<Shape, Real> view, const double* theta,
                 int ld) const {
    if (view.active.count == 0) return;
    const long max_tiles = std::max(1, view.work.max_tiles);
    view.work.max_tiles = static_cast<int>(max_tiles);
    const long pairs = max_tiles * view.active.count;
    const long plenty = 64L * num_multiprocessors_;
    long each = std::clamp(pairs / plenty, 1L, 16L);
    constexpr long kMaxGridY = 65535;
    each = std::max(each, (view.active.count + kMaxGridY - 1) / kMaxGridY);
    view.chains_per_block = static_cast<int>(each);
    const dim3 grid(static_cast<unsigned>(max_tiles),
                    static_cast<unsigned>((view.active.count + each - 1) / each));
    const long blocks = max_tiles * grid.y;

    // Latency counts while the blocks are few: what is kept of components would be later than computing it.
    const bool fits = shared_bytes(TileMemory::fused, 1) <= most_shared_;
    const long at_once = static_cast<long>(kFusedBlocksAtOnce) * num_multiprocessors_;
    if (fits && blocks * kMaxParts <= at_once)
      return launch<TileWork::full, TileMemory::fused, kMaxParts>(view, grid, theta, ld);
    if (fits && blocks * 2 <= at_once)
      return launch<TileWork::full, TileMemory::fused, 2>(view, grid, theta, ld);
    if (fits && blocks <= at_once) return launch<TileWork::full, TileMemory::fused, 1>(view, grid, theta, ld);
    prepare(memory, view, theta, ld);
    if constexpr (kWork == TileWork::full)
      if (batch_ && &memory == &run_) return batch_->launch(batch_view(view), device_.stream());
    if constexpr (kWork == TileWork::component)
      if (component_batch_) return component_batch_->launch(batch_view(view), device_.stream());
    if (shared_bytes(TileMemory::staged, 1) <= most_shared_)
      return launch<kWork, TileMemory::staged, 1>(view, grid, theta, ld);
    launch<kWork, TileMemory::direct, 1>(view, grid, theta, ld);
  }

  std::size_t shared_bytes(TileMemory memory, int parts) const {
    return TileMemoryLayout<Shape, Real>(model_.shape(), dim(), memory, parts).size;
  }

  void prepare(const WorkMemory<Shape, Real>& memory, const EvaluationView<Shape, Real>& view,
               const double* theta, int ld) const {
    launch_kernel("launch of prepare_kernel", Overlap::yes, prepare_kernel<Model, Real>,
                  dim3(static_cast<unsigned>(view.active.count)), dim3(device::kTeamLanes), 0,
                  device_.stream(), model_, theta, ld, view.active, view.coefficients, view.common,
                  memory.scratch.data());
  }

  template <TileWork kWork, TileMemory kMemory, int kParts>
  void launch(const EvaluationView<Shape, Real>& view, dim3 grid, const double* theta, int ld) const {
    grid.x *= kParts;
    launch_kernel("launch of tile_kernel", Overlap::yes, tile_kernel<Model, Real, kWork, kMemory, kParts>,
                  grid, dim3(kTileThreads), shared_bytes(kMemory, kParts), device_.stream(), view, model_,
                  theta, ld);
  }

  // Tile sums of `count` draws (host) over all segments stay in memory.tile_sums; returns their common parts.
  std::vector<double> evaluate_all_tiles(const double* theta, int count, WorkMemory<Shape, Real>& memory,
                                         double* rows) const {
    std::vector<int> all(segments_.size());
    for (std::size_t s = 0; s < all.size(); ++s) all[s] = static_cast<int>(s);
    memory.work =
        ChainWork(device_, std::vector<ChainPlan>(static_cast<std::size_t>(count), {0, all, 1.0, 0}),
                  segments_, segment_first_tile_);
    memory.allocate(device_, model_.shape());
    DeviceArray<double> points(device_, static_cast<std::size_t>(count * dim()));
    points.upload({theta, theta + static_cast<std::ptrdiff_t>(count) * dim()});
    EvaluationView<Shape, Real> view = view_of(memory, {nullptr, count});
    view.rows = rows;
    view.chains_per_block = 1;
    prepare(memory, view, points.data(), dim());
    if (view.work.max_tiles > 0)
      launch<TileWork::full, TileMemory::direct, 1>(
          view, dim3(static_cast<unsigned>(view.work.max_tiles), static_cast<unsigned>(count)), points.data(),
          dim());
    return memory.common.download();
  }

  Model model_;
  ParameterLayout layout_;
  Device& device_;
  std::vector<Segment> segments_;
  std::vector<int> segment_first_tile_;
  std::size_t num_rows_;
  DeviceRows<Real> data_;
  DeviceArray<int> tile_rows_;
  int num_multiprocessors_;
  std::size_t most_shared_;  // dynamic, of a block
  WorkMemory<Shape, Real> run_;
  std::unique_ptr<BatchEvaluation> batch_, component_batch_;
  DeviceArray<Real> kept_;
  DeviceArray<device::StaleSums> stale_;
  DeviceArray<int> pending_;
};

}  // namespace

template <class Model>
std::unique_ptr<LikelihoodEngine> make_cuda_engine(const Model& model, Precision precision,
                                                   const DataSet& data, Device& device) {
  if (precision == Precision::mixed) return std::make_unique<CudaEngine<Model, float>>(model, data, device);
  return std::make_unique<CudaEngine<Model, double>>(model, data, device);
}

#define EMOMC_INSTANTIATE(Model)                                                               \
  template std::unique_ptr<LikelihoodEngine> make_cuda_engine(const device::Model&, Precision, \
                                                              const DataSet&, Device&);
EMOMC_MODELS(EMOMC_INSTANTIATE)

}  // namespace emomc
