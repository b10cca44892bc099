// Tests the parts of the warm-up of gradient samplers; gradient_samplers_test.cpp tests complete runs.
#include "trajectory_adaptation.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "emomc/core/errors.hpp"
#include "emomc/device/random.hpp"
#include "stepper.hpp"
#include "trajectory_chains.hpp"

namespace emomc {
namespace {

using Steps = std::vector<std::int64_t>;

// The windows are those of Stan's windowed_adaptation: --num-warmup 1000, and the default for shorter
// warm-ups.
TEST(MetricWindows, AreStans) {
  EXPECT_EQ(metric_windows(1000).begin, 75);
  EXPECT_EQ(metric_windows(1000).ends, (Steps{100, 150, 250, 450, 950}));
  EXPECT_EQ(metric_windows(500).ends, (Steps{100, 150, 250, 450}));
  EXPECT_EQ(metric_windows(150).ends, (Steps{100}));
  EXPECT_EQ(metric_windows(100).begin, 15);
  EXPECT_EQ(metric_windows(100).ends, (Steps{90}));
  EXPECT_EQ(metric_windows(20).ends, (Steps{10}));  // ten steps are left for the step size
  EXPECT_EQ(metric_windows(19).ends, Steps{});
  EXPECT_EQ(metric_windows(0).ends, Steps{});
}

struct TwoGroups {
  Target target = testing::real_target(2, 1);
  ProposalShape shape;
  std::string kind;
  std::vector<ChainPlan> plans{{0, {0}, 1.0, 0}, {1, {0}, 1.0, 0}, {2, {0}, 1.0, 1}};
  ProposalBlocks blocks = plan_blocks(traits_of_kind(kind), shape, target);
  device::AdaptedLayout layout = blocks.adapted_layout(2);
  TrajectoryAdaptation adaptation{blocks, 0.8, plans, 2, 1000, 0};

  explicit TwoGroups(ProposalShape its_shape = ProposalShape::diagonal, std::string its_kind = "nuts")
      : shape(its_shape), kind(std::move(its_kind)) {}
  double log_step(int group) const {
    return adaptation.adapted()[static_cast<std::size_t>(group * layout.size() + layout.scale(0))];
  }
  const double* numbers(int group) const { return adaptation.adapted().data() + group * layout.size(); }
  void end_window(std::int64_t end, std::vector<double> acceptance) {
    adaptation.end_window(end, {{}, {}, acceptance});
  }
  // Ends the search for a step size at once.
  void find() {
    while (adaptation.is_trying())
      adaptation.tried(std::vector<double>(3, adaptation.is_trying() ? 1.0 : 0.0));
  }
};

TEST(TrajectoryAdaptation, WindowsCoverTheWarmupAndEndWhereTheMetricIsLearnt) {
  TwoGroups groups;
  for (const std::int64_t warmup : {1, 19, 20, 150, 1000, 3333}) {
    const Steps ends = groups.adaptation.window_ends(warmup);
    EXPECT_EQ(ends.front(), 1);
    EXPECT_EQ(ends.back(), warmup);
    for (std::size_t i = 1; i < ends.size(); ++i) EXPECT_LT(ends[i - 1], ends[i]);
    for (const std::int64_t end : metric_windows(warmup).ends)
      EXPECT_NE(std::find(ends.begin(), ends.end(), end), ends.end());
  }
  // Chains wait for each other less often than once for each step.
  EXPECT_LT(groups.adaptation.window_ends(1000).size(), 400u);
}

TEST(TrajectoryAdaptation, DoublesOrHalvesUntilTheAcceptanceCrosses) {
  TwoGroups groups;
  const double first = groups.log_step(0);
  ASSERT_TRUE(groups.adaptation.is_trying());
  // Group 0 accepts up to four times the step size, group 1 below an eighth of it.
  while (groups.adaptation.is_trying()) {
    const double zero = groups.log_step(0) - first < std::log(3.0) ? 0.95 : 0.5;
    const double one = groups.log_step(1) - first < std::log(0.2) ? 0.9 : 0.0;
    groups.adaptation.tried(std::vector<double>{zero, zero, one});
  }
  EXPECT_NEAR(groups.log_step(0), first + std::log(4.0), 1e-12);
  EXPECT_NEAR(groups.log_step(1), first - std::log(8.0), 1e-12);
}

// The averaging follows Hoffman and Gelman 2014, equation 6, with the mean acceptance of a group.
TEST(TrajectoryAdaptation, AveragesTheStepSizeOfEachGroup) {
  TwoGroups groups;
  while (groups.adaptation.is_trying()) groups.adaptation.tried(std::vector<double>{0.5, 0.5, 0.5});
  const double mu = std::log(2.0) + groups.log_step(0);
  double error = 0, mean = 0, x = 0;
  for (int t = 1; t <= 5; ++t) {
    const double a = 0.2 * t, b = 1 - 0.1 * t;
    groups.end_window(t, {a, b, 0.8});
    error = (1 - 1.0 / (t + 10)) * error + 1.0 / (t + 10) * (0.8 - 0.5 * (a + b));
    x = mu - std::sqrt(t) / 0.2 * error;
    mean = std::pow(t, -0.75) * x + (1 - std::pow(t, -0.75)) * mean;
    EXPECT_NEAR(groups.log_step(0), x, 1e-12);
    EXPECT_NEAR(groups.log_step(1), mu, 1e-12);  // group 1 is at its target
  }
}

// A step size of 1 / 1000 of the identity's units would make thousands of leapfrogs in a time of pi.
TEST(TrajectoryAdaptation, HmcHasTenLeapfrogsAtMostUntilThereIsAMetric) {
  TwoGroups groups(ProposalShape::diagonal, "hmc");
  const auto longest = [&](int group) { return groups.numbers(group)[groups.layout.length()]; };
  while (groups.adaptation.is_trying()) groups.adaptation.tried(std::vector<double>{0, 0, 1});
  EXPECT_LT(groups.log_step(0), -41);
  EXPECT_GT(groups.log_step(1), 13);
  const auto windows = groups.adaptation.window_ends(1000);
  std::size_t at = 0;
  for (; windows[at] < 100; ++at) {
    EXPECT_NEAR(longest(0) / std::exp(groups.log_step(0)), 10, 1e-9) << windows[at];
    EXPECT_DOUBLE_EQ(longest(1), device::kLongestTime) << "ten steps would be longer";
    for (int chain = 0; chain < 3; ++chain)
      groups.adaptation.add_point(chain, std::vector<double>{0.1 * static_cast<double>(at), 0.2}, 0);
    groups.end_window(windows[at], {0.5, 0.5, 0.5});
  }
  const auto saved = groups.adaptation.save();
  groups.end_window(100, {0.5, 0.5, 0.5});
  EXPECT_DOUBLE_EQ(longest(0), device::kLongestTime);
  groups.find();
  groups.end_window(101, {0.5, 0.5, 0.5});
  EXPECT_DOUBLE_EQ(longest(0), device::kLongestTime);
  groups.adaptation.restore(saved);
  groups.end_window(windows[at - 1], {0.5, 0.5, 0.5});
  EXPECT_LT(longest(0), 1e-15) << "a state of before has no metric";
}

TEST(TrajectoryAdaptation, WithoutMetricHmcHasItsLengthAfterTheWarmup) {
  const Target target = testing::real_target(2, 1);
  const auto blocks = plan_blocks(traits_of_kind("hmc"), ProposalShape::diagonal, target);
  const auto layout = blocks.adapted_layout(2);
  const std::vector<ChainPlan> plans{{0, {0}, 1.0, 0}};
  const auto longest = [&](const TrajectoryAdaptation& a) {
    return a.adapted()[static_cast<std::size_t>(layout.length())];
  };
  EXPECT_DOUBLE_EQ(longest(TrajectoryAdaptation(blocks, 0.8, plans, 2, 0, 1000)), device::kLongestTime);
  TrajectoryAdaptation brief(blocks, 0.8, plans, 2, 5, 1000);
  while (brief.is_trying()) brief.tried(std::vector<double>{0.0});
  EXPECT_LT(longest(brief), 1e-15);
  for (const std::int64_t end : brief.window_ends(5))
    brief.end_window(end, {{}, {}, std::vector<double>{0.5}});
  EXPECT_DOUBLE_EQ(longest(brief), device::kLongestTime);
}

// Once there is a metric, leapfrogs are fitted to it and have a longest time, whatever the acceptance.
TEST(TrajectoryAdaptation, FitsLeapfrogsToTheMetricOnceItIsLearnt) {
  const double longest = std::log(device::kLongestFitted);
  for (const std::string kind : {"mala", "hmc", "nuts", "chees"})
    for (const auto shape : {ProposalShape::isotropic, ProposalShape::diagonal, ProposalShape::dense}) {
      TwoGroups groups(shape, kind);
      const auto has_metric = [&](int group) { return groups.numbers(group)[groups.layout.has_metric()]; };
      double greatest_before = -1e9, greatest_after = -1e9;
      for (const std::int64_t end : groups.adaptation.window_ends(1000)) {
        const auto x = static_cast<double>(end);
        while (groups.adaptation.is_trying()) groups.adaptation.tried(std::vector<double>(3, 1.0));
        for (int chain = 0; chain < 2; ++chain)
          groups.adaptation.add_point(chain, std::vector<double>{std::cos(x), std::sin(3 * x)}, 0);
        double& greatest = end <= 100 ? greatest_before : greatest_after;
        greatest = std::max(greatest, groups.log_step(0));
        const std::vector<double> slopes(3, 0.1);
        groups.adaptation.end_window(end, {{}, {}, std::vector<double>(3, 1.0), slopes});
        EXPECT_EQ(has_metric(0), shape != ProposalShape::isotropic && end >= 100) << kind << ' ' << end;
        EXPECT_EQ(has_metric(1), 0) << "the group has no points";
      }
      EXPECT_GT(greatest_before, 5) << kind;
      if (shape == ProposalShape::isotropic) {
        EXPECT_GT(greatest_after, 5) << kind;
      } else {
        EXPECT_NEAR(greatest_after, longest, 1e-12) << kind;
        EXPECT_LE(groups.log_step(0), longest + 1e-12) << kind;
      }
    }
}

// Four points of a tree with steps of 0.9 do not turn, and eight return to the first. The step size after the
// warm-up is raised to that of half a turn if that is near, and only for trees and where there is a metric.
TEST(TrajectoryAdaptation, RaisesAStepSizeWithWhichTreesOvershoot) {
  constexpr double kThird = 3.141592653589793 / 3;
  for (const std::string kind : {"hmc", "nuts"})
    for (const double stable : {0.6, 0.78, 0.9, 1.04, 1.2}) {
      TwoGroups groups(ProposalShape::diagonal, kind);
      std::int64_t before = 0;
      for (const std::int64_t end : groups.adaptation.window_ends(1000)) {
        const auto x = static_cast<double>(end);
        const auto trial = [&](int group) { return groups.log_step(group) < std::log(stable) ? 1.0 : 0.0; };
        while (groups.adaptation.is_trying())
          groups.adaptation.tried(std::vector<double>{trial(0), trial(0), trial(1)});
        for (int chain = 0; chain < 2; ++chain)
          groups.adaptation.add_point(chain, std::vector<double>{std::cos(x), std::sin(3 * x)}, 0);
        std::vector<double> acceptance;  // 0.8, the target, with the stable step size
        for (const int group : {0, 0, 1})
          acceptance.push_back(std::clamp(0.8 + 0.3 * (std::log(stable) - groups.log_step(group)), 0.0, 1.0) *
                               static_cast<double>(end - before));
        groups.end_window(end, acceptance);
        before = end;
      }
      const bool is_raised = kind == "nuts" && stable > 0.85 && stable < 1.1;
      EXPECT_NEAR(std::exp(groups.log_step(0)), is_raised ? 1.1 * kThird : stable, 0.02)
          << kind << ' ' << stable;
      EXPECT_NEAR(std::exp(groups.log_step(1)), stable, 0.02) << "the group has no metric";
    }
}

TEST(TrajectoryAdaptation, TheMeanOfTheStepSizesIsKept) {
  TwoGroups groups;
  groups.find();
  std::int64_t before = 0;
  double last = 0;
  for (const std::int64_t end : groups.adaptation.window_ends(1000)) {
    const double acceptance = end % 2 ? 0.95 : 0.65;  // 0.8 on average
    last = groups.log_step(0);
    groups.end_window(end, std::vector<double>(3, acceptance * static_cast<double>(end - before)));
    groups.find();
    before = end;
  }
  EXPECT_NE(groups.log_step(0), last);
  EXPECT_LT(std::abs(groups.adaptation.drift()[0]), 1.0);
}

// The variance is pooled within chains, whose means may differ, with Stan's five prior points.
TEST(TrajectoryAdaptation, LearnsTheCovarianceWithinChains) {
  constexpr int kPoints = 500;
  for (const auto shape : {ProposalShape::isotropic, ProposalShape::diagonal, ProposalShape::dense}) {
    TwoGroups groups(shape);
    groups.find();
    // A point on the way from the start does not count.
    groups.adaptation.add_point(0, std::vector<double>{-3000, 40}, 0);
    groups.end_window(75, std::vector<double>(3, 0.8));
    Eigen::Matrix2d within = Eigen::Matrix2d::Zero();
    for (int c = 0; c < 2; ++c) {
      Eigen::Matrix<double, 2, kPoints> points;
      const device::RandomSource random{4, 0, static_cast<device::u32>(c)};
      for (int i = 0; i < kPoints; ++i) {
        const double a = random.normal(device::Purpose::simulation, static_cast<device::u32>(2 * i));
        const double b = random.normal(device::Purpose::simulation, static_cast<device::u32>(2 * i + 1));
        points.col(i) << 3 * a + 100 * c, 0.01 * (a + b);
        groups.adaptation.add_point(c, {points.col(i).data(), 2}, 0);
      }
      points.colwise() -= points.rowwise().mean().eval();
      within += points * points.transpose() / (2 * kPoints - 2.0);
    }
    groups.end_window(100, std::vector<double>(3, 0.8 * 25));
    const double n = 2 * kPoints;
    const double typical = std::sqrt(within(0, 0) * within(1, 1));
    const Eigen::Matrix2d expected =
        n / (n + 5) * within + 1e-3 * 5 / (n + 5) * typical * Eigen::Matrix2d::Identity();
    if (shape == ProposalShape::isotropic) {
      EXPECT_EQ(groups.numbers(0)[groups.layout.sd(0)], 1);
    } else if (shape == ProposalShape::diagonal) {
      for (int i = 0; i < 2; ++i)
        EXPECT_NEAR(groups.numbers(0)[groups.layout.sd(i)], std::sqrt(expected(i, i)), 1e-9);
    } else {
      const Eigen::Map<const Eigen::Matrix2d> factor(groups.numbers(0) + groups.layout.dense(0));
      EXPECT_LT((factor * factor.transpose() - expected).norm(), 1e-9);
      EXPECT_EQ(factor(0, 1), 0);
    }
    // The other group has no points.
    EXPECT_EQ(groups.numbers(1)[groups.layout.sd(0)], 1);
    EXPECT_TRUE(groups.adaptation.is_trying());
  }
}

TEST(TrajectoryAdaptation, GoesOnFromWhatItSaved) {
  TwoGroups groups(ProposalShape::dense), again(ProposalShape::dense);
  groups.find();
  for (std::int64_t end = 1; end < 10; ++end) groups.end_window(end, {0.3, 0.5, 0.9});
  const std::vector<double> point{0.2, 0.4};
  groups.adaptation.add_point(1, point, 0);
  again.adaptation.restore(groups.adaptation.save());
  EXPECT_FALSE(again.adaptation.is_trying());
  for (auto* each : {&groups, &again}) {
    each->adaptation.add_point(1, std::vector<double>{1, 2}, 0);
    each->end_window(10, {0.1, 0.2, 0.3});
  }
  EXPECT_EQ(again.adaptation.adapted(), groups.adaptation.adapted());
  std::vector<double> saved = groups.adaptation.save();
  saved.pop_back();
  EXPECT_THROW(again.adaptation.restore(saved), InputError);
}

}  // namespace
}  // namespace emomc
