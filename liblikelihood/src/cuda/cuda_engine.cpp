// The cuda engine owns data, tables and work memory on the GPU and chooses the kernels of an evaluation.
#include <algorithm>
#include <utility>

#include "../chain_segments.hpp"
#include "../engine_factories.hpp"
#include "../tree_sum.hpp"
#include "batch_evaluation.hpp"
#include "chain_work.hpp"
#include "cuda_table.hpp"
#include "emomc/core/cuda_check.hpp"
#include "emomc/core/current_device.hpp"
#include "emomc/likelihood/device_table.hpp"
#include "row_kernels.hpp"
#include "shared_rows.hpp"

namespace emomc {
namespace {

using device::EvaluationView;
using device::LikelihoodSizes;
using device::TileMemory;
using device::TileWork;

constexpr std::size_t kMaxSharedBytes = 110 << 10;  // a multiprocessor of Hopper holds two such blocks
constexpr std::size_t kStaticShared = 2 << 10;      // upper bound for tile_kernel
constexpr int kDrawsAtOnce = 256;

int device_attribute(const Device& device, cudaDeviceAttr which) {
  int index = 0, value = 0;
  use_device_of(device.stream());
  EMOMC_CUDA_CHECK(cudaGetDevice(&index));
  EMOMC_CUDA_CHECK(cudaDeviceGetAttribute(&value, which, index));
  return value;
}

// The working memory for evaluations of a set of chains.
template <class Real>
struct WorkMemory {
  ChainWork work;
  DeviceArray<Real> coefficients;
  DeviceArray<double> common, scratch, tile_sums, segment_sums;
  DeviceArray<unsigned> num_arrived;

  static std::size_t bytes(const LikelihoodSizes& sizes, std::size_t num_chains, std::size_t max_tiles,
                           std::size_t max_segments) {
    return num_chains * (static_cast<std::size_t>(sizes.num_coefficients) * sizeof(Real) +
                         (1 + static_cast<std::size_t>(sizes.num_scratch) + max_tiles * device::kSumsPerTile +
                          max_segments) *
                             sizeof(double) +
                         sizeof(unsigned));
  }
  void allocate(Device& device, const LikelihoodSizes& sizes) {
    const auto n = static_cast<std::size_t>(work.num_chains());
    coefficients = {device, n * static_cast<std::size_t>(sizes.num_coefficients)};
    common = {device, n};
    scratch = {device, n * static_cast<std::size_t>(sizes.num_scratch)};
    tile_sums = {device, n * static_cast<std::size_t>(work.max_tiles()) * device::kSumsPerTile};
    segment_sums = {device, n * static_cast<std::size_t>(work.max_segments())};
    num_arrived = {device, n};
  }
};

template <class Real>
class CudaEngine final : public LikelihoodEngine {
 public:
  /// `segments` are the rows of this engine, those of `share` or all rows if it is null; `tiles` are the
  /// tiles of `segments`.
  CudaEngine(ParameterLayout layout, DeviceLikelihood likelihood, std::unique_ptr<RowKernels<Real>> kernels,
             const GradientCode& gradient, const DataSet& data, Device& device, std::vector<Segment> segments,
             const TileLayout& tiles, std::unique_ptr<RowShare> share)
      : layout_(std::move(layout)),
        likelihood_(std::move(likelihood)),
        kernels_(std::move(kernels)),
        gradient_code_(gradient),
        device_(selected(device)),
        share_(std::move(share)),
        segments_(std::move(segments)),
        segment_first_tile_(tiles.segment_first_tile),
        num_rows_(data.num_rows),
        data_(rows_on_device<Real>(data, tiles, device)),
        tile_rows_(device, tiles.tiles.size()),
        num_multiprocessors_(device_attribute(device, cudaDevAttrMultiProcessorCount)),
        most_shared_(std::min(kMaxSharedBytes, static_cast<std::size_t>(device_attribute(
                                                   device, cudaDevAttrMaxSharedMemoryPerBlockOptin)) -
                                                   kStaticShared)) {
    has_gradient_ = runtime_compiler_problem().empty() &&
                    gradient_fits(likelihood_, gradient_code_, most_shared_of_block());
    if (has_gradient_) column_means_ = means_of_columns(data);
    std::vector<int> rows;
    for (const Tile& tile : tiles.tiles) rows.push_back(tile.num_rows);
    tile_rows_.upload(rows);
    if (!share_) return;
    devices_ = connect_devices(device, share_->ranks());
    segment_sums_ = std::make_unique<SharedSegmentSums>(*share_);
    kernels_->prepare_shared();
    // A sum of several tiles is a node of the tree if each rank begins at a multiple of that number of tiles.
    tiles_of_sum_ = segments_.size() == 1 ? share_->unit(0) : 1;
  }
  ~CudaEngine() override {
    try {
      use_device_of(device_.stream());
    } catch (const MachineError&) {  // an error has ended the context
    }
  }
  CudaEngine(const CudaEngine&) = delete;
  CudaEngine& operator=(const CudaEngine&) = delete;

  // The parts of ranks differ by about a hundredth; a rank has whole groups of gradients and whole runs of
  // the batch kernel's sums.
  static std::unique_ptr<RowShare> make_share(const DeviceLikelihood& likelihood,
                                              const GradientCode& gradient, const DataSet& data,
                                              Communicator* ranks) {
    if (!ranks || ranks->size() == 1) return nullptr;
    std::size_t num_tiles = 0;
    for (const Segment& segment : data.segments) num_tiles += (segment.num_rows + kTileRows - 1) / kTileRows;
    return std::make_unique<RowShare>(*ranks, data.segments, [&](int tiles) {
      const int least =
          gradient.sizes.num_numbers > 0 ? gradient_tiles_of_group(likelihood, gradient.sizes, tiles) : 1;
      return even_unit(num_tiles, ranks->size(), least);
    });
  }

  std::string name() const override { return "cuda"; }
  const ParameterLayout& layout() const override { return layout_; }
  Capabilities capabilities() const override { return {sizes().num_kept > 0, has_gradient_}; }
  Device& device() const override { return device_; }
  std::size_t num_segments() const override { return segments_.size(); }
  std::size_t num_rows() const override { return num_rows_; }
  Communicator* row_ranks() const override { return share_ ? &share_->ranks() : nullptr; }

  std::optional<DeviceLikelihood> device_likelihood() const override {
    if (share_) return std::nullopt;  // a kernel can only read the rows of one rank
    return own_likelihood();
  }
  DeviceLikelihood own_likelihood() const {
    DeviceLikelihood result = likelihood_;
    result.rows = data_->data();
    result.segment_first_tile = segment_first_tile_;
    result.kept = kept_.data();
    result.kept_bytes = kept_.bytes();
    for (const Segment& segment : segments_) result.segment_rows.push_back(segment.num_rows);
    return result;
  }

  MemoryPlan plan(const std::vector<ChainPlan>& chains, ComponentCaches caches) const override {
    MemoryPlan plan;
    plan.data_bytes = data_->size() * sizeof(Real);
    const ChainLists lists = tile_lists(chains, segments_, segment_first_tile_);
    plan.work_bytes =
        WorkMemory<Real>::bytes(sizes(), chains.size(), static_cast<std::size_t>(lists.max_leaves),
                                static_cast<std::size_t>(lists.max_segments));
    if (share_) plan.work_bytes += SharedRows::bytes(*share_, chain_segments(chains, segments_.size()));
    if (caches == ComponentCaches::on)
      plan.cache_bytes = chains.size() * num_kept() * padded_rows() * sizeof(Real);
    return plan;
  }

  void allocate(const std::vector<ChainPlan>& chains, ComponentCaches caches) override {
    // Memory of an earlier call is freed first.
    use_device_of(device_.stream());
    run_ = {};
    shared_.reset();
    kept_ = {};
    states_ = {};
    pending_ = {};
    gradients_.reset();
    const MemoryPlan needed = plan(chains, caches);
    if (needed.work_bytes + needed.cache_bytes > device_.free_bytes())
      throw MachineError("out of GPU memory: " + std::to_string(chains.size()) + " chains take " +
                         std::to_string(needed.work_bytes + needed.cache_bytes) + " bytes, " +
                         std::to_string(device_.free_bytes()) + " are free; use fewer chains");
    run_.work = ChainWork(device_, chains, segments_, segment_first_tile_);
    run_.allocate(device_, sizes());
    if (share_)
      shared_ = std::make_unique<SharedRows>(*share_, devices_, chain_segments(chains, segments_.size()));
    const int tiles_of_sum = share_ ? tiles_of_sum_ : BatchEvaluation::kAnyTiles;
    batch_ = BatchEvaluation::make(own_likelihood(), static_cast<int>(chains.size()), run_.work.view(), false,
                                   batch_machine(), tiles_of_sum);
    component_batch_.reset();
    if (caches == ComponentCaches::off || num_kept() == 0) return;
    component_batch_ = BatchEvaluation::make(own_likelihood(), static_cast<int>(chains.size()),
                                             run_.work.view(), true, batch_machine(), tiles_of_sum);
    kept_ = {device_, chains.size() * num_kept() * padded_rows()};
    states_ = {device_, chains.size() * kernels_->state_bytes()};
    pending_ = {device_, chains.size()};
    if (chains.empty()) return;
    kernels_->forget(kept_view(), {nullptr, static_cast<int>(chains.size())}, device_.stream());
  }

  void allocate_gradients() override {
    if (!has_gradient_) throw std::logic_error("cuda: this likelihood has no gradient");
    use_device_of(device_.stream());
    gradients_ = std::make_unique<GradientEvaluation>(device_, own_likelihood(), gradient_code_,
                                                      run_.work.num_chains(), run_.work, column_means_,
                                                      most_shared_of_block());
    if (share_) gradients_->share(*share_, shared_->nodes(), devices_);
  }

  void evaluate(EnsembleView candidate, ActiveSet active) override {
    EvaluationView<Real> view = view_of(run_, active);
    view.log_likelihood = candidate.log_likelihood;
    run_tiles(TileWork::full, run_, view, candidate.theta, candidate.ld);
  }
  void evaluate_with_gradient(EnsembleView candidate, GradientView gradient, ActiveSet active) override {
    if (!gradients_) throw std::logic_error("cuda: allocate_gradients() comes first");
    if (active.count == 0) return;
    EvaluationView<Real> view = view_of(run_, active);
    if (!kernels_->copies_parameters() || share_)
      gradients_->prepare(candidate.theta, candidate.ld, active, view.coefficients, view.common,
                          run_.scratch.data(), device_.stream());
    device::GradientKernelView kernels{};
    kernels.rows = view.data;
    kernels.tile_rows = view.tile_rows;
    kernels.work = view.work;
    kernels.active = active;
    kernels.wanted = gradient.wanted;
    kernels.coefficients = view.coefficients;
    kernels.common = view.common;
    kernels.theta = candidate.theta;
    kernels.ld = candidate.ld;
    kernels.log_likelihood = candidate.log_likelihood;
    kernels.gradient = gradient.gradient;
    kernels.ld_gradient = gradient.ld;
    if (!share_) return gradients_->launch(kernels, device_.stream());
    kernels.log_likelihood = nullptr;
    gradients_->launch_rows(kernels, device_.stream());
    const auto sums = gradients_->step_sums();
    finish_shared(active, {sums.sums, static_cast<device::i64>(sums.stride), sums.log2_per_tile},
                  candidate.log_likelihood);
    gradients_->finish(kernels, device_.stream());
  }
  void evaluate_component(EnsembleView candidate, const int* component, ActiveSet active) override {
    if (kept_.size() == 0) return evaluate(candidate, active);
    EvaluationView<Real> view = view_of(run_, active);
    view.log_likelihood = candidate.log_likelihood;
    view.component = component;
    view.is_component = true;
    run_tiles(TileWork::component, run_, view, candidate.theta, candidate.ld);
  }
  void rebuild_caches(EnsembleView, ActiveSet active) override {
    if (kept_.size() == 0 || active.count == 0) return;
    kernels_->forget(kept_view(), active, device_.stream());
  }
  void commit(const std::uint8_t* accepted, ActiveSet active) override {
    if (kept_.size() == 0 || active.count == 0) return;
    kernels_->commit(kept_view(), accepted, active, device_.stream());
  }

  void sums_by_segment(const double* theta, int num_draws, double* out) override {
    for (int first = 0; first < num_draws; first += kDrawsAtOnce) {
      const int count = std::min(kDrawsAtOnce, num_draws - first);
      WorkMemory<Real> memory;
      const double* const points = theta + static_cast<std::ptrdiff_t>(first) * dim();
      if (segments_.size() == 1 && !share_) {  // the GPU sums the tiles, so that few numbers are copied
        const DeviceArray<double> log_likelihoods(device_, static_cast<std::size_t>(count));
        evaluate_all_tiles(points, count, memory, nullptr, log_likelihoods.data());
        const auto values = log_likelihoods.download();
        out = std::copy(values.begin(), values.end(), out);
        continue;
      }
      const auto common = evaluate_all_tiles(points, count, memory, nullptr);
      auto sums = memory.tile_sums.download();
      const auto num_tiles = static_cast<std::size_t>(memory.work.max_tiles());
      if (share_) {
        segment_sums_->gather(sums.data(), num_tiles * device::kSumsPerTile, count, out);
        for (int draw = 0; draw < count; ++draw)
          for (std::size_t s = 0; s < segments_.size(); ++s, ++out)
            *out = kernels_->log_likelihood(*out, share_->segments()[s].num_rows,
                                            common[static_cast<std::size_t>(draw)]);
        continue;
      }
      for (int draw = 0; draw < count; ++draw)
        for (std::size_t s = 0; s < segments_.size(); ++s) {
          double* tiles = sums.data() + static_cast<std::size_t>(draw) * num_tiles * device::kSumsPerTile;
          const int begin = segment_first_tile_[s], end = segment_first_tile_[s + 1];
          const double sum = tree_sum({tiles + begin, static_cast<std::size_t>(end - begin)});
          *out++ =
              kernels_->log_likelihood(sum, segments_[s].num_rows, common[static_cast<std::size_t>(draw)]);
        }
    }
  }

  void evaluate_rows(const double* theta, double* out) override {
    WorkMemory<Real> memory;
    DeviceArray<double> rows(device_, padded_rows());
    const double common = evaluate_all_tiles(theta, 1, memory, rows.data())[0];
    const auto values = rows.download();
    for (std::size_t s = 0; s < segments_.size(); ++s) {
      const auto tiled = static_cast<std::size_t>(segment_first_tile_[s]) * kTileRows;
      for (std::size_t i = 0; i < segments_[s].num_rows; ++i)
        out[segments_[s].first_row + i] = kernels_->log_density(values[tiled + i], common);
    }
    if (share_) share_->gather_rows(out);
  }

 private:
  static Device& selected(Device& device) {
    use_device_of(device.stream());
    return device;
  }

  // Dynamic shared memory that a block of a kernel with little static shared memory may have.
  std::size_t most_shared_of_block() const {
    return static_cast<std::size_t>(device_attribute(device_, cudaDevAttrMaxSharedMemoryPerBlockOptin)) -
           kStaticShared;
  }
  // Adds in the order of device/column_folds.hpp.
  static std::vector<double> means_of_columns(const DataSet& data) {
    if (data.on_device) return data.on_device->table->means(*data.on_device);
    std::vector<double> means(static_cast<std::size_t>(data.dim)), of_block(means.size());
    for (std::size_t row = 0; row < data.num_rows;) {
      const std::size_t end = std::min<std::size_t>(data.num_rows, row + device::kBlockRows);
      std::fill(of_block.begin(), of_block.end(), 0.0);
      for (; row < end; ++row)
        for (std::size_t j = 0; j < means.size(); ++j) of_block[j] += data.values[row * means.size() + j];
      for (std::size_t j = 0; j < means.size(); ++j) means[j] += of_block[j];
    }
    for (double& mean : means) mean /= static_cast<double>(std::max<std::size_t>(1, data.num_rows));
    return means;
  }

  BatchMachine batch_machine() const {
    return {num_multiprocessors_,
            static_cast<std::size_t>(device_attribute(device_, cudaDevAttrL2CacheSize))};
  }
  const LikelihoodSizes& sizes() const { return likelihood_.sizes; }
  std::size_t num_kept() const { return static_cast<std::size_t>(sizes().num_kept); }
  std::size_t padded_rows() const { return tile_rows_.size() * kTileRows; }
  int dim() const { return layout_.dim(); }

  device::KeptView kept_view() const {
    return {kept_.data(), states_.data(), pending_.data(), static_cast<device::i64>(padded_rows())};
  }

  EvaluationView<Real> view_of(const WorkMemory<Real>& memory, ActiveSet active) const {
    EvaluationView<Real> view{};
    view.data = data_->data();
    view.tile_rows = tile_rows_.data();
    view.work = memory.work.view();
    if (shared_ && &memory == &run_) view.work.num_rows = shared_->num_rows();
    view.active = active;
    view.coefficients = memory.coefficients.data();
    view.common = memory.common.data();
    view.tile_sums = memory.tile_sums.data();
    view.segment_sums = memory.segment_sums.data();
    view.num_arrived = memory.num_arrived.data();
    view.kept = kept_view();
    return view;
  }

  device::BatchView batch_view(const EvaluationView<Real>& view, const double* theta, int ld) const {
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
    batch.theta = theta;
    batch.ld_theta = ld;
    batch.tile_sums = view.tile_sums;
    batch.sums_per_chain = static_cast<device::i64>(view.work.max_tiles) * device::kSumsPerTile;
    batch.num_arrived = view.num_arrived;
    batch.log_likelihood = view.log_likelihood;
    batch.num_positions = view.work.max_tiles;
    batch.component = view.component;
    batch.kept = view.kept.values;
    batch.stale = view.kept.states;
    batch.pending = view.kept.pending;
    batch.slot_size = view.kept.slot_size;
    return batch;
  }

  // Chooses grid and kernel by the amount of work alone; the bits are those of any other choice.
  void run_tiles(TileWork work, const WorkMemory<Real>& memory, EvaluationView<Real> view,
                 const double* theta, int ld) {
    if (view.active.count == 0) return;
    if (share_) return run_shared_tiles(work, memory, view, theta, ld);
    const long max_tiles = std::max(1, view.work.max_tiles);
    view.work.max_tiles = static_cast<int>(max_tiles);
    const long pairs = max_tiles * view.active.count;
    const long plenty = 64L * num_multiprocessors_;
    long each = std::clamp(pairs / plenty, 1L, 16L);
    constexpr long kMaxGridY = 65535;
    each = std::max(each, (view.active.count + kMaxGridY - 1) / kMaxGridY);
    view.chains_per_block = static_cast<int>(each);
    const auto groups = static_cast<unsigned>((view.active.count + each - 1) / each);
    const long blocks = max_tiles * groups;
    const auto launch = [&](TileWork kind, TileMemory where, int parts) {
      launch_tiles(kind, where, parts, view, groups, theta, ld);
    };

    // With few blocks latency decides: reading kept sums would take longer than computing the components.
    const bool fits = kernels_->has_shared_tiles() && shared_bytes(TileMemory::fused, 1) <= most_shared_;
    const long at_once = static_cast<long>(device::kFusedBlocksAtOnce) * num_multiprocessors_;
    for (const int parts : {device::kMaxParts, 2, 1})
      if (fits && blocks * parts <= at_once) return launch(TileWork::full, TileMemory::fused, parts);
    const auto& batch = work == TileWork::full ? batch_ : component_batch_;
    if (!batch || !kernels_->copies_parameters()) prepare(memory, view, theta, ld);
    if (batch) {
      batch->launch(batch_view(view, theta, ld), device_.stream());
      return;
    }
    const bool stages = kernels_->has_shared_tiles() && shared_bytes(TileMemory::staged, 1) <= most_shared_;
    launch(work, stages ? TileMemory::staged : TileMemory::direct, 1);
  }

  // run_tiles() for rows that are divided over ranks: sums this rank's tiles, gathers the nodes of all ranks,
  // and computes log likelihoods from the nodes.
  void run_shared_tiles(TileWork work, const WorkMemory<Real>& memory, EvaluationView<Real> view,
                        const double* theta, int ld) {
    double* const log_likelihood = std::exchange(view.log_likelihood, nullptr);
    prepare(memory, view, theta, ld);
    int log2_per_tile = 0;
    if (view.work.max_tiles > 0) {
      const auto& batch = work == TileWork::full ? batch_ : component_batch_;
      if (batch) {
        log2_per_tile = batch->launch(batch_view(view, theta, ld), device_.stream());
      } else {
        const bool stages =
            kernels_->has_shared_tiles() && shared_bytes(TileMemory::staged, 1) <= most_shared_;
        constexpr int kMostGridY = 65535;
        view.chains_per_block = (view.active.count + kMostGridY - 1) / kMostGridY;
        launch_tiles(
            work, stages ? TileMemory::staged : TileMemory::direct, 1, view,
            static_cast<unsigned>((view.active.count + view.chains_per_block - 1) / view.chains_per_block),
            theta, ld);
      }
    }
    finish_shared(view.active,
                  {memory.tile_sums.data(),
                   static_cast<device::i64>(memory.work.max_tiles()) * device::kSumsPerTile, log2_per_tile},
                  log_likelihood);
  }

  struct TileSums {
    double* sums;
    device::i64 stride;
    int log2_per_tile;
  };
  void finish_shared(ActiveSet active, const TileSums& sums, double* log_likelihood) {
    device::NodeSumsView view = shared_->view(active);
    view.tile_sums = sums.sums;
    view.sums_per_chain = sums.stride;
    view.log2_per_tile = sums.log2_per_tile;
    view.common = run_.common.data();
    view.log_likelihood = log_likelihood;
    shared_->gather(view, device_.stream());
    kernels_->finish_shared(view, shared_->shared_bytes(), device_.stream());
  }

  std::size_t shared_bytes(TileMemory memory, int parts) const {
    return static_cast<std::size_t>(
        device::TileMemoryLayout(sizes(), dim(), static_cast<int>(sizeof(Real)), memory, parts).size);
  }

  void prepare(const WorkMemory<Real>& memory, const EvaluationView<Real>& view, const double* theta,
               int ld) const {
    kernels_->prepare(theta, ld, view.active, view.coefficients, view.common, memory.scratch.data(),
                      device_.stream());
  }

  void launch_tiles(TileWork work, TileMemory memory, int parts, const EvaluationView<Real>& view,
                    unsigned groups, const double* theta, int ld) const {
    kernels_->evaluate({work, memory, parts, static_cast<unsigned>(view.work.max_tiles), groups,
                        shared_bytes(memory, parts)},
                       view, theta, ld, device_.stream());
  }

  // Writes the tile sums of `count` draws (theta in host memory) over all segments to memory.tile_sums and
  // returns `common` of each draw. `log_likelihoods` [count], in device memory, gets those of all segments
  // together; may be null.
  std::vector<double> evaluate_all_tiles(const double* theta, int count, WorkMemory<Real>& memory,
                                         double* rows, double* log_likelihoods = nullptr) const {
    std::vector<int> all(segments_.size());
    for (std::size_t s = 0; s < all.size(); ++s) all[s] = static_cast<int>(s);
    memory.work =
        ChainWork(device_, std::vector<ChainPlan>(static_cast<std::size_t>(count), {0, all, 1.0, 0}),
                  segments_, segment_first_tile_);
    memory.allocate(device_, sizes());
    DeviceArray<double> points(device_, static_cast<std::size_t>(count * dim()));
    points.upload({theta, theta + static_cast<std::ptrdiff_t>(count) * dim()});
    EvaluationView<Real> view = view_of(memory, {nullptr, count});
    view.rows = rows;
    view.log_likelihood = log_likelihoods;
    view.chains_per_block = 1;
    prepare(memory, view, points.data(), dim());
    if (view.work.max_tiles > 0)
      launch_tiles(TileWork::full, TileMemory::direct, 1, view, static_cast<unsigned>(count), points.data(),
                   dim());
    return memory.common.download();
  }

  ParameterLayout layout_;
  DeviceLikelihood likelihood_;
  std::unique_ptr<RowKernels<Real>> kernels_;
  GradientCode gradient_code_;
  Device& device_;
  std::unique_ptr<RowShare> share_;  ///< null: this engine has all rows
  std::vector<Segment> segments_;    ///< the rows of this engine
  std::vector<int> segment_first_tile_;
  std::size_t num_rows_;  ///< rows of all ranks
  std::shared_ptr<const DeviceRows<Real>> data_;
  DeviceArray<int> tile_rows_;
  int num_multiprocessors_;
  std::size_t most_shared_;  // bytes of dynamic shared memory of a block
  WorkMemory<Real> run_;
  bool has_gradient_ = false;
  std::vector<double> column_means_;
  std::unique_ptr<GradientEvaluation> gradients_;
  std::unique_ptr<BatchEvaluation> batch_, component_batch_;
  DeviceArray<Real> kept_;
  DeviceArray<unsigned char> states_;
  DeviceArray<int> pending_;
  // The members below are used if rows are divided over ranks.
  std::shared_ptr<DeviceRanks> devices_;
  std::unique_ptr<SharedSegmentSums> segment_sums_;
  int tiles_of_sum_ = 1;
  std::unique_ptr<SharedRows> shared_;
};

}  // namespace

template <class Real>
std::unique_ptr<LikelihoodEngine> make_row_engine(ParameterLayout layout, DeviceLikelihood likelihood,
                                                  std::unique_ptr<RowKernels<Real>> kernels,
                                                  const GradientCode& gradient, const DataSet& data,
                                                  Device& device, Communicator* ranks) {
  using Engine = CudaEngine<Real>;
  auto share = Engine::make_share(likelihood, gradient, data, ranks);
  auto segments = share ? share->own_segments() : data.segments;
  if (share && data.on_device)
    throw InputError(
        "shard: rows: the data are in the memory of one GPU, and rows are divided over several; allowed: a "
        "copy of them in the host's memory");
  const TileLayout tiles = tile_layout(segments);
  return std::make_unique<Engine>(std::move(layout), std::move(likelihood), std::move(kernels), gradient,
                                  data, device, std::move(segments), tiles, std::move(share));
}
template std::unique_ptr<LikelihoodEngine> make_row_engine(ParameterLayout, DeviceLikelihood,
                                                           std::unique_ptr<RowKernels<float>>,
                                                           const GradientCode&, const DataSet&, Device&,
                                                           Communicator*);
template std::unique_ptr<LikelihoodEngine> make_row_engine(ParameterLayout, DeviceLikelihood,
                                                           std::unique_ptr<RowKernels<double>>,
                                                           const GradientCode&, const DataSet&, Device&,
                                                           Communicator*);

}  // namespace emomc
