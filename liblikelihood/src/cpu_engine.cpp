// The cpu engine distributes chains and tiles over threads; the model provides the arithmetic of a tile
// (TileArithmetic).
#include <algorithm>
#include <array>
#include <utility>

#include "chain_segments.hpp"
#include "cpu_gradients.hpp"
#include "cpu_kernel.hpp"
#include "cpu_work.hpp"
#include "emomc/core/rank_gather.hpp"
#include "emomc/core/thread_pool.hpp"
#include "engine_factories.hpp"
#include "row_share.hpp"
#include "tree_sum.hpp"

namespace emomc {
namespace {

// Kept numbers for the rows of each chain (TileArithmetic::keep), in two copies: one belongs to the current
// point, the other to the candidate if the numbers differ. A slot holds the rows of all tiles of a chain.
template <class Real>
struct KeptNumbers {
  static constexpr int kAllPending = -1, kNothingPending = -2;

  int num_kept = 0;  ///< 0: no cache
  std::vector<Real> values;
  std::vector<std::size_t> first_slot;  ///< [num_chains] index of the first slot's values
  std::vector<std::size_t> slot_size;   ///< [num_chains] padded number of rows of the chain's tiles
  std::vector<int> copy;                ///< num_chains x num_kept: which copy belongs to the current point
  /// [num_chains]: the slot that has the candidate's numbers in the other copy, kAllPending, or
  /// kNothingPending.
  std::vector<int> pending;

  bool is_pending(std::size_t chain, int slot) const {
    return pending[chain] == kAllPending || pending[chain] == slot;
  }
  int& copy_of(std::size_t chain, int slot) {
    return copy[chain * static_cast<std::size_t>(num_kept) + static_cast<std::size_t>(slot)];
  }
  /// The numbers of the current point, or of the candidate, for the chain's n-th tile.
  Real* current(std::size_t chain, int slot, std::size_t n) {
    return at(chain, 2 * slot + copy_of(chain, slot), n);
  }
  Real* candidate(std::size_t chain, int slot, std::size_t n) {
    return at(chain, 2 * slot + (is_pending(chain, slot) ? 1 - copy_of(chain, slot) : copy_of(chain, slot)),
              n);
  }

 private:
  Real* at(std::size_t chain, int half_slot, std::size_t n) {
    return values.data() + first_slot[chain] + static_cast<std::size_t>(half_slot) * slot_size[chain] +
           n * kTileRows;
  }
};

template <class Real>
class CpuEngine final : public LikelihoodEngine {
 public:
  CpuEngine(std::shared_ptr<const RowModel> model, std::unique_ptr<TileArithmetic<Real>> arithmetic,
            const DataSet& data, Device& device, int num_threads, Communicator* ranks)
      : model_(std::move(model)),
        arithmetic_(std::move(arithmetic)),
        device_(device),
        share_(make_share(*arithmetic_, data, ranks)),
        segments_(share_ ? share_->own_segments() : data.segments),
        data_(tile_data<Real>(data, segments_)),
        num_rows_(data.num_rows),
        pool_(num_threads),
        parts_(data_.tiles, data_.segment_first_tile, pool_, arithmetic_->chains_at_once()),
        gradients_(*arithmetic_, data_, segments_, pool_) {
    if (!share_) return;
    devices_ = connect_devices(device, share_->ranks());
    segment_sums_ = std::make_unique<SharedSegmentSums>(*share_);
  }

  std::string name() const override { return "cpu"; }
  const ParameterLayout& layout() const override { return model_->layout(); }
  Capabilities capabilities() const override {
    return {num_kept() > 0, arithmetic_->num_gradient_sums() > 0};
  }
  Device& device() const override { return device_; }
  std::size_t num_segments() const override { return segments_.size(); }
  std::size_t num_rows() const override { return num_rows_; }
  Communicator* row_ranks() const override { return share_ ? &share_->ranks() : nullptr; }

  MemoryPlan plan(const std::vector<ChainPlan>& chains, ComponentCaches caches) const override {
    std::size_t num_tiles = 0;  // over all chains
    for (const auto& segments : chain_segments(chains, num_segments())) num_tiles += tiles_of(segments);
    MemoryPlan plan;
    plan.data_bytes = data_.values.size() * sizeof(Real);
    plan.work_bytes =
        chains.size() * (static_cast<std::size_t>(num_coefficients()) * sizeof(Real) + sizeof(double)) +
        num_tiles * TileParts::kBytesPerTile;
    if (share_) plan.work_bytes += chains.size() * bytes_of_records(chains);
    if (caches == ComponentCaches::on)
      plan.cache_bytes = num_tiles * kTileRows * 2 * static_cast<std::size_t>(num_kept()) * sizeof(Real);
    return plan;
  }

  void allocate(const std::vector<ChainPlan>& chains, ComponentCaches caches) override {
    parts_.set_chains(chain_segments(chains, num_segments()));
    gradients_.set_chains(parts_.chain_segments());
    const std::size_t n = chains.size();
    reserve(n);
    if (share_) {
      nodes_ = RowNodes(*share_, parts_.chain_segments());
      const auto num_ranks = static_cast<std::size_t>(share_->num_ranks());
      records_.assign(num_ranks * n * nodes_.width(), 0);
      gather_ = std::make_unique<RankGather>(
          devices_, std::vector<std::size_t>(num_ranks, nodes_.width() * sizeof(double)), n);
    }
    cache_ = {};
    if (caches == ComponentCaches::off || num_kept() == 0) return;
    cache_.num_kept = num_kept();
    std::size_t size = 0;
    for (const auto& segments : parts_.chain_segments()) {
      cache_.first_slot.push_back(size);
      cache_.slot_size.push_back(tiles_of(segments) * kTileRows);
      size += cache_.slot_size.back() * 2 * static_cast<std::size_t>(num_kept());
    }
    cache_.values.assign(size, Real(0));
    cache_.pending.assign(n, KeptNumbers<Real>::kNothingPending);
    cache_.copy.assign(n * static_cast<std::size_t>(num_kept()), 0);
  }

  void allocate_gradients() override {
    if (share_ && capabilities().gradient) gradients_.share(*share_, nodes_, devices_);
  }

  void evaluate(EnsembleView candidate, ActiveSet active) override {
    prepare(candidate.theta, candidate.ld, active);
    parts_.choose(active);
    pool_.for_each(parts_.group_range_starts(), [this](std::size_t group, int worker) {
      evaluate_group(parts_.group_starts()[group], parts_.group_starts()[group + 1], worker);
    });
    finish(candidate.log_likelihood, active);
  }

  void evaluate_with_gradient(EnsembleView candidate, GradientView gradient, ActiveSet active) override {
    if (!capabilities().gradient)
      return LikelihoodEngine::evaluate_with_gradient(candidate, gradient, active);
    if (share_ && !gradients_.is_shared()) throw std::logic_error("cpu: allocate_gradients() comes first");
    prepare(candidate.theta, candidate.ld, active);
    gradients_.evaluate({coefficients_.data(), static_cast<std::size_t>(num_coefficients()), common_.data()},
                        candidate, gradient, active);
  }

  void evaluate_component(EnsembleView candidate, const int* component, ActiveSet active) override {
    if (cache_.num_kept == 0) return evaluate(candidate, active);
    prepare(candidate.theta, candidate.ld, active);
    parts_.choose(active);
    for (int i = 0; i < active.count; ++i) {
      const int changed = component[chain_of(active, i)];
      cache_.pending[chain_of(active, i)] =
          changed == kAllComponents ? KeptNumbers<Real>::kAllPending : arithmetic_->slot_of(changed);
    }
    for_each_part([this](const TilePart& part, double* sums, int worker) {
      const Real* tile = tile_values(part.tile) + part.row;
      std::vector<const Real*>& kept = kept_[static_cast<std::size_t>(worker)];
      kept.clear();
      for (int slot = 0; slot < num_kept(); ++slot) {
        Real* numbers = cache_.candidate(part.chain, slot, part.nth_tile) + part.row;
        if (cache_.is_pending(part.chain, slot))
          arithmetic_->keep(coefficients(part), tile, part.num_rows, slot, numbers);
        kept.push_back(numbers);
      }
      return arithmetic_->partial_sums_of_kept(coefficients(part), tile, kept.data(), part.num_rows, sums);
    });
    finish(candidate.log_likelihood, active);
  }

  void commit(const std::uint8_t* accepted, ActiveSet active) override {
    if (cache_.num_kept == 0) return;
    for (int i = 0; i < active.count; ++i) {
      const std::size_t chain = chain_of(active, i);
      for (int slot = 0; accepted[chain] && slot < num_kept(); ++slot)
        if (cache_.is_pending(chain, slot)) cache_.copy_of(chain, slot) = 1 - cache_.copy_of(chain, slot);
      cache_.pending[chain] = KeptNumbers<Real>::kNothingPending;
    }
  }

  void rebuild_caches(EnsembleView current, ActiveSet active) override {
    if (cache_.num_kept == 0) return;
    prepare(current.theta, current.ld, active);
    parts_.choose(active);
    for_each_part([this](const TilePart& part, double*, int) {
      for (int slot = 0; slot < num_kept(); ++slot)
        arithmetic_->keep(coefficients(part), tile_values(part.tile) + part.row, part.num_rows, slot,
                          cache_.current(part.chain, slot, part.nth_tile) + part.row);
      return std::size_t{0};
    });
  }

  void sums_by_segment(const double* theta, int num_draws, double* out) override {
    std::vector<double> tile_sums(data_.tiles.size());
    for (int draw = 0; draw < num_draws; ++draw) {
      const double common = prepare_one(theta + static_cast<std::ptrdiff_t>(draw) * layout().dim());
      pool_.for_each(tile_sums.size(), [&](std::size_t t, int worker) {
        double* sums = scratch_rows(worker);
        const std::size_t count =
            arithmetic_->partial_sums(coefficients_.data(), tile_values(t), data_.tiles[t].num_rows, sums);
        tile_sums[t] = tile_sum(sums, count);
      });
      if (share_) {
        segment_sums_->gather(tile_sums.data(), tile_sums.size(), 1, out);
        for (std::size_t s = 0; s < segments_.size(); ++s, ++out)
          *out = arithmetic_->log_likelihood(*out, share_->segments()[s].num_rows, common);
        continue;
      }
      for (std::size_t s = 0; s < segments_.size(); ++s) {
        const auto first = static_cast<std::size_t>(data_.segment_first_tile[s]);
        const auto count = static_cast<std::size_t>(data_.segment_first_tile[s + 1]) - first;
        *out++ = arithmetic_->log_likelihood(tree_sum({tile_sums.data() + first, count}),
                                             segments_[s].num_rows, common);
      }
    }
  }

  void evaluate_rows(const double* theta, double* out) override {
    const double common = prepare_one(theta);
    pool_.for_each(data_.tiles.size(), [&](std::size_t t, int worker) {
      double* rows = scratch_rows(worker);
      const auto& tile = data_.tiles[t];
      arithmetic_->log_densities(coefficients_.data(), tile_values(t), tile.num_rows, rows);
      for (int i = 0; i < tile.num_rows; ++i)
        out[tile.first_row + static_cast<std::size_t>(i)] = arithmetic_->log_density(rows[i], common);
    });
    if (share_) share_->gather_rows(out);
  }

 private:
  // The unit of a segment is a block of tiles for gradients, so that a rank has whole blocks.
  static std::unique_ptr<RowShare> make_share(const TileArithmetic<Real>& arithmetic, const DataSet& data,
                                              Communicator* ranks) {
    if (!ranks || ranks->size() == 1) return nullptr;
    const bool has_blocks = arithmetic.num_gradient_sums() > 0;
    return std::make_unique<RowShare>(*ranks, data.segments, [has_blocks](int num_tiles) {
      return has_blocks ? static_cast<int>(tiles_of_gradient_block(static_cast<std::size_t>(num_tiles))) : 1;
    });
  }
  std::size_t bytes_of_records(const std::vector<ChainPlan>& chains) const {
    return RowNodes(*share_, chain_segments(chains, num_segments())).width() *
           static_cast<std::size_t>(share_->num_ranks()) * sizeof(double);
  }
  int num_kept() const { return arithmetic_->num_kept(); }
  int num_coefficients() const { return arithmetic_->num_coefficients(); }
  std::size_t tiles_of(const std::vector<int>& segments) const {
    std::size_t n = 0;
    for (const int s : segments)
      n += static_cast<std::size_t>(data_.segment_first_tile[static_cast<std::size_t>(s) + 1] -
                                    data_.segment_first_tile[static_cast<std::size_t>(s)]);
    return n;
  }
  const Real* tile_values(std::size_t tile) const {
    return data_.values.data() + tile * static_cast<std::size_t>(data_.dim) * kTileRows;
  }
  const Real* coefficients(const TilePart& part) const {
    return coefficients_.data() + part.slot * static_cast<std::size_t>(num_coefficients());
  }
  static std::size_t chain_of(ActiveSet active, int i) {
    return static_cast<std::size_t>(active.chains ? active.chains[i] : i);
  }

  void reserve(std::size_t num_slots) {
    coefficients_.resize(num_slots * static_cast<std::size_t>(num_coefficients()));
    common_.resize(num_slots);
    scratch_.resize(static_cast<std::size_t>(pool_.num_threads()),
                    std::vector<double>(static_cast<std::size_t>(arithmetic_->num_scratch())));
    rows_.resize(static_cast<std::size_t>(pool_.num_threads()),
                 std::vector<double>(kTileRows * static_cast<std::size_t>(arithmetic_->chains_at_once())));
    kept_.resize(static_cast<std::size_t>(pool_.num_threads()));
  }

  // Writes the coefficients of active chain i to slot i.
  void prepare(const double* theta, int ld, ActiveSet active) {
    const auto count = static_cast<std::size_t>(active.count);
    const auto size = static_cast<std::size_t>(num_coefficients());
    const auto prepare_one = [&](std::size_t i, int worker) {
      const double* point = theta + static_cast<std::ptrdiff_t>(chain_of(active, static_cast<int>(i))) * ld;
      common_[i] = arithmetic_->prepare(point, coefficients_.data() + i * size,
                                        scratch_[static_cast<std::size_t>(worker)].data());
    };
    // For less work than this, starting other threads takes longer than the work.
    constexpr std::size_t kCoefficientsForThreads = 2'000;
    if (count * size < kCoefficientsForThreads)
      for (std::size_t i = 0; i < count; ++i) prepare_one(i, 0);
    else
      pool_.for_each(count, prepare_one);
  }

  double* scratch_rows(int worker) { return rows_[static_cast<std::size_t>(worker)].data(); }

  // Evaluates parts `first` to `end`, which have the same rows for one chain or several.
  void evaluate_group(std::size_t first, std::size_t end, int worker) {
    constexpr std::size_t kMost = 16;
    const TilePart& part = parts_.parts()[first];
    const Real* const tile = tile_values(part.tile) + part.row;
    const std::size_t num_chains = end - first;
    double* const sums = scratch_rows(worker);
    if (num_chains == 1) {
      parts_.sums()[first] =
          tile_sum(sums, arithmetic_->partial_sums(coefficients(part), tile, part.num_rows, sums));
      return;
    }
    std::array<const Real*, kMost> points{};
    std::array<double*, kMost> out{};
    for (std::size_t i = 0; i < num_chains; ++i) {
      points[i] = coefficients(parts_.parts()[first + i]);
      out[i] = sums + i * kTileRows;
    }
    const std::size_t count = arithmetic_->partial_sums_of_chains(points.data(), static_cast<int>(num_chains),
                                                                  tile, part.num_rows, out.data());
    for (std::size_t i = 0; i < num_chains; ++i) parts_.sums()[first + i] = tile_sum(out[i], count);
  }

  // compute(part, sums, worker) writes the partial sums of a part and returns how many.
  template <class F>
  void for_each_part(F compute) {
    pool_.for_each(parts_.range_starts(), [&](std::size_t p, int worker) {
      const TilePart& part = parts_.parts()[p];
      double* sums = scratch_rows(worker);
      const std::size_t count = compute(part, sums, worker);
      parts_.sums()[p] = tile_sum(sums, count);
    });
  }

  void finish(double* log_likelihood, ActiveSet active) {
    if (share_) return finish_shared(log_likelihood, active);
    for (int i = 0; i < active.count; ++i) {
      const std::size_t chain = chain_of(active, i), slot = static_cast<std::size_t>(i);
      std::size_t rows = 0;
      for (const int segment : parts_.chain_segments()[chain])
        rows += segments_[static_cast<std::size_t>(segment)].num_rows;
      log_likelihood[chain] = arithmetic_->log_likelihood(parts_.sum_of(slot), rows, common_[slot]);
    }
  }

  void finish_shared(double* log_likelihood, ActiveSet active) {
    const auto count = static_cast<std::size_t>(active.count);
    const std::size_t width = nodes_.width(), of_rank = count * width;
    double* const own = records_.data() + static_cast<std::size_t>(share_->rank()) * of_rank;
    for (std::size_t slot = 0; slot < count; ++slot)
      RowNodes::sum_own(nodes_.of_chain(chain_of(active, static_cast<int>(slot))),
                        parts_.tile_sums_of(slot).data(), own + slot * width);
    gather_->enqueue(records_.data(), count);
    for (std::size_t slot = 0; slot < count; ++slot) {
      const std::size_t chain = chain_of(active, static_cast<int>(slot));
      const RowNodes::List& list = nodes_.of_chain(chain);
      log_likelihood[chain] = arithmetic_->log_likelihood(
          RowNodes::sum_of(list, records_.data() + slot * width, of_rank, numbers_), list.num_rows,
          common_[slot]);
    }
  }

  // Writes the coefficients of one point to slot 0 and returns `common` of this point.
  double prepare_one(const double* theta) {
    reserve(std::max<std::size_t>(common_.size(), 1));
    prepare(theta, 0, {nullptr, 1});
    return common_[0];
  }

  std::shared_ptr<const RowModel> model_;
  std::unique_ptr<TileArithmetic<Real>> arithmetic_;
  Device& device_;
  std::unique_ptr<RowShare> share_;  ///< null: this engine has all rows
  std::vector<Segment> segments_;    ///< the rows of this engine
  TiledData<Real> data_;
  std::size_t num_rows_;  ///< rows of all ranks
  ThreadPool pool_;
  TileParts parts_;
  CpuGradients<Real> gradients_;
  std::vector<Real> coefficients_;
  std::vector<double> common_;
  std::vector<std::vector<double>> scratch_, rows_;  ///< for each thread
  std::vector<std::vector<const Real*>> kept_;       ///< for each thread
  KeptNumbers<Real> cache_;
  // The members below are used if rows are divided over ranks.
  std::shared_ptr<DeviceRanks> devices_;
  std::unique_ptr<SharedSegmentSums> segment_sums_;
  RowNodes nodes_;
  std::vector<double> records_, numbers_;  ///< records_: [rank][slot][nodes_.width()]
  std::unique_ptr<RankGather> gather_;
};

}  // namespace

std::unique_ptr<LikelihoodEngine> make_cpu_engine(std::shared_ptr<const RowModel> model, Precision precision,
                                                  const DataSet& data, Device& device, int num_threads,
                                                  Communicator* ranks) {
  if (precision == Precision::mixed) {
    auto arithmetic = model->float32();
    return std::make_unique<CpuEngine<float>>(std::move(model), std::move(arithmetic), data, device,
                                              num_threads, ranks);
  }
  auto arithmetic = model->float64();
  return std::make_unique<CpuEngine<double>>(std::move(model), std::move(arithmetic), data, device,
                                             num_threads, ranks);
}

}  // namespace emomc
