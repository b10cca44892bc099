#include <algorithm>
#include <cmath>
#include <cstring>

#include "chain_segments.hpp"
#include "cpu_kernel.hpp"
#include "cpu_work.hpp"
#include "emomc/core/thread_pool.hpp"
#include "emomc/device/prepare_mixture.hpp"
#include "emomc/likelihood/models.hpp"
#include "engine_factories.hpp"
#include "tree_sum.hpp"

namespace emomc {
namespace {

TileForm tile_form(const device::AxisAlignedShape&) { return TileForm::axis_aligned; }
TileForm tile_form(const device::FullShape&) { return TileForm::full; }
TileForm tile_form(const device::TiedShape&) { return TileForm::tied; }

// Sums over pairs of components (mixture_sum.hpp) for the rows of each chain, in two copies: one belongs to
// the current point, the other to the candidate where it differs. A slot holds the rows of all tiles of a
// chain.
template <class Real>
struct PairCache {
  static constexpr int kNothingPending = -2;

  int num_pairs = 0;  ///< 0: no cache
  std::vector<Real> values;
  std::vector<std::size_t> first_slot;  ///< [num_chains] index of its first slot's values
  std::vector<std::size_t> slot_size;   ///< [num_chains] padded number of rows of its tiles
  std::vector<int> copy;                ///< num_chains x num_pairs: which copy belongs to the current point
  /// [num_chains]: the component whose pair has the candidate's sums in the other copy, kWeightsOnly for all
  /// pairs, or kNothingPending.
  std::vector<int> pending;

  bool is_pending(std::size_t chain, int pair) const {
    return pending[chain] == kWeightsOnly || (pending[chain] >= 0 && pending[chain] / device::kPair == pair);
  }
  int& copy_of(std::size_t chain, int pair) {
    return copy[chain * static_cast<std::size_t>(num_pairs) + static_cast<std::size_t>(pair)];
  }
  /// The sums of the current point, or of the candidate, for the chain's n-th tile.
  Real* current(std::size_t chain, int pair, std::size_t n) {
    return at(chain, 2 * pair + copy_of(chain, pair), n);
  }
  Real* candidate(std::size_t chain, int pair, std::size_t n) {
    return at(chain, 2 * pair + (is_pending(chain, pair) ? 1 - copy_of(chain, pair) : copy_of(chain, pair)),
              n);
  }

 private:
  Real* at(std::size_t chain, int slot, std::size_t n) {
    return values.data() + first_slot[chain] + static_cast<std::size_t>(slot) * slot_size[chain] +
           n * kTileRows;
  }
};

template <class Model, class Real>
class CpuEngine final : public LikelihoodEngine {
 public:
  CpuEngine(const Model& model, const DataSet& data, Device& device, int num_threads)
      : model_(model),
        layout_(layout_of(model)),
        device_(device),
        data_(tile_data<Real>(data)),
        segments_(data.segments),
        num_rows_(data.num_rows),
        pool_(num_threads),
        parts_(data_.tiles, data_.segment_first_tile, pool_) {}

  std::string name() const override { return "cpu"; }
  const ParameterLayout& layout() const override { return layout_; }
  Capabilities capabilities() const override { return {true, false}; }
  Device& device() const override { return device_; }
  std::size_t num_segments() const override { return segments_.size(); }
  std::size_t num_rows() const override { return num_rows_; }

  MemoryPlan plan(const std::vector<ChainPlan>& chains, ComponentCaches caches) const override {
    std::size_t num_tiles = 0;  // over all chains
    for (const auto& segments : chain_segments(chains, num_segments())) num_tiles += tiles_of(segments);
    MemoryPlan plan;
    plan.data_bytes = data_.values.size() * sizeof(Real);
    plan.work_bytes =
        chains.size() * (static_cast<std::size_t>(num_coefficients()) * sizeof(Real) + sizeof(double)) +
        num_tiles * TileParts::kBytesPerTile;
    if (caches == ComponentCaches::on)
      plan.cache_bytes = num_tiles * kTileRows * 2 * static_cast<std::size_t>(num_pairs()) * sizeof(Real);
    return plan;
  }

  void allocate(const std::vector<ChainPlan>& chains, ComponentCaches caches) override {
    parts_.set_chains(chain_segments(chains, num_segments()));
    const std::size_t n = chains.size();
    reserve(n);
    cache_ = {};
    if (caches == ComponentCaches::off) return;
    cache_.num_pairs = num_pairs();
    std::size_t size = 0;
    for (const auto& segments : parts_.chain_segments()) {
      cache_.first_slot.push_back(size);
      cache_.slot_size.push_back(tiles_of(segments) * kTileRows);
      size += cache_.slot_size.back() * 2 * static_cast<std::size_t>(num_pairs());
    }
    cache_.values.assign(size, Real(0));
    cache_.pending.assign(n, PairCache<Real>::kNothingPending);
    cache_.copy.assign(n * static_cast<std::size_t>(num_pairs()), 0);
  }

  void evaluate(EnsembleView candidate, ActiveSet active) override {
    prepare(candidate.theta, candidate.ld, active);
    parts_.choose(active);
    for_each_part([this](const TilePart& part, double* products, int) {
      tile_log2_products(mixture(part), tile_values(part.tile) + part.row, products);
    });
    finish(candidate.log_likelihood, active);
  }

  void evaluate_component(EnsembleView candidate, const int* component, ActiveSet active) override {
    if (cache_.num_pairs == 0) return evaluate(candidate, active);
    prepare(candidate.theta, candidate.ld, active);
    parts_.choose(active);
    for (int i = 0; i < active.count; ++i)
      cache_.pending[chain_of(active, i)] = component[chain_of(active, i)];
    for_each_part([this](const TilePart& part, double* products, int worker) {
      const TileMixture<Real> m = mixture(part);
      const Real* tile = tile_values(part.tile) + part.row;
      std::vector<const Real*>& pairs = pairs_[static_cast<std::size_t>(worker)];
      pairs.clear();
      for (int pair = 0; pair < num_pairs(); ++pair) {
        Real* sums = cache_.candidate(part.chain, pair, part.nth_tile) + part.row;
        if (cache_.is_pending(part.chain, pair)) tile_pair(m, tile, pair, sums);
        pairs.push_back(sums);
      }
      tile_log2_products_of(m, tile, pairs.data(), products);
    });
    finish(candidate.log_likelihood, active);
  }

  void commit(const std::uint8_t* accepted, ActiveSet active) override {
    if (cache_.num_pairs == 0) return;
    for (int i = 0; i < active.count; ++i) {
      const std::size_t chain = chain_of(active, i);
      for (int pair = 0; accepted[chain] && pair < num_pairs(); ++pair)
        if (cache_.is_pending(chain, pair)) cache_.copy_of(chain, pair) = 1 - cache_.copy_of(chain, pair);
      cache_.pending[chain] = PairCache<Real>::kNothingPending;
    }
  }

  void rebuild_caches(EnsembleView current, ActiveSet active) override {
    if (cache_.num_pairs == 0) return;
    prepare(current.theta, current.ld, active);
    parts_.choose(active);
    for_each_part([this](const TilePart& part, double*, int) {
      for (int pair = 0; pair < num_pairs(); ++pair)
        tile_pair(mixture(part), tile_values(part.tile) + part.row, pair,
                  cache_.current(part.chain, pair, part.nth_tile) + part.row);
    });
  }

  void sums_by_segment(const double* theta, int num_draws, double* out) override {
    std::vector<double> tile_sums(data_.tiles.size());
    for (int draw = 0; draw < num_draws; ++draw) {
      const double common = prepare_one(theta + static_cast<std::ptrdiff_t>(draw) * model_.num_parameters());
      pool_.for_each(tile_sums.size(), [&](std::size_t t, int worker) {
        double* products = scratch_rows(worker);
        const int num_rows = data_.tiles[t].num_rows;
        tile_log2_products(mixture(0, num_rows), tile_values(t), products);
        tile_sums[t] = tile_sum(products, num_products(num_rows));
      });
      for (std::size_t s = 0; s < segments_.size(); ++s) {
        const auto first = static_cast<std::size_t>(data_.segment_first_tile[s]);
        const auto count = static_cast<std::size_t>(data_.segment_first_tile[s + 1]) - first;
        *out++ =
            log_likelihood_of(tree_sum({tile_sums.data() + first, count}), segments_[s].num_rows, common);
      }
    }
  }

  void evaluate_rows(const double* theta, double* out) override {
    const double common = prepare_one(theta);
    pool_.for_each(data_.tiles.size(), [&](std::size_t t, int worker) {
      double* rows = scratch_rows(worker);
      const auto& tile = data_.tiles[t];
      tile_log2_densities(mixture(0, tile.num_rows), tile_values(t), rows);
      for (int i = 0; i < tile.num_rows; ++i)
        out[tile.first_row + static_cast<std::size_t>(i)] = (rows[i] + common) * device::kLn2;
    });
  }

 private:
  int num_components() const { return model_.shape().num_components; }
  int num_pairs() const { return model_.shape().num_pairs(); }
  int num_coefficients() const { return model_.shape().num_coefficients(); }
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
  TileMixture<Real> mixture(std::size_t slot, int num_rows) const {
    return {tile_form(model_.shape()), num_components(), data_.dim, num_rows,
            coefficients_.data() + slot * static_cast<std::size_t>(num_coefficients())};
  }
  TileMixture<Real> mixture(const TilePart& part) const { return mixture(part.slot, part.num_rows); }
  static std::size_t chain_of(ActiveSet active, int i) {
    return static_cast<std::size_t>(active.chains ? active.chains[i] : i);
  }

  void reserve(std::size_t num_slots) {
    coefficients_.resize(num_slots * static_cast<std::size_t>(num_coefficients()));
    common_.resize(num_slots);
    scratch_.resize(static_cast<std::size_t>(pool_.num_threads()),
                    std::vector<double>(static_cast<std::size_t>(model_.shape().num_scratch())));
    rows_.resize(static_cast<std::size_t>(pool_.num_threads()), std::vector<double>(kTileRows));
    pairs_.resize(static_cast<std::size_t>(pool_.num_threads()));
  }

  // Writes the coefficients of active chain i to slot i.
  void prepare(const double* theta, int ld, ActiveSet active) {
    pool_.for_each(static_cast<std::size_t>(active.count), [&](std::size_t i, int worker) {
      const double* point = theta + static_cast<std::ptrdiff_t>(chain_of(active, static_cast<int>(i))) * ld;
      common_[i] =
          device::prepare_mixture(device::HostTeam{}, model_, point,
                                  coefficients_.data() + i * static_cast<std::size_t>(num_coefficients()),
                                  scratch_[static_cast<std::size_t>(worker)].data());
    });
  }

  double* scratch_rows(int worker) { return rows_[static_cast<std::size_t>(worker)].data(); }

  // compute(part, products, worker) writes the products of a part.
  template <class F>
  void for_each_part(F compute) {
    pool_.for_each(parts_.range_starts(), [&](std::size_t p, int worker) {
      const TilePart& part = parts_.parts()[p];
      double* products = scratch_rows(worker);
      compute(part, products, worker);
      parts_.sums()[p] = tile_sum(products, num_products(part.num_rows));
    });
  }

  void finish(double* log_likelihood, ActiveSet active) {
    for (int i = 0; i < active.count; ++i) {
      const std::size_t chain = chain_of(active, i), slot = static_cast<std::size_t>(i);
      std::size_t rows = 0;
      for (const int segment : parts_.chain_segments()[chain])
        rows += segments_[static_cast<std::size_t>(segment)].num_rows;
      log_likelihood[chain] = log_likelihood_of(parts_.sum_of(slot), rows, common_[slot]);
    }
  }

  // Writes the coefficients of one point to slot 0 and returns its `common`.
  double prepare_one(const double* theta) {
    reserve(std::max<std::size_t>(common_.size(), 1));
    prepare(theta, 0, {nullptr, 1});
    return common_[0];
  }

  Model model_;
  ParameterLayout layout_;
  Device& device_;
  TiledData<Real> data_;
  std::vector<Segment> segments_;
  std::size_t num_rows_;
  ThreadPool pool_;
  TileParts parts_;
  std::vector<Real> coefficients_;
  std::vector<double> common_;
  std::vector<std::vector<double>> scratch_, rows_;  ///< per thread
  std::vector<std::vector<const Real*>> pairs_;      ///< per thread
  PairCache<Real> cache_;
};

}  // namespace

template <class Model>
std::unique_ptr<LikelihoodEngine> make_cpu_engine(const Model& model, Precision precision,
                                                  const DataSet& data, Device& device, int num_threads) {
  if (precision == Precision::mixed)
    return std::make_unique<CpuEngine<Model, float>>(model, data, device, num_threads);
  return std::make_unique<CpuEngine<Model, double>>(model, data, device, num_threads);
}

#define EMOMC_INSTANTIATE(Model)                                                              \
  template std::unique_ptr<LikelihoodEngine> make_cpu_engine(const device::Model&, Precision, \
                                                             const DataSet&, Device&, int);
EMOMC_MODELS(EMOMC_INSTANTIATE)

}  // namespace emomc
