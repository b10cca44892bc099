// Schedules: the blocks of their phases, the random numbers of each block, and steps of phases that no
// proposal of the list combines.
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <set>
#include <string>

#include "emomc/device/proposals.hpp"
#include "one_step.hpp"

namespace emomc {
namespace {

using namespace testing;

struct WalksAndTries : Of<WalkByComponent, Try<false, 50>, Try<true, 50>> {};
struct StretchAndWalk : Of<StretchMove, GaussianWalk<Division::whole>> {};
struct WalkAndStretch : Of<GaussianWalk<Division::whole>, StretchMove> {};
struct FitBeforeAWalk : Of<WalkByComponent, MovesByFit, GaussianWalk<Division::whole>> {
  static constexpr ShapeLearning learning = ShapeLearning::as_asked_and_fitted;
};

template <class Proposal>
ProposalBlocks plan(const Target& target, ProposalShape shape = ProposalShape::dense) {
  return plan_blocks(traits_of<Proposal>(), shape, target);
}

TEST(Schedule, PhasesFollowEachOther) {
  const Target target = small_target();
  const ProposalBlocks tries = plan<WalksAndTries>(target);
  EXPECT_EQ(tries.names, (std::vector<std::string>{"weights", "means[0]", "means[1]", "scales[0]",
                                                   "scales[1]", "first", "second"}));
  for (std::size_t b = 0; b < tries.blocks.size(); ++b) {
    EXPECT_EQ(tries.blocks[b].phase, b < 5 ? 0 : static_cast<int>(b) - 4);
    EXPECT_EQ(tries.blocks[b].turn, b < 5 ? static_cast<int>(b) : 0);
  }
  EXPECT_TRUE(tries.apart);
  // Five factors of one parameter, then that of both tries.
  EXPECT_EQ(tries.num_dense, 5 + 25);
  EXPECT_EQ(tries.blocks[5].dense_offset, 5);
  EXPECT_EQ(tries.blocks[6].dense_offset, 5);

  const ProposalBlocks stretch = plan<StretchAndWalk>(target);
  EXPECT_EQ(stretch.names, (std::vector<std::string>{"half[0]", "half[1]", "all"}));
  EXPECT_EQ(stretch.half_of(stretch.blocks[1]), 1);
  EXPECT_EQ(stretch.half_of(stretch.blocks[2]), kAllChains);
  EXPECT_TRUE(stretch.apart);

  const ProposalBlocks fit = plan<FitBeforeAWalk>(target);
  EXPECT_EQ(fit.num_moves_by_fit(), 10);
  EXPECT_EQ(fit.first_move_by_fit(), 5);
  EXPECT_EQ(fit.names.back(), "all");
  EXPECT_FALSE(fit.apart);
}

// The bounds and the target are those of kernel_test.cpp: 10 means here, so that the rate of false alarms is
// 6e-9 for a case.
TEST(Schedule, AStepOfSeveralPhasesLeavesTheTargetInvariant) {
  constexpr double kBound = 6.2;
  const auto check = [&](const char* what, const Statistics& s) {
    EXPECT_LT(s.worst_stationary, kBound) << what;
    EXPECT_GT(s.acceptance, 0.05) << what;
  };
  for (auto shape : {IncrementShape::isotropic, IncrementShape::dense}) {
    check("tries", one_step<WalksAndTries>(small_target(), shape, kWholeStep));
    check("stretch, walk", one_step<StretchAndWalk>(small_target(), shape, kWholeStep));
    check("walk, stretch", one_step<WalkAndStretch>(small_target(), shape, kWholeStep));
    check("fit, walk", one_step<FitBeforeAWalk>(small_target(), shape, kWholeStep));
  }
}

// Returns the random numbers of each block of a step of one chain. Scales are 1, so that increments are the
// normal numbers themselves; whole numbers, such as the number of the step, are left out.
template <class Proposal>
std::vector<std::set<double>> numbers_of_blocks(const Target& target) {
  const ProposalBlocks blocks = plan<Proposal>(target, ProposalShape::isotropic);
  const int n = target.dim_unconstrained();
  const AdaptedLayout layout = blocks.adapted_layout(n);
  std::vector<double> adapted(static_cast<std::size_t>(layout.size()));
  std::vector<std::set<double>> result;
  for (std::size_t b = 0; b < blocks.blocks.size(); ++b) {
    const ProposalBlock& block = blocks.blocks[b];
    if (blocks.half_of(block) == 1) continue;  // other chains
    const double none = std::numeric_limits<double>::quiet_NaN();
    std::vector<double> innovation(static_cast<std::size_t>(innovation_size(n, true)), none);
    innovate<Proposal>(
        HostTeam{}, RandomSource{3, 7, 2},
        InnovationView{adapted.data(), adapted.data() + layout.num_small(), layout, block,
                       static_cast<int>(b), IncrementShape::isotropic, target.table().mixture, nullptr},
        Innovation{innovation.data(), innovation.data() + n, innovation.data() + 2 * n});
    result.emplace_back();
    for (const double x : innovation)
      if (!std::isnan(x) && x != std::floor(x)) result.back().insert(x);
  }
  return result;
}

template <class Proposal>
int num_shared(const Target& target) {
  std::map<double, int> blocks_with;
  for (const auto& numbers : numbers_of_blocks<Proposal>(target)) {
    EXPECT_FALSE(numbers.empty()) << Proposal::name;
    for (const double x : numbers) ++blocks_with[x];
  }
  int shared = 0;
  for (const auto& [x, count] : blocks_with) shared += count > 1 ? 1 : 0;
  return shared;
}

// A walk whose later phase counts its random numbers from 0, as the first phase does.
struct WalkThatCountsFromZero : GaussianWalk<Division::whole> {
  template <class Team>
  static void innovate(const Team& team, const RandomSource& random, const InnovationView& view,
                       const Innovation& innovation) {
    InnovationView first = view;
    first.block.phase = 0;
    GaussianWalk::innovate(team, random, first, innovation);
  }
};

TEST(Schedule, EveryBlockOfAStepHasRandomNumbersOfItsOwn) {
  const Target target(mixture_layout(3, 2), mixture_prior(), std::vector<double>(2, 1.0));
#define EMOMC_SHARES(Proposal) EXPECT_EQ(num_shared<Proposal>(target), 0) << #Proposal;
  EMOMC_PROPOSALS(EMOMC_SHARES)
  EMOMC_SHARES(WalksAndTries)
  EMOMC_SHARES(StretchAndWalk)
  EMOMC_SHARES(WalkAndStretch)
  EMOMC_SHARES(FitBeforeAWalk)
#undef EMOMC_SHARES
  // A schedule that shares numbers is found.
  EXPECT_GT((num_shared<Of<WalkByComponent, WalkThatCountsFromZero>>(target)), 0);
}

}  // namespace
}  // namespace emomc
