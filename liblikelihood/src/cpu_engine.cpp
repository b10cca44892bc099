#include <algorithm>
#include <cmath>
#include <cstring>

#include "chain_segments.hpp"
#include "cpu_kernel.hpp"
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

// Sums of pairs of components (mixture_sum.hpp) at a chain's rows, twice: the current point's and, where they
// are its candidate's, the others. Each slot holds the chain's tiles, one after the other.
template <class Real>
struct PairCache {
  static constexpr int kNothingPending = -2;

  int num_pairs = 0;  ///< 0: there is none
  std::vector<Real> values;
  std::vector<std::size_t> first_slot;  ///< [num_chains] where its slots begin
  std::vector<std::size_t> slot_size;   ///< [num_chains] rows of its tiles, padded
  std::vector<int> copy;                ///< num_chains x num_pairs: which of the two is the current point's
  std::vector<int> pending;  ///< [num_chains] component whose pair is the candidate's in the other copy,
                             ///< kWeightsOnly for all pairs, kNothingPending

  bool is_pending(std::size_t chain, int pair) const {
    return pending[chain] == kWeightsOnly || (pending[chain] >= 0 && pending[chain] / device::kPair == pair);
  }
  int& copy_of(std::size_t chain, int pair) {
    return copy[chain * static_cast<std::size_t>(num_pairs) + static_cast<std::size_t>(pair)];
  }
  /// Of the chain's n-th tile: the current point's sums, or the candidate's.
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
        pool_(num_threads) {}

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
        num_tiles * sizeof(double);
    if (caches == ComponentCaches::on)
      plan.cache_bytes = num_tiles * kTileRows * 2 * static_cast<std::size_t>(num_pairs()) * sizeof(Real);
    return plan;
  }

  void allocate(const std::vector<ChainPlan>& chains, ComponentCaches caches) override {
    chain_segments_ = chain_segments(chains, num_segments());
    const std::size_t n = chains.size();
    reserve(n);
    cache_ = {};
    if (caches == ComponentCaches::off) return;
    cache_.num_pairs = num_pairs();
    std::size_t size = 0;
    for (const auto& segments : chain_segments_) {
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
    plan_work(active);
    for_each_part([this](const Work& work, double* rows) {
      tile_log2_densities(mixture(work), tile_values(work.tile) + work.row, rows);
    });
    finish(candidate.log_likelihood, active);
  }

  void evaluate_component(EnsembleView candidate, const int* component, ActiveSet active) override {
    if (cache_.num_pairs == 0) return evaluate(candidate, active);
    prepare(candidate.theta, candidate.ld, active);
    plan_work(active);
    for (int i = 0; i < active.count; ++i)
      cache_.pending[chain_of(active, i)] = component[chain_of(active, i)];
    for_each_part([this](const Work& work, double* rows) {
      const TileMixture<Real> m = mixture(work);
      const Real* tile = tile_values(work.tile) + work.row;
      std::vector<const Real*> pairs;
      for (int pair = 0; pair < num_pairs(); ++pair) {
        Real* sums = cache_.candidate(work.chain, pair, work.nth_tile) + work.row;
        if (cache_.is_pending(work.chain, pair)) tile_pair(m, tile, pair, sums);
        pairs.push_back(sums);
      }
      tile_log2_densities_of(m, tile, pairs.data(), rows);
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
    plan_work(active);
    for_each_part([this](const Work& work, double*) {
      for (int pair = 0; pair < num_pairs(); ++pair)
        tile_pair(mixture(work), tile_values(work.tile) + work.row, pair,
                  cache_.current(work.chain, pair, work.nth_tile) + work.row);
    });
  }

  void sums_by_segment(const double* theta, int num_draws, double* out) override {
    std::vector<double> rows(num_rows_);
    for (int draw = 0; draw < num_draws; ++draw) {
      const double common =
          evaluate_rows_base2(theta + static_cast<std::ptrdiff_t>(draw) * model_.num_parameters(), rows);
      for (std::size_t s = 0; s < segments_.size(); ++s) {
        std::vector<double> tiles;
        for (std::size_t row = 0; row < segments_[s].num_rows; row += kTileRows) {
          const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(segments_[s].first_row + row);
          std::vector<double> tile(begin, begin + static_cast<std::ptrdiff_t>(std::min<std::size_t>(
                                                      kTileRows, segments_[s].num_rows - row)));
          tiles.push_back(tree_sum(tile));
        }
        *out++ = log_likelihood_of(tree_sum(tiles), segments_[s].num_rows, common);
      }
    }
  }

  void evaluate_rows(const double* theta, double* out) override {
    std::vector<double> rows(num_rows_);
    const double common = evaluate_rows_base2(theta, rows);
    for (std::size_t row = 0; row < num_rows_; ++row) out[row] = (rows[row] + common) * device::kLn2;
  }

 private:
  // Neighbouring rows of a tile, of an active chain.
  struct Work {
    std::size_t tile, chain, slot;
    std::size_t nth_tile;  ///< of the chain
    std::size_t sum;
    int row, num_rows;
  };

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
  TileMixture<Real> mixture(const Work& work) const { return mixture(work.slot, work.num_rows); }
  static std::size_t chain_of(ActiveSet active, int i) {
    return static_cast<std::size_t>(active.chains ? active.chains[i] : i);
  }

  void reserve(std::size_t num_slots) {
    coefficients_.resize(num_slots * static_cast<std::size_t>(num_coefficients()));
    common_.resize(num_slots);
    scratch_.resize(static_cast<std::size_t>(pool_.num_threads()),
                    std::vector<double>(static_cast<std::size_t>(model_.shape().num_scratch())));
    rows_.resize(static_cast<std::size_t>(pool_.num_threads()), std::vector<double>(kTileRows));
  }

  // Coefficients of active chain i go to slot i.
  void prepare(const double* theta, int ld, ActiveSet active) {
    pool_.for_each(static_cast<std::size_t>(active.count), [&](std::size_t i, int worker) {
      const double* point = theta + static_cast<std::ptrdiff_t>(chain_of(active, static_cast<int>(i))) * ld;
      common_[i] =
          device::prepare_mixture(device::HostTeam{}, model_, point,
                                  coefficients_.data() + i * static_cast<std::size_t>(num_coefficients()),
                                  scratch_[static_cast<std::size_t>(worker)].data());
    });
  }

  // The parts of this evaluation, chains side by side so that a tile stays in cache. Where tiles are few they
  // are cut up, so that all threads have as much to do; a part is a power of two of rows and a node of the
  // tree of sums.
  void plan_work(ActiveSet active) {
    constexpr int kSmallPart = 256, kEnoughParts = 16;
    std::size_t num_tiles = 0;
    for (int i = 0; i < active.count; ++i) num_tiles += tiles_of(chain_segments_[chain_of(active, i)]);
    const auto enough = static_cast<std::size_t>(kEnoughParts * pool_.num_threads());
    part_rows_ = pool_.num_threads() == 1 || num_tiles >= enough ? kTileRows : kSmallPart;
    work_.clear();
    first_sum_.assign(1, 0);
    for (int i = 0; i < active.count; ++i) {
      const std::size_t chain = chain_of(active, i);
      std::size_t sum = first_sum_.back(), nth_tile = 0;
      for (int segment : chain_segments_[chain])
        for (int t = data_.segment_first_tile[static_cast<std::size_t>(segment)];
             t < data_.segment_first_tile[static_cast<std::size_t>(segment) + 1]; ++t, ++nth_tile) {
          const auto tile = static_cast<std::size_t>(t);
          const int num_rows = data_.tiles[tile].num_rows;
          for (int row = 0; row < num_rows; row += part_rows_)
            work_.push_back({tile, chain, static_cast<std::size_t>(i), nth_tile, sum++, row,
                             std::min(part_rows_, num_rows - row)});
        }
      first_sum_.push_back(sum);
    }
    if (active.count > 1)
      std::stable_sort(work_.begin(), work_.end(),
                       [](const Work& a, const Work& b) { return a.tile < b.tile; });
    tile_sums_.resize(first_sum_.back());
  }

  // compute(work, rows) writes the part's densities.
  template <class F>
  void for_each_part(F compute) {
    pool_.for_each(work_.size(), [&](std::size_t w, int worker) {
      const Work& work = work_[w];
      double* rows = rows_[static_cast<std::size_t>(worker)].data();
      compute(work, rows);
      tile_sums_[work.sum] = tile_sum(rows, static_cast<std::size_t>(work.num_rows));
    });
  }

  void finish(double* log_likelihood, ActiveSet active) {
    std::vector<double> by_segment;
    for (int i = 0; i < active.count; ++i) {
      const std::size_t chain = chain_of(active, i);
      by_segment.clear();
      std::size_t rows = 0, at = first_sum_[static_cast<std::size_t>(i)];
      for (int segment : chain_segments_[chain]) {
        const auto s = static_cast<std::size_t>(segment);
        const auto part_rows = static_cast<std::size_t>(part_rows_);
        const std::size_t num_parts = (segments_[s].num_rows + part_rows - 1) / part_rows;
        by_segment.push_back(tree_sum({tile_sums_.data() + at, num_parts}));
        at += num_parts;
        rows += segments_[s].num_rows;
      }
      log_likelihood[chain] =
          log_likelihood_of(tree_sum(by_segment), rows, common_[static_cast<std::size_t>(i)]);
    }
  }

  // Base-2 densities of all rows without the common part, which is returned.
  double evaluate_rows_base2(const double* theta, std::vector<double>& out) {
    reserve(std::max<std::size_t>(common_.size(), 1));
    const ActiveSet one{nullptr, 1};
    prepare(theta, 0, one);
    pool_.for_each(data_.tiles.size(), [&](std::size_t t, int worker) {
      double* rows = rows_[static_cast<std::size_t>(worker)].data();
      tile_log2_densities(mixture(0, data_.tiles[t].num_rows), tile_values(t), rows);
      std::copy_n(rows, data_.tiles[t].num_rows,
                  out.begin() + static_cast<std::ptrdiff_t>(data_.tiles[t].first_row));
    });
    return common_[0];
  }

  Model model_;
  ParameterLayout layout_;
  Device& device_;
  TiledData<Real> data_;
  std::vector<Segment> segments_;
  std::size_t num_rows_;
  ThreadPool pool_;
  std::vector<std::vector<int>> chain_segments_;
  std::vector<Real> coefficients_;
  std::vector<double> common_, tile_sums_;
  std::vector<std::vector<double>> scratch_, rows_;  ///< per thread
  std::vector<Work> work_;
  int part_rows_ = kTileRows;
  std::vector<std::size_t> first_sum_;
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
