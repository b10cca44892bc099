// Tests the changes by a single window of the warm-up; run_chains_test.cpp tests complete runs.
#include "adaptation.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
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

  /// Returns the change of block 0's log scale by a first window in which the log density increases by
  /// `rise`.
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

// On a slope half of all proposals are accepted, however short the steps are. The steps must become longer
// nevertheless.
TEST(Adaptation, StepsLengthenOnTheWayUp) {
  EXPECT_NEAR(OneChain<device::RandomWalk>().log_scale_change(500, 500, 1000), std::log(2.0), 1e-12);
  EXPECT_NEAR(OneChain<device::RandomWalk>().log_scale_change(500, 200, 1000), std::log(2.0), 1e-12);
  // Too few proposals are accepted, or the log density rises no more than in a stationary chain.
  EXPECT_LT(OneChain<device::RandomWalk>().log_scale_change(500, 50, 1000), 0);
  EXPECT_NEAR(OneChain<device::RandomWalk>().log_scale_change(10, 200, 1000), 2 * (0.2 - 0.234), 1e-12);
}

// The fit has the mean and the covariance of the points. The proposals that use the fit begin with half of
// the distance to it.
struct FitBeforeAWalk {
  static constexpr const char* name = "fit_before_a_walk";
  static constexpr auto learning = device::ShapeLearning::as_asked_and_fitted;
  using Phases = device::Schedule<device::WalkByComponent, device::MovesByFit,
                                  device::GaussianWalk<device::Division::whole>>;
};

class AdaptationOfFit : public ::testing::TestWithParam<ProposalTraits> {};

TEST_P(AdaptationOfFit, HasAllParametersBesideTheBlocks) {
  for (const auto shape : {ProposalShape::isotropic, ProposalShape::diagonal, ProposalShape::dense}) {
    const Target target(testing::mixture_layout(3, 1), testing::mixture_prior(), std::vector<double>(1, 1.0));
    const ProposalBlocks blocks = plan_blocks(GetParam(), shape, target);
    const int n = target.dim_unconstrained();
    const auto layout = blocks.adapted_layout(n);
    const std::vector<ChainPlan> plans{{0, {0}, 1.0, 0}, {1, {0}, 1.0, 0}};
    Adaptation adaptation(blocks, 0.234, plans, n, kWarmup, kRows);
    constexpr int kPoints = 20000;
    Eigen::MatrixXd points(n, 2 * kPoints);
    for (int p = 0; p < 2 * kPoints; ++p) {
      const device::RandomSource random{3, static_cast<device::u64>(p), 0};
      for (int i = 0; i < n; ++i)
        points(i, p) = 1 + i + 0.5 * random.normal(device::Purpose::start, static_cast<device::u32>(i)) +
                       random.normal(device::Purpose::start, 1000);
      adaptation.add_point(p % 2, {points.col(p).data(), static_cast<std::size_t>(n)}, -1000);
    }
    const std::vector<std::uint64_t> yes(blocks.blocks.size() * 2, 234), all(blocks.blocks.size() * 2, 1000);
    adaptation.end_window(50, yes, all);
    const double* numbers = adaptation.adapted().data();
    const double* fitted = numbers + layout.fitted();
    const Eigen::Map<const Eigen::MatrixXd> inverse(fitted, n, n);
    const int first = blocks.first_move_by_fit();
    const int offset = blocks.blocks[static_cast<std::size_t>(first)].dense_offset;
    const Eigen::Map<const Eigen::MatrixXd> factor(numbers + layout.dense(offset), n, n);
    const Eigen::Map<const Eigen::VectorXd> mean(fitted + n * n, n);
    const Eigen::MatrixXd centred = points.colwise() - points.rowwise().mean();
    const Eigen::MatrixXd covariance = centred * centred.transpose() / (2 * kPoints);
    EXPECT_EQ(fitted[n * n + n], 1);
    EXPECT_LT((mean - points.rowwise().mean()).norm(), 1e-9);
    // The covariance is shrunk to its diagonal, depending on the number of points.
    EXPECT_LT((factor * factor.transpose() - covariance).cwiseAbs().maxCoeff(), 0.005);
    EXPECT_LT((inverse * factor - Eigen::MatrixXd::Identity(n, n)).norm(), 1e-10);
    for (std::size_t b = 0; b < blocks.blocks.size(); ++b) {
      const double scale = numbers[layout.scale(static_cast<int>(b))];
      EXPECT_EQ(scale == std::log(0.5), blocks.phase_of(blocks.blocks[b]).moves_by_fit) << blocks.names[b];
    }
    // Later the scale follows the acceptance rate, but it never exceeds that of the fit.
    const std::vector<std::uint64_t>& most = all;
    for (std::int64_t end = 60; end < 80; end += 10) adaptation.end_window(end, most, all);
    EXPECT_EQ(adaptation.adapted()[static_cast<std::size_t>(layout.scale(first))], 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Proposals, AdaptationOfFit,
                         ::testing::Values(traits_of<device::CrankNicolson>(), traits_of<FitBeforeAWalk>()),
                         [](const auto& traits) { return traits.param.name; });

TEST(Adaptation, NothingIsLearntOfAJump) {
  OneChain<device::SplitMerge> chain;
  const auto layout = chain.blocks.adapted_layout(chain.target.dim_unconstrained());
  const std::vector<double> before = chain.adaptation.adapted();
  chain.log_scale_change(0, 900, 1000);
  const std::vector<double>& after = chain.adaptation.adapted();
  for (int b = 0; b < layout.num_blocks; ++b) {
    const auto i = static_cast<std::size_t>(layout.scale(b));
    const auto& phase = chain.blocks.phase_of(chain.blocks.blocks[static_cast<std::size_t>(b)]);
    const bool jump = phase.learns == device::Learns::nothing;
    EXPECT_EQ(after[i] == before[i], jump) << chain.blocks.names[static_cast<std::size_t>(b)];
  }
}

}  // namespace
}  // namespace emomc
