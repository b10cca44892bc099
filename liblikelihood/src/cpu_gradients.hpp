// Computes log likelihoods and gradients of the cpu engine's chains. The unit of work is a block of tiles for
// some chains that read the same rows. A block's size, and hence the order of additions, is a function of the
// rows alone.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "cpu_kernel.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/core/rank_gather.hpp"
#include "emomc/core/thread_pool.hpp"
#include "emomc/likelihood/data_set.hpp"
#include "emomc/likelihood/row_model.hpp"
#include "row_share.hpp"
#include "tree_sum.hpp"

namespace emomc {

/// Prepared coefficients; slot i has the coefficients and `common` of active chain i.
template <class Real>
struct PreparedSlots {
  const Real* coefficients;
  std::size_t num_coefficients;
  const double* common;
};

/// The largest number of blocks of the tiles of a list.
inline constexpr std::size_t kMostGradientBlocks = 32;
constexpr std::size_t tiles_of_gradient_block(std::size_t num_tiles) {
  const std::size_t tiles = (num_tiles + kMostGradientBlocks - 1) / kMostGradientBlocks;
  return tiles > 1 ? tiles : 1;
}

template <class Real>
class CpuGradients {
 public:
  CpuGradients(const TileArithmetic<Real>& arithmetic, const TiledData<Real>& data,
               const std::vector<Segment>& segments, ThreadPool& pool)
      : arithmetic_(arithmetic), data_(data), segments_(segments), pool_(pool) {}

  /// Sets the list of segments of each chain.
  void set_chains(const std::vector<std::vector<int>>& chain_segments) {
    gather_.reset();
    planned_.clear();
    lists_.clear();
    list_of_chain_.clear();
    std::map<std::vector<int>, std::size_t> known;
    for (const auto& segments : chain_segments) {
      const auto [at, is_new] = known.try_emplace(segments, lists_.size());
      if (is_new) lists_.push_back(make_list(segments));
      list_of_chain_.push_back(at->second);
    }
  }

  /// For rows that are divided over ranks, after set_chains(): allocates the records that evaluate() gathers.
  /// Throws InputError for a chain with several segments, since a block of its tiles could be divided between
  /// ranks. The arguments must outlive the object.
  void share(const RowShare& share, const RowNodes& nodes, std::shared_ptr<DeviceRanks> devices) {
    share_ = &share;
    nodes_ = &nodes;
    const auto num_sums = static_cast<std::size_t>(arithmetic_.num_gradient_sums());
    std::size_t most_blocks = 0;
    for (const auto& list : nodes.lists()) {
      if (list.segments.size() > 1)
        throw InputError("shard: rows: gradients of a chain that reads several segments are not divided");
      for (int rank = 0; rank < share.num_ranks(); ++rank)
        most_blocks = std::max(most_blocks, blocks_of_rank(list, rank));
    }
    // The lists are in the same order; the tiles of lists_ are this rank's, and blocks have the size for all
    // ranks' tiles.
    planned_.clear();
    for (std::size_t l = 0; l < lists_.size(); ++l) {
      lists_[l].tiles_per_block = tiles_of_gradient_block(nodes.lists()[l].num_tiles);
      lists_[l].num_blocks = blocks_of_rank(nodes.lists()[l], share.rank());
    }
    width_ = nodes.width() + most_blocks * num_sums;
    records_.assign(static_cast<std::size_t>(share.num_ranks()) * list_of_chain_.size() * width_, 0);
    gather_ = std::make_unique<RankGather>(
        std::move(devices),
        std::vector<std::size_t>(static_cast<std::size_t>(share.num_ranks()), width_ * sizeof(double)),
        list_of_chain_.size());
  }

  bool is_shared() const { return gather_ != nullptr; }

  void evaluate(const PreparedSlots<Real>& prepared, const EnsembleView& candidate,
                const GradientView& gradient, ActiveSet active) {
    plan(active);
    const auto evaluate = [&](std::size_t i, int) { evaluate_item(items_[i], prepared); };
    if (work_ < kWorkForThreads)
      for (std::size_t i = 0; i < items_.size(); ++i) evaluate(i, 0);
    else
      pool_.for_each(items_.size(), evaluate);
    if (gather_) {
      const auto count = static_cast<std::size_t>(active.count);
      for (int slot = 0; slot < active.count; ++slot)
        write_record(static_cast<std::size_t>(slot), static_cast<std::size_t>(chain_of(active, slot)), count);
      gather_->enqueue(records_.data(), count);
      for (int slot = 0; slot < active.count; ++slot) {
        const std::ptrdiff_t chain = chain_of(active, slot);
        finish_shared(static_cast<std::size_t>(slot), static_cast<std::size_t>(chain), count,
                      prepared.common[slot], candidate.theta + chain * candidate.ld,
                      candidate.log_likelihood[chain], gradient.gradient + chain * gradient.ld);
      }
      return;
    }
    for (int slot = 0; slot < active.count; ++slot) {
      const std::ptrdiff_t chain = chain_of(active, slot);
      finish(static_cast<std::size_t>(slot), lists_[list_of_chain_[static_cast<std::size_t>(chain)]],
             prepared.common[slot], candidate.theta + chain * candidate.ld, candidate.log_likelihood[chain],
             gradient.gradient + chain * gradient.ld);
    }
  }

 private:
  static constexpr std::size_t kMostChains = 16;
  /// Rows times sums; for less work than this, starting other threads takes longer than the work.
  static constexpr std::size_t kWorkForThreads = 16'000;

  /// The tiles of the chains that read the same segments.
  struct TileList {
    std::vector<std::size_t> tiles;
    std::vector<std::size_t> first_of_segment;  ///< [num_segments + 1] into tiles
    std::size_t tiles_per_block, num_blocks, num_rows;
  };
  struct Item {
    std::size_t list, block;
    std::array<std::size_t, kMostChains> slots;
    std::size_t num_slots;
  };

  TileList make_list(const std::vector<int>& segments) const {
    TileList list{{}, {0}, 1, 0, 0};
    for (const int segment : segments) {
      const auto s = static_cast<std::size_t>(segment);
      for (int t = data_.segment_first_tile[s]; t < data_.segment_first_tile[s + 1]; ++t)
        list.tiles.push_back(static_cast<std::size_t>(t));
      list.first_of_segment.push_back(list.tiles.size());
      list.num_rows += segments_[s].num_rows;
    }
    const std::size_t n = list.tiles.size();
    list.tiles_per_block = tiles_of_gradient_block(n);
    list.num_blocks = (n + list.tiles_per_block - 1) / list.tiles_per_block;
    return list;
  }

  static int chain_of(ActiveSet active, int slot) { return active.chains ? active.chains[slot] : slot; }
  // Whether the plan is that of these chains: chains are often the same in many evaluations.
  bool is_planned(ActiveSet active) const {
    if (planned_.size() != static_cast<std::size_t>(active.count)) return false;
    for (int slot = 0; slot < active.count; ++slot)
      if (planned_[static_cast<std::size_t>(slot)] != chain_of(active, slot)) return false;
    return true;
  }
  void plan(ActiveSet active) {
    if (is_planned(active)) return std::fill(sums_.begin(), sums_.end(), 0.0);
    items_.clear();
    planned_.clear();
    const auto count = static_cast<std::size_t>(active.count);
    const auto num_sums = static_cast<std::size_t>(arithmetic_.num_gradient_sums());
    const auto at_once = std::min(kMostChains, static_cast<std::size_t>(arithmetic_.chains_at_once()));
    first_sum_.assign(count, 0);
    first_tile_sum_.assign(count, 0);
    std::size_t num_block_sums = 0, num_tile_sums = 0;
    work_ = 0;
    open_.assign(lists_.size(), Item{});
    for (std::size_t slot = 0; slot < count; ++slot) {
      planned_.push_back(chain_of(active, static_cast<int>(slot)));
      const std::size_t l = list_of_chain_[static_cast<std::size_t>(planned_.back())];
      first_sum_[slot] = num_block_sums;
      first_tile_sum_[slot] = num_tile_sums;
      num_block_sums += lists_[l].num_blocks * num_sums;
      num_tile_sums += lists_[l].tiles.size();
      work_ += lists_[l].num_rows * num_sums;
      Item& group = open_[l];
      group.slots[group.num_slots++] = slot;
      if (group.num_slots == at_once) close(l);
    }
    for (std::size_t l = 0; l < lists_.size(); ++l)
      if (open_[l].num_slots > 0) close(l);
    // All groups of chains follow each other for each block of tiles, so that a tile stays in cache.
    const auto is_before = [](const Item& a, const Item& b) { return a.block < b.block; };
    if (!std::is_sorted(items_.begin(), items_.end(), is_before))
      std::stable_sort(items_.begin(), items_.end(), is_before);
    sums_.assign(num_block_sums, 0);
    tile_sums_.resize(num_tile_sums);
  }
  void close(std::size_t l) {
    Item& group = open_[l];
    group.list = l;
    for (group.block = 0; group.block < lists_[l].num_blocks; ++group.block) items_.push_back(group);
    group.num_slots = 0;
  }

  void evaluate_item(const Item& item, const PreparedSlots<Real>& prepared) {
    const TileList& list = lists_[item.list];
    const auto num_sums = static_cast<std::size_t>(arithmetic_.num_gradient_sums());
    thread_local std::vector<double> rows;
    rows.resize(kMostChains * kTileRows);
    std::array<const Real*, kMostChains> coefficients{};
    std::array<double*, kMostChains> out{}, sums{};
    for (std::size_t i = 0; i < item.num_slots; ++i) {
      coefficients[i] = prepared.coefficients + item.slots[i] * prepared.num_coefficients;
      out[i] = rows.data() + i * kTileRows;
      sums[i] = sums_.data() + first_sum_[item.slots[i]] + item.block * num_sums;
    }
    const std::size_t first = item.block * list.tiles_per_block;
    const std::size_t end = std::min(first + list.tiles_per_block, list.tiles.size());
    for (std::size_t t = first; t < end; ++t) {
      const std::size_t tile = list.tiles[t];
      const Real* values = data_.values.data() + tile * static_cast<std::size_t>(data_.dim) * kTileRows;
      const std::size_t count = arithmetic_.add_gradient_sums_of_chains(
          coefficients.data(), static_cast<int>(item.num_slots), values, data_.tiles[tile].num_rows,
          out.data(), sums.data());
      for (std::size_t i = 0; i < item.num_slots; ++i)
        tile_sums_[first_tile_sum_[item.slots[i]] + t] = tile_sum(out[i], count);
    }
  }

  void finish(std::size_t slot, const TileList& list, double common, const double* theta,
              double& log_likelihood, double* gradient) {
    by_segment_.clear();
    double* const tiles = tile_sums_.data() + first_tile_sum_[slot];
    for (std::size_t s = 0; s + 1 < list.first_of_segment.size(); ++s)
      by_segment_.push_back(tree_sum(
          {tiles + list.first_of_segment[s], list.first_of_segment[s + 1] - list.first_of_segment[s]}));
    log_likelihood = arithmetic_.log_likelihood(tree_sum(by_segment_), list.num_rows, common);
    const auto num_sums = static_cast<std::size_t>(arithmetic_.num_gradient_sums());
    total_.assign(num_sums, 0);
    for (std::size_t block = 0; block < list.num_blocks; ++block)
      for (std::size_t i = 0; i < num_sums; ++i) total_[i] += sums_[first_sum_[slot] + block * num_sums + i];
    arithmetic_.gradient_of(theta, total_.data(), list.num_rows, gradient);
  }

  // Number of blocks of a rank's tiles of a list.
  std::size_t blocks_of_rank(const RowNodes::List& list, int rank) const {
    if (list.segments.empty()) return 0;
    const auto tiles =
        static_cast<std::size_t>(share_->tiles_of(rank, static_cast<std::size_t>(list.segments[0])).size());
    const std::size_t each = tiles_of_gradient_block(list.num_tiles);
    return (tiles + each - 1) / each;
  }
  double* record(int rank, std::size_t slot, std::size_t count) {
    return records_.data() + (static_cast<std::size_t>(rank) * count + slot) * width_;
  }
  void write_record(std::size_t slot, std::size_t chain, std::size_t count) {
    const RowNodes::List& list = nodes_->of_chain(chain);
    double* const own = record(share_->rank(), slot, count);
    RowNodes::sum_own(list, tile_sums_.data() + first_tile_sum_[slot], own);
    const std::size_t num_sums =
        blocks_of_rank(list, share_->rank()) * static_cast<std::size_t>(arithmetic_.num_gradient_sums());
    std::copy_n(sums_.data() + first_sum_[slot], num_sums, own + nodes_->width());
  }
  void finish_shared(std::size_t slot, std::size_t chain, std::size_t count, double common,
                     const double* theta, double& log_likelihood, double* gradient) {
    const RowNodes::List& list = nodes_->of_chain(chain);
    log_likelihood = arithmetic_.log_likelihood(
        RowNodes::sum_of(list, record(0, slot, count), count * width_, by_segment_), list.num_rows, common);
    const auto num_sums = static_cast<std::size_t>(arithmetic_.num_gradient_sums());
    total_.assign(num_sums, 0);
    for (int rank = 0; rank < share_->num_ranks(); ++rank) {
      const double* sums = record(rank, slot, count) + nodes_->width();
      for (std::size_t block = 0; block < blocks_of_rank(list, rank); ++block, sums += num_sums)
        for (std::size_t i = 0; i < num_sums; ++i) total_[i] += sums[i];
    }
    arithmetic_.gradient_of(theta, total_.data(), list.num_rows, gradient);
  }

  const TileArithmetic<Real>& arithmetic_;
  const TiledData<Real>& data_;
  const std::vector<Segment>& segments_;
  ThreadPool& pool_;
  std::vector<TileList> lists_;
  std::vector<std::size_t> list_of_chain_;
  std::vector<int> planned_;  ///< the chains of the plan, which follows
  std::vector<Item> items_, open_;
  std::size_t work_ = 0;                                 ///< rows times sums of all items
  std::vector<std::size_t> first_sum_, first_tile_sum_;  ///< first index of each slot
  std::vector<double> sums_, tile_sums_, total_, by_segment_;
  // The members below are used if rows are divided over ranks. A record has a rank's nodes and sums of blocks
  // for a slot.
  const RowShare* share_ = nullptr;
  const RowNodes* nodes_ = nullptr;
  std::size_t width_ = 0;
  std::vector<double> records_;  ///< [rank][slot][width_]
  std::unique_ptr<RankGather> gather_;
};

}  // namespace emomc
