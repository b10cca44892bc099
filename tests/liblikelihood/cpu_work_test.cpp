// Tests how the threads of the cpu engine share an evaluation: each row is evaluated once, and the sums do
// not depend on the number of threads.
#include "cpu_work.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "cpu_kernel.hpp"
#include "tree_sum.hpp"

namespace emomc {
namespace {

struct Data {
  std::vector<Tile> tiles;
  std::vector<int> segment_first_tile{0};
};

Data data_of(const std::vector<int>& segment_rows) {
  Data data;
  std::size_t first = 0;
  for (std::size_t s = 0; s < segment_rows.size(); ++s) {
    for (int row = 0; row < segment_rows[s]; row += kTileRows) {
      const int count = std::min(kTileRows, segment_rows[s] - row);
      data.tiles.push_back({first, count, static_cast<int>(s)});
      first += static_cast<std::size_t>(count);
    }
    data.segment_first_tile.push_back(static_cast<int>(data.tiles.size()));
  }
  return data;
}

// Returns the value of a row for a chain; sums of these values are rounded.
double value(std::size_t row, std::uint32_t chain) {
  return std::sqrt(1.0 + static_cast<double>(row)) / (1 + chain);
}

// Sums values as tile_log2_products and tile_sum sum logarithms.
double sum_of_part(const Tile& tile, const TilePart& part) {
  std::vector<double> sums(num_products(part.num_rows), 0.0);
  for (int i = 0; i < part.num_rows; ++i)
    sums[static_cast<std::size_t>(i / kProductRows * kProducts + i % kProducts)] +=
        value(tile.first_row + static_cast<std::size_t>(part.row + i), part.chain);
  return tree_sum(sums);
}

std::vector<double> evaluate(TileParts& parts, const Data& data, ActiveSet active) {
  parts.choose(active);
  for (std::size_t p = 0; p < parts.parts().size(); ++p)
    parts.sums()[p] = sum_of_part(data.tiles[parts.parts()[p].tile], parts.parts()[p]);
  std::vector<double> sums;
  for (int i = 0; i < active.count; ++i) sums.push_back(parts.sum_of(static_cast<std::size_t>(i)));
  return sums;
}

const std::vector<int> kSegmentRows = {1, 3000, 1024, 128, 7777, 40};
const std::vector<std::vector<int>> kChains = {{0, 1, 2, 3, 4, 5}, {4}, {5, 1}, {0}};

TEST(TileParts, HoldEachRowOfEachActiveChainOnce) {
  const Data data = data_of(kSegmentRows);
  const int some[] = {3, 1, 2};
  for (const auto& [num_threads, chains_at_once] : {std::pair{1, 1}, {1, 3}, {2, 2}, {3, 16}, {20, 2}}) {
    ThreadPool pool(num_threads);
    TileParts parts(data.tiles, data.segment_first_tile, pool, chains_at_once);
    parts.set_chains(kChains);
    for (const ActiveSet active : {ActiveSet{nullptr, 4}, ActiveSet{some, 3}, ActiveSet{some, 1}}) {
      parts.choose(active);
      std::map<std::pair<std::uint32_t, std::size_t>, int> seen;
      for (const TilePart& part : parts.parts()) {
        ASSERT_EQ(part.chain, static_cast<std::uint32_t>(active.chains ? active.chains[part.slot]
                                                                       : static_cast<int>(part.slot)));
        ASSERT_EQ(part.row % kProductRows, 0);
        const Tile& tile = data.tiles[part.tile];
        ASSERT_TRUE(part.num_rows > 0 && part.row + part.num_rows <= tile.num_rows);
        for (int i = 0; i < part.num_rows; ++i)
          ++seen[{part.chain, tile.first_row + static_cast<std::size_t>(part.row + i)}];
      }
      std::size_t expected = 0;
      for (int i = 0; i < active.count; ++i)
        for (const int s : kChains[static_cast<std::size_t>(active.chains ? active.chains[i] : i)])
          expected += static_cast<std::size_t>(kSegmentRows[static_cast<std::size_t>(s)]);
      EXPECT_EQ(seen.size(), expected);
      for (const auto& [row, times] : seen) ASSERT_EQ(times, 1);

      const auto& starts = parts.range_starts();
      ASSERT_EQ(starts.size(), static_cast<std::size_t>(pool.num_ranges()) + 1);
      EXPECT_EQ(starts.front(), std::size_t{0});
      EXPECT_EQ(starts.back(), parts.parts().size());
      for (std::size_t r = 1; r < starts.size(); ++r) EXPECT_LE(starts[r - 1], starts[r]);

      // Groups contain the parts in their order. Each group is inside a range, and its parts have the same
      // rows.
      const auto &groups = parts.group_starts(), &ranges = parts.group_range_starts();
      ASSERT_EQ(ranges.size(), starts.size());
      ASSERT_EQ(groups.back(), parts.parts().size());
      std::size_t largest = 0;
      for (std::size_t r = 0; r + 1 < starts.size(); ++r) {
        ASSERT_EQ(groups[ranges[r]], starts[r]);
        for (std::size_t g = ranges[r]; g < ranges[r + 1]; ++g) {
          ASSERT_TRUE(groups[g] < groups[g + 1] && groups[g + 1] <= starts[r + 1]);
          largest = std::max(largest, groups[g + 1] - groups[g]);
          for (std::size_t p = groups[g]; p < groups[g + 1]; ++p) {
            const TilePart &first = parts.parts()[groups[g]], &part = parts.parts()[p];
            ASSERT_TRUE(part.tile == first.tile && part.row == first.row && part.num_rows == first.num_rows);
            ASSERT_TRUE(p == groups[g] || part.chain != first.chain);
          }
        }
      }
      ASSERT_LE(largest, static_cast<std::size_t>(chains_at_once));
      if (active.count == 4 && num_threads == 1) {
        EXPECT_EQ(largest > 1, chains_at_once > 1);
      }
    }
  }
}

TEST(TileParts, SumsDependOnNeitherThreadsNorOtherChains) {
  const Data data = data_of(kSegmentRows);
  ThreadPool one(1);
  TileParts alone(data.tiles, data.segment_first_tile, one, 1);
  alone.set_chains(kChains);
  const std::vector<double> expected = evaluate(alone, data, {nullptr, 4});
  for (int num_threads : {2, 3, 20}) {
    ThreadPool pool(num_threads);
    TileParts parts(data.tiles, data.segment_first_tile, pool, 4);
    parts.set_chains(kChains);
    EXPECT_EQ(evaluate(parts, data, {nullptr, 4}), expected) << num_threads;
    for (int chain = 0; chain < 4; ++chain)
      EXPECT_EQ(evaluate(parts, data, {&chain, 1})[0], expected[static_cast<std::size_t>(chain)])
          << num_threads;
  }
}

// The parts of the last call are cached, and must not be used for other chains or other segments.
TEST(TileParts, FollowChainsAndSegments) {
  const Data data = data_of(kSegmentRows);
  ThreadPool pool(2);
  TileParts parts(data.tiles, data.segment_first_tile, pool, 4);
  parts.set_chains(kChains);
  const std::vector<double> all = evaluate(parts, data, {nullptr, 4});
  const int second[] = {1}, third[] = {2};
  EXPECT_EQ(evaluate(parts, data, {second, 1}), std::vector<double>{all[1]});
  EXPECT_EQ(evaluate(parts, data, {third, 1}), std::vector<double>{all[2]});
  EXPECT_EQ(evaluate(parts, data, {third, 1}), std::vector<double>{all[2]});
  parts.set_chains({{1}, {2}, {4}, {0}});
  EXPECT_NE(evaluate(parts, data, {third, 1}), std::vector<double>{all[2]});
  EXPECT_EQ(evaluate(parts, data, {nullptr, 0}), std::vector<double>{});
  EXPECT_TRUE(parts.parts().empty());
}

// Threads finish at nearly the same time, because no part is a large share of the remaining work.
TEST(TileParts, AreSmallAtTheEnd) {
  const Data data = data_of({10000});
  ThreadPool pool(2);
  TileParts parts(data.tiles, data.segment_first_tile, pool, 4);
  parts.set_chains({{0}});
  parts.choose({nullptr, 1});
  const auto& starts = parts.range_starts();
  ASSERT_EQ(starts.size(), std::size_t{3});
  for (std::size_t r = 0; r < 2; ++r) {
    int rows = 0;
    for (std::size_t p = starts[r]; p < starts[r + 1]; ++p) rows += parts.parts()[p].num_rows;
    EXPECT_NEAR(rows, 5000, kTileRows);
    EXPECT_EQ(parts.parts()[starts[r]].num_rows, kTileRows);
    EXPECT_LE(parts.parts()[starts[r + 1] - 1].num_rows, 512);
  }
}

}  // namespace
}  // namespace emomc
