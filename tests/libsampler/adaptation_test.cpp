// What a window of the warm-up changes, seen alone; whole runs are in run_chains_test.cpp.
#include "adaptation.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "emomc/device/proposals.hpp"
#include "mixture_target.hpp"

namespace emomc {
namespace {

constexpr std::int64_t kWarmup = 1000, kRows = 100, kFirstEnd = 10;

template <class Proposal>
struct OneChain {
  Target target{testing::mixture_layout(3, 1), testing::mixture_prior(), std::vector<double>(1, 1.0)};
  ProposalBlocks blocks = plan_blocks(traits_of<Proposal>(), ProposalShape::dense, target);
  Adaptation adaptation{blocks, 0.234, {{0, {0}, 1.0, 0}}, target.dim_unconstrained(), kWarmup, kRows};

  /// Change of block 0's log scale by a first window in which the log density rises by `rise`.
  double log_scale_change(double rise, std::uint64_t accepted, std::uint64_t proposed) {
    const double before = adaptation.adapted()[0];
    const std::vector<double> u(static_cast<std::size_t>(target.dim_unconstrained()), 0.5);
    adaptation.add_point(0, u, -1000);
    adaptation.add_point(0, u, -1000 + rise);
    const std::vector<std::uint64_t> yes(blocks.blocks.size(), accepted), all(blocks.blocks.size(), proposed);
    adaptation.end_window(kFirstEnd, yes, all);
    return adaptation.adapted()[0] - before;
  }
};

TEST(Adaptation, ScalesFollowTheAcceptance) {
  EXPECT_NEAR(OneChain<device::RandomWalk>().log_scale_change(0, 500, 1000), 2 * (0.5 - 0.234), 1e-12);
  EXPECT_NEAR(OneChain<device::RandomWalk>().log_scale_change(0, 0, 1000), -2 * 0.234 - 1.5, 1e-12);
}

// On a slope half of all proposals are accepted however short they are; steps lengthen nevertheless.
TEST(Adaptation, StepsLengthenOnTheWayUp) {
  EXPECT_NEAR(OneChain<device::RandomWalk>().log_scale_change(500, 500, 1000), std::log(2.0), 1e-12);
  EXPECT_NEAR(OneChain<device::RandomWalk>().log_scale_change(500, 200, 1000), std::log(2.0), 1e-12);
  // Too few are accepted, or the chain moves as one at rest does.
  EXPECT_LT(OneChain<device::RandomWalk>().log_scale_change(500, 50, 1000), 0);
  EXPECT_NEAR(OneChain<device::RandomWalk>().log_scale_change(10, 200, 1000), 2 * (0.2 - 0.234), 1e-12);
}

TEST(Adaptation, NothingIsLearntOfAJump) {
  OneChain<device::SplitMerge> chain;
  const auto layout = chain.blocks.adapted_layout(chain.target.dim_unconstrained());
  const std::vector<double> before = chain.adaptation.adapted();
  chain.log_scale_change(0, 900, 1000);
  const std::vector<double>& after = chain.adaptation.adapted();
  for (int b = 0; b < layout.num_blocks; ++b) {
    const auto i = static_cast<std::size_t>(layout.scale(b));
    const bool jump = chain.blocks.blocks[static_cast<std::size_t>(b)].jump == 1;
    EXPECT_EQ(after[i] == before[i], jump) << chain.blocks.names[static_cast<std::size_t>(b)];
  }
}

}  // namespace
}  // namespace emomc
