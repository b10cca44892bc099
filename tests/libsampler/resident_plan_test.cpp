// Tests how chains are assigned to the multiprocessors of a GPU for the kernel that runs many steps. No GPU
// is needed.
#include "resident_plan.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "emomc/sampler/run_chains.hpp"
#include "planned_chains.hpp"

namespace emomc {
namespace {

constexpr ResidentMachine kMachine = testing::kH200;
constexpr int kLargest = 16;  // largest number of blocks in a cluster

DeviceLikelihood likelihood(std::size_t rows, int components = 8, int dim = 13) {
  return testing::planned_likelihood(rows, components, dim);
}
std::vector<ChainPlan> chains(std::size_t count, const std::vector<int>& segments = {0}) {
  return testing::planned_chains(count, segments);
}
device::StepView view(const DeviceLikelihood& l) { return testing::planned_view(l); }

std::optional<ResidentPlan> plan(std::size_t rows, std::size_t count, bool caches = false, int blocks = 17,
                                 bool moves_by_fit = false) {
  const auto l = likelihood(rows);
  return plan_resident(l, chains(count), view(l), {blocks, moves_by_fit, caches}, kMachine);
}

TEST(ResidentPlan, FewChainsGetLargeClustersManyGetSmallOnes) {
  EXPECT_EQ(plan(5316, 1)->num_blocks, 16);
  EXPECT_EQ(plan(5316, 4)->num_blocks, 16);
  EXPECT_EQ(plan(5316, 24)->num_blocks, 4);
  EXPECT_EQ(plan(3000, 64)->num_blocks, 2);
  EXPECT_EQ(plan(3000, 100)->num_blocks, 1);
  EXPECT_EQ(plan(3000, 100)->sizes.form, device::ResidentForm::ahead);
  EXPECT_EQ(plan(500, 200)->sizes.form, device::ResidentForm::in_turn);
  // Several blocks for few rows would cost more than they save, unless they evaluate different candidates.
  EXPECT_GE(plan(500, 1)->sizes.num_lines, 4);
  EXPECT_EQ(plan(500, 100)->num_blocks, 1);
}

// The more blocks of a cluster hold different rows, the fewer remain for other candidates.
TEST(ResidentPlan, ChainsWithRoomHaveSeveralCandidatesAtOnce) {
  for (int blocks : {1, 17}) {
    int lines = kLargest;
    for (std::size_t rows : {100u, 1000u, 5316u, 10000u}) {
      const auto p = plan(rows, 1, true, blocks);
      ASSERT_TRUE(p) << rows;
      EXPECT_EQ(p->sizes.form, device::ResidentForm::lines) << rows;
      EXPECT_GE(p->sizes.num_lines, 2) << rows;
      EXPECT_LE(p->sizes.num_lines, lines) << rows;
      EXPECT_FALSE(p->sizes.caches);
      lines = p->sizes.num_lines;
    }
  }
  EXPECT_EQ(plan(1000, 60)->sizes.num_lines, 2);
  EXPECT_EQ(plan(3000, 100)->sizes.num_lines, 1);
  // One chain has slow rows: the alternative is to launch every step.
  DeviceLikelihood tied = likelihood(10'000);
  tied.leaves_registers = false;
  tied.sizes.num_coefficients *= 4;
  tied.cost_of_row *= 4;
  EXPECT_TRUE(plan_resident(tied, chains(1), view(tied), {1}, kMachine));
  // A lane gets no more rows than there are registers for.
  for (const std::size_t count : {1u, 10u, 60u, 100u, 200u, 300u}) {
    const auto p = plan_resident(tied, chains(count), view(tied), {17}, kMachine);
    EXPECT_TRUE(!p || p->is_wide() || p->sizes.rows_per_lane <= 2) << count << " chains";
  }
  // One warp sums the segments of a line, so that many segments take longer than simultaneous candidates
  // save.
  DeviceLikelihood l = likelihood(0);
  l.segment_rows.assign(100, 10);
  l.segment_first_tile.resize(101);
  std::iota(l.segment_first_tile.begin(), l.segment_first_tile.end(), 0);
  std::vector<int> segments(100);
  std::iota(segments.begin(), segments.end(), 0);
  EXPECT_EQ(plan_resident(l, chains(7, segments), view(l), {17}, kMachine)->sizes.num_lines, 1);
}

TEST(ResidentPlan, ManyRowsOrNoneAreLeftToOtherKernels) {
  EXPECT_TRUE(plan(2'097'152, 1));
  EXPECT_FALSE(plan(2'097'153, 1));
  EXPECT_TRUE(plan(1'500'000, 2));
  EXPECT_FALSE(plan(1'500'001, 2));
  EXPECT_FALSE(plan(100'000, 34));
  EXPECT_FALSE(plan(100'000, 256));
  EXPECT_FALSE(plan(100'000, 2'000));
  EXPECT_FALSE(plan(0, 1));
  EXPECT_FALSE(plan(0, 300));
}

TEST(ResidentPlan, ManyChainsShareBlocks) {
  struct Case {
    std::size_t rows, count;
    int num_blocks, chains_per_block;
  };
  for (const int blocks : {1, 17})
    for (const auto& c : {Case{5316, 100, 4, 4}, Case{5316, 256, 2, 4}, Case{5316, 512, 1, 4},
                          Case{500, 300, 1, 3}, Case{10'000, 256, 2, 4}}) {
      SCOPED_TRACE(std::to_string(c.rows) + " rows, " + std::to_string(c.count) + " chains");
      const auto p = plan(c.rows, c.count, false, blocks);
      ASSERT_TRUE(p);
      EXPECT_TRUE(p->is_of_teams());
      EXPECT_EQ(p->num_blocks, c.num_blocks);
      EXPECT_EQ(p->chains_per_block, c.chains_per_block);
      const int nodes = plan_nodes(likelihood(c.rows), chains(c.count), p->sizes.rows_per_lane, p->log2_piece)
                            .lists.max_leaves;
      EXPECT_GE(p->nodes_per_block * p->num_blocks, nodes);
      EXPECT_EQ(p->resident_nodes == p->nodes_per_block, p->num_blocks * 3000ul > c.rows);
      // Otherwise the kernel would search for all rows in shared memory.
      const bool outside = p->num_blocks * 3000ul <= c.rows;
      EXPECT_EQ(p->has_rows_outside(), outside);
      const auto l = likelihood(c.rows);
      EXPECT_TRUE(
          resident_source(*p, l, "P", view(l).table).kernel.ends_with(outside ? ", true>>" : ", false>>"));
    }
  // All chains use the same rows.
  DeviceLikelihood two = likelihood(0);
  two.segment_first_tile = {0, 4, 8};
  two.segment_rows = {4000, 4000};
  std::vector<ChainPlan> unlike = chains(300);
  EXPECT_TRUE(plan_resident(two, unlike, view(two), {17}, kMachine));
  unlike[200].segments = {1};
  EXPECT_FALSE(plan_resident(two, unlike, view(two), {17}, kMachine));
  // Component caches are used if the engine has allocated enough memory for them.
  DeviceLikelihood l = likelihood(5316);
  EXPECT_FALSE(plan_resident(l, chains(256), view(l), {17, false, true}, kMachine)->sizes.caches);
  l.kept_bytes = 256ul * 6 * 6144 * 4;
  EXPECT_TRUE(plan_resident(l, chains(256), view(l), {17, false, true}, kMachine)->sizes.caches);
  l.leaves_registers = false;
  EXPECT_FALSE(plan_resident(l, chains(256), view(l), {17, false, true}, kMachine)->sizes.caches);
  DeviceLikelihood many = likelihood(100'000);
  many.kept_bytes = 256ul * 6 * 100'352 * 4;
  EXPECT_FALSE(plan_resident(many, chains(256), view(many), {17, false, true}, kMachine));
  l.leaves_registers = true;
  // Several chains take turns in a block.
  EXPECT_FALSE(plan_resident(l, chains(1024), view(l), {17, false, true}, kMachine)->sizes.caches);
  l.kept_bytes *= 4;
  EXPECT_TRUE(plan_resident(l, chains(1024), view(l), {17, false, true}, kMachine)->sizes.caches);
  EXPECT_EQ(plan_resident(l, chains(1024), view(l), {17, false, true}, kMachine)->chains_per_block, 4);
}

TEST(ResidentPlan, ManyRowsAreTakenByAllMultiprocessors) {
  struct Case {
    std::size_t rows, count;
  };
  for (int blocks : {1, 17})
    for (const auto& [rows, count] : {Case{30'000, 1}, Case{30'000, 3}, Case{100'000, 1}, Case{100'000, 4},
                                      Case{300'000, 1}, Case{400'000, 1}, Case{10'000, 33}}) {
      const auto p = plan(rows, count, true, blocks);
      ASSERT_TRUE(p) << rows << " rows, " << count << " chains";
      EXPECT_TRUE(p->is_wide()) << rows << " rows, " << count << " chains";
      EXPECT_LE(p->num_blocks, 132 / static_cast<int>(count));
      EXPECT_LE(p->sizes.num_lines, 2);
      EXPECT_EQ(p->resident_nodes, p->nodes_per_block);
      const int nodes =
          plan_nodes(likelihood(rows), chains(count), p->sizes.rows_per_lane, p->log2_piece).lists.max_leaves;
      EXPECT_EQ(p->nodes_per_block % (1 << p->log2_piece), 0);
      EXPECT_GE(p->nodes_per_block * p->num_blocks, nodes);
      EXPECT_LT(p->nodes_per_block * (p->num_blocks - 1), nodes);  // every block has some nodes
      EXPECT_LE(nodes >> p->log2_piece, 2048);
    }
  // Without blocks that wait for each other, clusters are used if they can hold the rows.
  const auto l = likelihood(30'000);
  const auto clustered = plan_resident(l, chains(1), view(l), {17}, kMachine, false);
  ASSERT_TRUE(clustered);
  EXPECT_EQ(clustered->num_blocks, kLargest);
  // A block without rows, or a turn without a likelihood, would send nothing to the other blocks, which would
  // then not wait for it.
  DeviceLikelihood segments = likelihood(0);
  segments.segment_first_tile = {0, 98, 147};
  segments.segment_rows = {100'000, 50'000};
  std::vector<ChainPlan> unlike = chains(1);
  EXPECT_TRUE(plan_resident(segments, unlike, view(segments), {17}, kMachine)->is_wide());
  unlike.push_back({1, {1}, 1.0, 0});
  EXPECT_FALSE(plan_resident(segments, unlike, view(segments), {17}, kMachine));
  unlike[1].segments = {0};
  EXPECT_TRUE(plan_resident(segments, unlike, view(segments), {17}, kMachine)->is_wide());
  const auto many = likelihood(100'000);
  EXPECT_FALSE(plan_resident(many, chains(1), view(many), {17, false, false, false}, kMachine));
  // Pieces are only as small as necessary for the rows to fit.
  for (std::size_t rows = 380'000; rows <= 400'000; rows += 1'000) EXPECT_TRUE(plan(rows, 1)) << rows;
  for (std::size_t rows = 10'000; rows <= 13'000; rows += 100) EXPECT_TRUE(plan(rows, 32)) << rows;
  // Rows that do not fit into shared memory are read from device memory in each turn.
  for (const auto& [rows, count] : {Case{500'000, 1}, Case{1'000'000, 1}, Case{100'000, 20}}) {
    const auto p = plan(rows, count);
    ASSERT_TRUE(p && p->is_wide()) << rows << " rows, " << count << " chains";
    EXPECT_TRUE(p->has_rows_outside());
    EXPECT_GE(p->resident_nodes, 20);
  }
  // If a lane has registers for many rows, these are used, unless warps would have no rows.
  for (const auto& [rows, each] : {std::pair<std::size_t, int>{300'000, 4}, {400'000, 8}, {1'000'000, 8}}) {
    DeviceLikelihood two = likelihood(rows, 2, 1);
    two.rows_per_thread = 8;
    const auto p = plan_resident(two, chains(1), view(two), {1}, kMachine);
    ASSERT_TRUE(p && p->is_wide()) << rows;
    EXPECT_EQ(p->sizes.rows_per_lane, each) << rows;
  }
  // Two teams must not write to the current point at the same time.
  EXPECT_EQ(plan(100'000, 1)->sizes.num_lines, 2);
  EXPECT_EQ(plan(100'000, 1, false, 51, true)->sizes.num_lines, 1);
}

TEST(ResidentPlan, WhatABlockTakesIsThere) {
  for (std::size_t rows : {1u, 31u, 33u, 1025u, 5316u, 20000u})
    for (std::size_t count : {1u, 3u, 60u, 130u})
      for (bool caches : {false, true})
        if (const auto p = plan(rows, count, caches)) {
          EXPECT_LE(p->shared_bytes + other_shared_bytes(p->sizes), kMachine.shared_per_block);
          const int nodes = plan_nodes(likelihood(rows), chains(count), p->sizes.rows_per_lane, p->log2_piece)
                                .lists.max_leaves;
          EXPECT_GE(p->nodes_per_block * p->num_blocks / (p->is_wide() ? 1 : p->sizes.num_lines), nodes);
          // Blocks that wait for each other run at the same time.
          const auto each = static_cast<std::size_t>(p->chains_per_block);
          EXPECT_LE(static_cast<std::size_t>(p->num_blocks) * ((count + each - 1) / each),
                    p->sizes.form == device::ResidentForm::in_turn ? 2u * 132u : 132u);
        }
  // Caches are dropped if they do not fit.
  EXPECT_TRUE(plan(2500, 130, true)->sizes.caches);
  EXPECT_FALSE(plan(2800, 130, true)->sizes.caches);
}

// The machine is a slice of a GPU, or a small GPU.
TEST(ResidentPlan, FewMultiprocessorsAreEnough) {
  for (int multiprocessors : {1, 2, 3, 8, 16, 20})
    for (std::size_t rows : {1u, 100u, 5316u, 100'000u})
      for (std::size_t count : {1u, 2u, 16u, 40u, 300u}) {
        ResidentMachine machine = kMachine;
        machine.num_multiprocessors = multiprocessors;
        const auto l = likelihood(rows);
        const auto p = plan_resident(l, chains(count), view(l), {17}, machine);
        if (!p) continue;
        EXPECT_GE(p->num_blocks, 1);
        EXPECT_LE(p->num_blocks, multiprocessors) << rows << " rows, " << count << " chains";
        if (p->is_wide()) {
          EXPECT_LE(static_cast<std::size_t>(p->num_blocks) * count,
                    static_cast<std::size_t>(multiprocessors));
        }
      }
}

TEST(ResidentPlan, ClustersAreNoLargerThanTheGpuHasThem) {
  for (int largest : {1, 2, 8})
    for (std::size_t rows : {100u, 5316u, 20'000u})
      for (std::size_t count : {1u, 5u, 30u, 300u}) {
        ResidentMachine machine = kMachine;
        machine.largest_cluster = largest;
        const auto l = likelihood(rows);
        const auto p = plan_resident(l, chains(count), view(l), {17}, machine, false);
        EXPECT_TRUE(!p || p->num_blocks <= largest) << rows << " rows, " << count << " chains";
      }
  ResidentMachine machine = kMachine;
  machine.largest_cluster = 8;
  const auto l = likelihood(5316);
  ASSERT_TRUE(plan_resident(l, chains(1), view(l), {17}, machine, false));
  EXPECT_EQ(plan_resident(l, chains(1), view(l), {17}, machine, false)->num_blocks, 8);
}

TEST(ResidentPlan, NodesCoverTheRowsOfEachListOnce) {
  DeviceLikelihood l = likelihood(0);
  l.segment_first_tile = {0, 2, 2, 3};
  l.segment_rows = {1500, 0, 40};
  std::vector<ChainPlan> plans = chains(2, {0, 1, 2});
  plans.push_back({2, {2}, 1.0, 0});
  for (int rows_per_lane : {1, 2, 4}) {
    const ResidentNodes nodes = plan_nodes(l, plans, rows_per_lane);
    EXPECT_EQ(nodes.lists.list_of_chain, (std::vector<int>{0, 0, 1}));
    EXPECT_EQ(nodes.lists.num_rows, (std::vector<double>{1540, 40}));
    const auto rows_in = [&](int list) {
      return std::accumulate(nodes.nodes.begin() + nodes.lists.first_leaf[static_cast<std::size_t>(list)],
                             nodes.nodes.begin() + nodes.lists.first_leaf[static_cast<std::size_t>(list) + 1],
                             0, [](int sum, const device::RowNode& node) { return sum + node.num_rows; });
    };
    EXPECT_EQ(rows_in(0), 1540);
    EXPECT_EQ(rows_in(1), 40);
    EXPECT_EQ(nodes.nodes[static_cast<std::size_t>(nodes.lists.first_leaf[1])].row, 2 * 1024);
    // In the first list, segments begin at these nodes, and one more entry is the end of the last segment.
    const int first = (1500 + 32 * rows_per_lane - 1) / (32 * rows_per_lane);
    const int last = (40 + 32 * rows_per_lane - 1) / (32 * rows_per_lane);
    EXPECT_EQ(std::vector<int>(nodes.lists.segment_first.begin(), nodes.lists.segment_first.begin() + 4),
              (std::vector<int>{0, first, first, first + last}));
    EXPECT_EQ(nodes.lists.max_segments, 3);
    // With pieces of four nodes, the last nodes of a segment have no rows.
    const ResidentNodes pieces = plan_nodes(l, plans, rows_per_lane, 2);
    const auto padded = [](int count) { return (count + 3) / 4 * 4; };
    EXPECT_EQ(std::vector<int>(pieces.lists.segment_first.begin(), pieces.lists.segment_first.begin() + 4),
              (std::vector<int>{0, padded(first), padded(first), padded(first) + padded(last)}));
    int rows = 0;
    for (int n = 0; n < pieces.lists.first_leaf[1]; ++n)
      rows += pieces.nodes[static_cast<std::size_t>(n)].num_rows;
    EXPECT_EQ(rows, 1540);
    EXPECT_EQ(pieces.nodes[static_cast<std::size_t>(pieces.lists.first_leaf[1]) - 1].num_rows,
              rows_per_lane == 1 ? 0 : std::max(0, 40 - 3 * 32 * rows_per_lane));
  }
}

}  // namespace
}  // namespace emomc
