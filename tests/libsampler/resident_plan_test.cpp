// How chains are laid over a GPU's multiprocessors for the kernel that runs many steps; no GPU is needed.
#include "resident_plan.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "emomc/sampler/run_chains.hpp"

namespace emomc {
namespace {

// An H200's numbers.
constexpr ResidentMachine kMachine{132, 233472, 232448};
constexpr int kLargest = 16;  // cluster

DeviceLikelihood likelihood(std::size_t rows, int components = 8, int dim = 13) {
  const int blocks = (components + 3) / 4;
  return {"emomc::device::GaussianMixture",
          "float",
          components,
          dim,
          blocks * 4 * (2 * dim + 1),
          components * (dim + 1),
          components * (dim + 1),
          blocks * 2,
          nullptr,
          {0, static_cast<int>((rows + 1023) / 1024)},
          {rows}};
}

std::vector<ChainPlan> chains(std::size_t count, const std::vector<int>& segments = {0}) {
  std::vector<ChainPlan> plans;
  for (std::size_t c = 0; c < count; ++c) plans.push_back({c, segments, 1.0, 0});
  return plans;
}

device::StepView view(const DeviceLikelihood& l) {
  device::StepView v{};
  v.table.dim = l.num_components * (1 + 2 * l.dim);
  v.table.dim_unconstrained = v.table.dim - 1;
  v.num_innovation = v.table.dim_unconstrained + device::kExtraInnovation;
  v.num_blocks = 2 * l.num_components + 1;
  v.adapted_layout = {v.num_blocks, v.table.dim_unconstrained, 0, 0};
  return v;
}

std::optional<ResidentPlan> plan(std::size_t rows, std::size_t count, bool caches = false, int blocks = 17) {
  const auto l = likelihood(rows);
  return plan_resident(l, chains(count), view(l), blocks, caches, kMachine);
}

TEST(ResidentPlan, FewChainsGetLargeClustersManyGetSmallOnes) {
  EXPECT_EQ(plan(5316, 1)->cluster, 16);
  EXPECT_EQ(plan(5316, 4)->cluster, 16);
  EXPECT_EQ(plan(5316, 24)->cluster, 4);
  EXPECT_EQ(plan(5316, 64)->cluster, 2);
  EXPECT_EQ(plan(5316, 64)->form, device::ResidentForm::ahead);
  EXPECT_EQ(plan(500, 200)->form, device::ResidentForm::in_turn);
  // A block for each of few rows would cost more than it saves, but for candidates of their own.
  EXPECT_GE(plan(500, 1)->lines, 4);
  EXPECT_EQ(plan(500, 100)->cluster, 1);
}

// The more of a cluster's blocks hold other rows, the fewer are left to hold the same.
TEST(ResidentPlan, ChainsWithRoomHaveSeveralCandidatesAtOnce) {
  for (int blocks : {1, 17}) {
    int lines = kLargest;
    for (std::size_t rows : {100u, 1000u, 5316u, 10000u, 20000u, 35000u}) {
      const auto p = plan(rows, 1, true, blocks);
      if (rows == 35000u) {
        EXPECT_TRUE(!p || p->lines == 1);
        continue;
      }
      ASSERT_TRUE(p) << rows;
      EXPECT_EQ(p->form, device::ResidentForm::lines) << rows;
      EXPECT_GE(p->lines, 2) << rows;
      EXPECT_LE(p->lines, lines) << rows;
      EXPECT_FALSE(p->sizes.caches);
      lines = p->lines;
    }
  }
  EXPECT_EQ(plan(1000, 60)->lines, 2);
  EXPECT_EQ(plan(5316, 64)->lines, 1);
  // One warp sums a line's segments, so that many of them take longer than candidates at once save.
  DeviceLikelihood l = likelihood(0);
  l.segment_rows.assign(100, 10);
  l.segment_first_tile.resize(101);
  std::iota(l.segment_first_tile.begin(), l.segment_first_tile.end(), 0);
  std::vector<int> segments(100);
  std::iota(segments.begin(), segments.end(), 0);
  EXPECT_EQ(plan_resident(l, chains(7, segments), view(l), 17, false, kMachine)->lines, 1);
}

TEST(ResidentPlan, AllChainsAreServedAtOnceOrNone) {
  EXPECT_FALSE(plan(5316, 100));
  EXPECT_FALSE(plan(500, 300));
  EXPECT_FALSE(plan(100000, 1));
  EXPECT_FALSE(plan(0, 1));
  EXPECT_FALSE(plan(40000, 1, false, 1));
  EXPECT_TRUE(plan(40000, 1, false, 2));
}

TEST(ResidentPlan, WhatABlockTakesIsThere) {
  for (std::size_t rows : {1u, 31u, 33u, 1025u, 5316u, 20000u})
    for (std::size_t count : {1u, 3u, 60u, 130u})
      for (bool caches : {false, true})
        if (const auto p = plan(rows, count, caches)) {
          const std::size_t fixed = p->lines > 1 ? 3232 : 1312;  // what ptxas says of the kernel
          EXPECT_LE(p->shared_bytes + fixed, kMachine.shared_per_block);
          const int nodes = plan_nodes(likelihood(rows), chains(count), p->rows_per_lane).max_nodes;
          EXPECT_GE(p->nodes_per_block * p->cluster / p->lines, nodes);
          EXPECT_LE(static_cast<std::size_t>(p->cluster) * count, 2u * 132u);
        }
  // Caches go where they do not fit.
  EXPECT_TRUE(plan(5316, 64, true)->sizes.caches);
  EXPECT_FALSE(plan(6500, 64, true)->sizes.caches);
}

TEST(ResidentPlan, NodesCoverTheRowsOfEachListOnce) {
  DeviceLikelihood l = likelihood(0);
  l.segment_first_tile = {0, 2, 2, 3};
  l.segment_rows = {1500, 0, 40};
  std::vector<ChainPlan> plans = chains(2, {0, 1, 2});
  plans.push_back({2, {2}, 1.0, 0});
  for (int rows_per_lane : {1, 2, 4}) {
    const ResidentNodes nodes = plan_nodes(l, plans, rows_per_lane);
    EXPECT_EQ(nodes.list_of_chain, (std::vector<int>{0, 0, 1}));
    EXPECT_EQ(nodes.num_rows, (std::vector<double>{1540, 40}));
    const auto rows_in = [&](int list) {
      return std::accumulate(nodes.nodes.begin() + nodes.first_node[static_cast<std::size_t>(list)],
                             nodes.nodes.begin() + nodes.first_node[static_cast<std::size_t>(list) + 1], 0,
                             [](int sum, const device::RowNode& node) { return sum + node.num_rows; });
    };
    EXPECT_EQ(rows_in(0), 1540);
    EXPECT_EQ(rows_in(1), 40);
    EXPECT_EQ(nodes.nodes[static_cast<std::size_t>(nodes.first_node[1])].row, 2 * 1024);
    // Of the first list: segments begin at these nodes, and one more says where the last one ends.
    const int first = (1500 + 32 * rows_per_lane - 1) / (32 * rows_per_lane);
    const int last = (40 + 32 * rows_per_lane - 1) / (32 * rows_per_lane);
    EXPECT_EQ(std::vector<int>(nodes.segment_first.begin(), nodes.segment_first.begin() + 4),
              (std::vector<int>{0, first, first, first + last}));
    EXPECT_EQ(nodes.max_segments, 3);
  }
}

}  // namespace
}  // namespace emomc
