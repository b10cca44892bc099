// Tests trajectories whose length is shared and learned by the chains of a group: the parts of the
// criterion's gradient, and lengths that are known. gradient_samplers_test.cpp, stationarity_test.cpp and
// gradient_joint_test.cpp test what all gradient samplers have in common.
#include "emomc/device/chees.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <numeric>

#include "emomc/core/errors.hpp"
#include "emomc/sampler/diagnostics.hpp"
#include "keeper.hpp"
#include "length_adaptation.hpp"
#include "stepper.hpp"
#include "trajectory_adaptation.hpp"
#include "trajectory_problems.hpp"

namespace emomc {
namespace {

using namespace testing;

TEST(VanDerCorput, FillsTheUnitIntervalEvenly) {
  EXPECT_EQ(device::van_der_corput(1), 0.5);
  EXPECT_EQ(device::van_der_corput(2), 0.25);
  EXPECT_EQ(device::van_der_corput(3), 0.75);
  EXPECT_EQ(device::van_der_corput(6), 0.375);
  // Of 2^40 + 1, only the first and the last digit are set.
  EXPECT_EQ(device::van_der_corput((device::u64{1} << 40) + 1), 0.5 + 0x1p-41);
  // Each of the first 2^k - 1 numbers is in another interval.
  std::vector<int> counts(64);
  for (device::u64 i = 1; i < 64; ++i) ++counts[static_cast<std::size_t>(64 * device::van_der_corput(i))];
  EXPECT_EQ(counts[0], 0);
  for (std::size_t i = 1; i < 64; ++i) EXPECT_EQ(counts[i], 1);
}

/// Returns independent normal numbers with these means and sds. The likelihood takes back the prior.
TrajectoryProblem normal(const std::vector<double>& means, const std::vector<double>& sds) {
  const int n = static_cast<int>(means.size());
  return {real_target(n, kWide), [=](int, const double* x, double* gradient) {
            double value = without_prior(n, x, gradient);
            for (std::size_t i = 0; i < means.size(); ++i) {
              const double z = (x[i] - means[i]) / sds[i];
              value -= 0.5 * z * z;
              if (gradient) gradient[i] -= z / sds[i];
            }
            return value;
          }};
}

// The trajectory on a normal density with the metric's covariance is a circle: y' = y cos t + q sin t.
TEST(Chees, TheSlopeIsThatOfTheCriterionOnACircle) {
  const std::vector<double> means{1, -2, 0.5}, sds{0.5, 2, 1};
  constexpr double kLength = 1.3005, kStep = 0.001;
  for (const auto shape : {ProposalShape::diagonal, ProposalShape::dense}) {
    FixedMetric metric{kStep, shape, sds};
    metric.factor = {0.5, 0, 0, 0, 2, 0, 0, 0, 1};
    metric.length = kLength;
    metric.centre = means;
    constexpr int kChains = 8;
    TrajectoryChains chains("chees", normal(means, sds), kChains, metric);
    std::vector<double> start;
    for (int i = 0; i < 3 * kChains; ++i)
      start.push_back(means[static_cast<std::size_t>(i % 3)] + std::cos(7.0 * i));
    chains.begin(start);
    chains.run(1);
    const double t = 0.5 * kLength;  // the first share is a half
    for (std::size_t c = 0; c < kChains; ++c) {
      ASSERT_GT(chains.statistics[c].acceptance, 0.999);
      EXPECT_EQ(chains.statistics[c].num_leapfrogs, 1 + static_cast<int>(t / kStep));
      double before = 0, after = 0, product = 0;
      for (std::size_t i = 0; i < 3; ++i) {
        const double y = (start[3 * c + i] - means[i]) / sds[i];
        const double moved = (chains.u[3 * c + i] - means[i]) / sds[i];
        const double q = (moved - y * std::cos(t)) / std::sin(t);
        before += y * y;
        after += moved * moved;
        product += moved * (q * std::cos(t) - y * std::sin(t));
      }
      const double slope = 0.5 * (after - before) * product;
      EXPECT_NEAR(chains.totals[c].window_length_slope, slope, 0.01 * (1 + std::abs(slope))) << c;
    }
  }
}

// The coordinates are correlated: velocities follow from the dense metric, and distances from its sds.
TEST(Chees, TheSlopeOfADenseMetricIsThatOfItsSds) {
  // Standard normal in u, a metric with L = (1, 0; 2, 3), so that du/dt = L q.
  FixedMetric metric{1e-4, ProposalShape::dense, {1, std::sqrt(13.0)}, {1, 2, 0, 3}};
  metric.length = 0.02;
  metric.centre = {0.4, -0.3};
  TrajectoryChains chains("chees", normal({0, 0}, {1, 1}), 1, metric);
  chains.begin({1, -1});
  chains.run(1);
  // Over so short a time the velocity is constant: u' = u + t v.
  const double t = 0.01, from[] = {1 - 0.4, -1 + 0.3};
  double distance = 0, product = 0;
  const double squares[] = {1, 13};
  for (std::size_t i = 0; i < 2; ++i) {
    const double to = chains.u[i] - metric.centre[i], velocity = (to - from[i]) / t;
    distance += (to * to - from[i] * from[i]) / squares[i];
    product += to * velocity / squares[i];
  }
  EXPECT_NEAR(chains.totals[0].window_length_slope, 0.5 * distance * product,
              0.05 * std::abs(distance * product));
}

TEST(Chees, AllChainsOfAStepTakeEquallyManyLeapfrogs) {
  FixedMetric metric{0.1};
  metric.length = 3.01;
  TrajectoryChains chains("chees", normal({0, 0}, {1, 1}), 50, metric);
  chains.begin(std::vector<double>(100, 0.1));
  const double shares[] = {0.5, 0.25, 0.75, 0.125, 0.625};
  for (const double share : shares) {
    chains.run(1);
    for (const auto& draw : chains.statistics)
      EXPECT_EQ(draw.num_leapfrogs, 1 + static_cast<int>(share * 3.01 / 0.1));
  }
}

struct Sampled : Keeper {
  std::vector<DrawStatistics> statistics;
  void on_draws(const DrawBatch& d) override {
    Keeper::on_draws(d);
    if (!d.warmup)
      statistics.insert(statistics.end(), d.statistics,
                        d.statistics + std::ptrdiff_t{d.num_draws} * d.num_chains);
  }
  double mean_leapfrogs() const {
    double sum = 0;
    for (const auto& draw : statistics) sum += draw.num_leapfrogs;
    return sum / static_cast<double>(statistics.size());
  }
};

RunResult sample(const std::string& kind, const TrajectoryProblem& problem, std::size_t num_chains,
                 const RunOptions& options, Sampled& keeper, ProposalShape shape = ProposalShape::diagonal) {
  const auto device = make_host_device();
  FunctionEngine engine(*device, problem.target.layout(), problem.log_likelihood);
  std::vector<ChainPlan> plans;
  for (std::uint64_t c = 0; c < num_chains; ++c) plans.push_back({c, {0}, 1.0, 0});
  std::vector<double> starts(num_chains * static_cast<std::size_t>(problem.target.dim()));
  for (std::size_t i = 0; i < starts.size(); ++i) starts[i] = 0.3 * std::cos(static_cast<double>(7 * i));
  return run_chains(engine, problem.target, {kind, shape}, plans, options, starts, keeper);
}

// The expectation of (|y'|^2 - |y|^2)^2 over a normal density is proportional to sin^2 t, and its mean over t
// uniform on (0, T) is proportional to 1 - sin(2 T) / (2 T). The maximum is at tan(2 T) = 2 T: T = 2.2467.
// With the sds in the metric, any number of chains finds this length, also far from the origin and in several
// groups.
TEST(Chees, LearnsTheBestLengthForANormalDensity) {
  std::vector<double> means(20), sds(20);
  for (std::size_t i = 0; i < 20; ++i) {
    means[i] = 10 * std::cos(static_cast<double>(i));
    sds[i] = std::exp(std::sin(static_cast<double>(i)));
  }
  RunOptions options;
  options.draws = 64;
  const device::AdaptedLayout layout{1, 20, 0, 0, 22};
  for (const std::size_t num_chains : {4u, 64u}) {
    Sampled keeper;
    const RunResult result = sample("chees", normal(means, sds), num_chains, options, keeper);
    // A saved adaptation begins with the adapted numbers.
    const double length = std::exp(result.state.adaptation[static_cast<std::size_t>(layout.length())]);
    std::cout << num_chains << " chains: length " << length << ", step size "
              << keeper.statistics[0].step_size << '\n';
    EXPECT_NEAR(length, 2.2467, num_chains == 4 ? 0.8 : 0.4);
  }
}

// In the units of the paper, without a metric, the best length is that of the widest direction.
TEST(Chees, LearnsTheLengthOfTheWidestDirection) {
  std::vector<double> sds(10, 0.2);
  sds[3] = 2;
  RunOptions options;
  options.draws = 64;
  Sampled keeper;
  sample("chees", normal(std::vector<double>(10), sds), 64, options, keeper, ProposalShape::isotropic);
  const double length = (2 * keeper.mean_leapfrogs() - 1) * keeper.statistics[0].step_size;
  std::cout << "length " << length << '\n';
  EXPECT_NEAR(length, 2 * 2.2467, 1);
}

// ---- The parts of the adaptation.

constexpr device::AdaptedLayout kLayout{1, 2, 0, 0, 4};

TEST(LengthAdaptation, BeginsAtTenLeapfrogsAndStaysWithinBounds) {
  LengthAdaptation length(kLayout, 2);
  length.follow(0, std::log(0.1));
  length.follow(1, std::log(2.0));
  EXPECT_NEAR(length.log_length(0), std::log(1.0), 1e-12);
  EXPECT_NEAR(length.log_length(1), std::log(20.0), 1e-12);
  for (int i = 0; i < 2000; ++i) {
    length.update(0, 1, 1, std::log(0.1));
    length.update(1, -1, 1, std::log(2.0));
  }
  EXPECT_NEAR(length.log_length(0), std::log(0.1 * 1023), 1e-12);
  EXPECT_NEAR(length.log_length(1), std::log(2.0), 1e-12);
}

// The steps are those of Adam without momentum (Kingma and Ba 2015), by the slope of the logarithm, weighted
// by acceptance.
TEST(LengthAdaptation, TakesAdamsSteps) {
  LengthAdaptation length(kLayout, 1);
  length.follow(0, std::log(0.1));
  double expected = length.log_length(0), square = 0;
  for (int t = 1; t <= 5; ++t) {
    const double slope = 0.4 * t - 1, acceptance = 0.5 + 0.1 * t;
    const double gradient = slope / acceptance * std::exp(expected);
    square = 0.95 * square + 0.05 * gradient * gradient;
    expected += 0.025 * gradient / std::sqrt(square / (1 - std::pow(0.95, t)));
    length.update(0, slope, acceptance, std::log(0.1));
    EXPECT_NEAR(length.log_length(0), expected, 1e-12);
  }
  // No chain has moved at all.
  length.update(0, 0, 0, std::log(0.1));
  EXPECT_NEAR(length.log_length(0), expected, 1e-12);
}

TEST(LengthAdaptation, TheCentreIsThatOfManyChainsAndRemembersWhereTheyAreFew) {
  LengthAdaptation length(kLayout, 1);
  double numbers[7] = {};
  const auto centre_after = [&](int chains, double x) {
    for (int c = 0; c < chains; ++c) length.add_point(0, std::vector<double>{x + (c % 2 ? 1 : -1), -x});
    length.move_centre(0);
    length.write(0, numbers);
    return numbers[5];
  };
  EXPECT_NEAR(centre_after(2, 10), 10, 1e-12);
  EXPECT_NEAR(centre_after(2, 28), 10 + 18 * 2 / 18.0, 1e-12);
  EXPECT_NEAR(centre_after(1600, 12), 12, 0.1);
  EXPECT_NEAR(numbers[6], -12, 0.2);
  EXPECT_EQ(numbers[4], length.log_length(0));
}

TEST(LengthAdaptation, ANewMetricKeepsWhatSuitsTheWidestDirection) {
  LengthAdaptation length(kLayout, 1);
  const std::vector<double> one{1, 1}, wider{0.5, 40};
  length.follow(0, 0);
  length.change_metric(0, one, wider);
  EXPECT_NEAR(length.log_length(0), std::log(2.2467), 1e-12);
  length.change_metric(0, wider, one);
  EXPECT_NEAR(length.log_length(0), std::log(2.2467 * 0.5), 1e-12);
  length.change_metric(0, one, wider);
  EXPECT_NEAR(length.log_length(0), std::log(2.2467 * 0.5 / 40), 1e-12);
}

TEST(LengthAdaptation, EndsAtTheMeanOfManyUpdates) {
  LengthAdaptation few(kLayout, 1), many(kLayout, 1);
  for (auto* each : {&few, &many}) {
    each->follow(0, 0);
    const int updates = each == &few ? 5 : 200;
    double mean = 0;
    for (int i = 1; i <= updates; ++i) {
      each->update(0, i % 3 - 1.2, 1, 0);
      mean += (each->log_length(0) - mean) / std::sqrt(i);
    }
    const double last = each->log_length(0);
    each->finish(0, 0);
    EXPECT_NEAR(each->log_length(0), each == &few ? last : mean, 1e-12);
  }
}

// Most chains would shorten the length. The only chain that would not is in a tail, or between modes.
TEST(LengthAdaptation, OneChainDoesNotOutweighTheOthers) {
  const Target target = real_target(2, 1);
  const ProposalBlocks blocks = plan_blocks(traits_of_kind("chees"), ProposalShape::diagonal, target);
  const device::AdaptedLayout layout = blocks.adapted_layout(2);
  constexpr std::size_t kNum = 8;
  std::vector<ChainPlan> plans;
  for (std::uint64_t c = 0; c < kNum; ++c) plans.push_back({c, {0}, 1.0, 0});
  TrajectoryAdaptation adaptation(blocks, 0.651, plans, 2, 1000, 0);
  adaptation.tried(std::vector<double>(kNum, 1.0));
  adaptation.tried(std::vector<double>(kNum, 0.0));
  ASSERT_FALSE(adaptation.is_trying());
  const std::vector<double> acceptance(kNum, 0.651);
  std::vector<double> slopes(kNum, -1);
  slopes[3] = 1000;
  double before = 0, after = 0;
  for (std::int64_t end = 1; end <= 85; ++end) {
    for (int c = 0; c < static_cast<int>(kNum); ++c)
      adaptation.add_point(c, std::vector<double>{0.1 * c, 1}, 0);
    adaptation.end_window(end, {{}, {}, acceptance, slopes});
    after = adaptation.adapted()[static_cast<std::size_t>(layout.length())];
    if (end == 75) before = after;  // the length is learnt from the next step on
  }
  // Ten steps of Adam are nearly 0.025 long, a little less as the slope of the logarithm falls with the
  // length.
  EXPECT_LT(after, before - 0.2);
  EXPECT_GT(after, before - 10 * 0.025);
}

TEST(LengthAdaptation, HarmonicMeansAreOfAGroup) {
  const std::vector<double> acceptance{0.5, 1, 0, 0.25};
  const std::vector<std::size_t> groups{0, 0, 1, 0};
  EXPECT_NEAR(harmonic_mean(acceptance, groups, 0), 3 / (2 + 1 + 4.0), 1e-12);
  EXPECT_NEAR(harmonic_mean(acceptance, groups, 1), 1e-3, 1e-15);
}

}  // namespace
}  // namespace emomc
