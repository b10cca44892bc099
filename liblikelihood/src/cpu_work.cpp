#include "cpu_work.hpp"

#include <algorithm>

#include "cpu_kernel.hpp"
#include "tree_sum.hpp"

namespace emomc {
namespace {

// Number of rows of the next part when `rows_left` rows are left for `num_threads` threads.
int part_rows(std::size_t rows_left, int num_threads) {
  constexpr std::size_t kPartsLeft = 2;  // parts left for each thread
  const std::size_t share = rows_left / (kPartsLeft * static_cast<std::size_t>(num_threads));
  int rows = kTileRows;
  while (rows > kProductRows && static_cast<std::size_t>(rows) > share) rows /= 2;
  return rows;
}

}  // namespace

void TileParts::set_chains(std::vector<std::vector<int>> chain_segments) {
  chain_segments_ = std::move(chain_segments);
  is_chosen_ = false;
}

void TileParts::choose(ActiveSet active) {
  const auto chain_of = [&](int i) { return active.chains ? active.chains[i] : i; };
  bool is_the_last = is_chosen_ && active_.size() == static_cast<std::size_t>(active.count);
  for (int i = 0; is_the_last && i < active.count; ++i)
    is_the_last = active_[static_cast<std::size_t>(i)] == chain_of(i);
  if (is_the_last) return;

  is_chosen_ = true;
  active_.clear();
  parts_.clear();
  first_tile_.assign(1, 0);
  std::size_t num_tiles = 0, num_rows = 0;
  for (int i = 0; i < active.count; ++i) {
    active_.push_back(chain_of(i));
    const auto chain = static_cast<std::size_t>(chain_of(i));
    std::uint32_t nth_tile = 0;
    for (const int segment : chain_segments_[chain])
      for (int t = segment_first_tile_[static_cast<std::size_t>(segment)];
           t < segment_first_tile_[static_cast<std::size_t>(segment) + 1]; ++t, ++nth_tile) {
        const auto tile = static_cast<std::size_t>(t);
        parts_.push_back({static_cast<std::uint32_t>(t), static_cast<std::uint32_t>(chain),
                          static_cast<std::uint32_t>(i), nth_tile, 0, tiles_[tile].num_rows});
        ++num_tiles;
        num_rows += static_cast<std::size_t>(tiles_[tile].num_rows);
      }
    first_tile_.push_back(num_tiles);
  }
  if (active.count > 1)
    std::stable_sort(parts_.begin(), parts_.end(),
                     [](const TilePart& a, const TilePart& b) { return a.tile < b.tile; });

  // Up to here each part is a whole tile.
  tile_sums_.resize(num_tiles);
  std::vector<TilePart> cut;
  cut.reserve(num_tiles);
  range_starts_.assign(1, 0);
  const auto num_ranges = static_cast<std::size_t>(num_ranges_);
  const int threads_of_range = (num_threads_ + num_ranges_ - 1) / num_ranges_;
  std::size_t rows_before = 0;
  for (const TilePart& whole : parts_) {
    while (range_starts_.size() < num_ranges && rows_before * num_ranges >= num_rows * range_starts_.size())
      range_starts_.push_back(cut.size());
    const std::size_t range_end = num_rows * range_starts_.size() / num_ranges;
    const int rows = num_threads_ == 1
                         ? kTileRows
                         : part_rows(range_end > rows_before ? range_end - rows_before : 0, threads_of_range);
    rows_before += static_cast<std::size_t>(whole.num_rows);
    TileSums& sums = tile_sums_[first_tile_[whole.slot] + whole.nth_tile];
    sums.first = cut.size();
    for (int row = 0; row < whole.num_rows; row += rows) {
      TilePart part = whole;
      part.row = row;
      part.num_rows = std::min(rows, whole.num_rows - row);
      cut.push_back(part);
    }
    sums.count = cut.size() - sums.first;
  }
  range_starts_.resize(num_ranges + 1, cut.size());
  parts_ = std::move(cut);
  sums_.resize(parts_.size());
  make_groups();
}

void TileParts::make_groups() {
  group_starts_.clear();
  group_range_starts_.clear();
  const auto are_same_rows = [this](std::size_t a, std::size_t b) {
    return parts_[a].tile == parts_[b].tile && parts_[a].row == parts_[b].row &&
           parts_[a].num_rows == parts_[b].num_rows;
  };
  for (std::size_t range = 0; range + 1 < range_starts_.size(); ++range) {
    group_range_starts_.push_back(group_starts_.size());
    for (std::size_t p = range_starts_[range], first = p; p < range_starts_[range + 1]; ++p) {
      if (p > range_starts_[range] && p - first < chains_at_once_ && are_same_rows(first, p)) continue;
      group_starts_.push_back(p);
      first = p;
    }
  }
  group_range_starts_.push_back(group_starts_.size());
  group_starts_.push_back(parts_.size());
}

double TileParts::sum_of(std::size_t slot) {
  by_segment_.clear();
  std::size_t at = first_tile_[slot];
  for (const int segment : chain_segments_[static_cast<std::size_t>(active_[slot])]) {
    const auto s = static_cast<std::size_t>(segment);
    by_tile_.clear();
    for (int t = segment_first_tile_[s]; t < segment_first_tile_[s + 1]; ++t, ++at)
      by_tile_.push_back(tree_sum({sums_.data() + tile_sums_[at].first, tile_sums_[at].count}));
    by_segment_.push_back(tree_sum(by_tile_));
  }
  return tree_sum(by_segment_);
}

std::vector<double>& TileParts::tile_sums_of(std::size_t slot) {
  by_tile_.clear();
  for (std::size_t at = first_tile_[slot]; at < first_tile_[slot + 1]; ++at)
    by_tile_.push_back(tree_sum({sums_.data() + tile_sums_[at].first, tile_sums_[at].count}));
  return by_tile_;
}

}  // namespace emomc
