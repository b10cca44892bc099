// Tests the integrator of gradient samplers and the trees of nuts, by the phases of the sampler itself.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "emomc/device/trajectories.hpp"
#include "trajectory_problems.hpp"

namespace emomc {
namespace {

using namespace testing;
using Phase = Leapfrogs::Phase;

FixedMetric dense_metric(int n, double step_size) {
  FixedMetric metric{step_size, ProposalShape::dense};
  for (int column = 0; column < n; ++column)
    for (int row = 0; row < n; ++row)
      metric.factor.push_back(row < column    ? 0
                              : row == column ? 0.5 + 0.1 * row
                                              : 0.2 * (1 + row - 2 * column));
  return metric;
}

std::vector<ExactProblem> problems() {
  std::vector<ExactProblem> all{correlated_normal({0.4}), banana(), funnel(), heavy_tails(), constrained()};
  all.push_back(correlated_normal({0.4, ProposalShape::diagonal, {0.8, 2.5, 0.4}}));
  all.push_back(correlated_normal(dense_metric(3, 0.2)));
  ExactProblem dense = constrained();
  dense.metric = dense_metric(dense.problem.target.dim_unconstrained(), 0.2);
  all.push_back(dense);
  for (ExactProblem fitted : {all[1], all[5], dense}) {
    fitted.name += "_fitted";
    fitted.metric.is_fitted = true;
    all.push_back(fitted);
  }
  return all;
}

// Returns an exact draw with a momentum.
Phase start_of(const ExactProblem& exact, std::uint64_t seed = 3) {
  const auto n = static_cast<std::size_t>(exact.problem.target.dim_unconstrained());
  Phase phase{std::vector<double>(n), std::vector<double>(n)};
  const device::RandomSource random{seed, 0, 7};
  exact.draw(random, phase.u.data());
  for (std::size_t i = 0; i < n; ++i)
    phase.momentum[i] = normal_number(random, 100 + static_cast<device::u32>(i));
  return phase;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

TEST(Leapfrog, IsReversible) {
  for (const ExactProblem& exact : problems()) {
    TrajectoryChains chains("hmc", exact.problem, 1, exact.metric);
    Leapfrogs leapfrogs(chains);
    const Phase start = start_of(exact);
    leapfrogs.begin(start);
    leapfrogs.go(10, 1);
    const Phase there = leapfrogs.phase();
    EXPECT_GT(distance(there.u, start.u), 0.1) << exact.name;
    // The leapfrogs lead back by steps in the other direction of time, and by the flipped momentum.
    leapfrogs.go(10, -1);
    EXPECT_LT(distance(leapfrogs.phase().u, start.u), 1e-11) << exact.name;
    EXPECT_LT(distance(leapfrogs.phase().momentum, start.momentum), 1e-11) << exact.name;
    Phase flipped = there;
    for (double& q : flipped.momentum) q = -q;
    leapfrogs.begin(flipped);
    leapfrogs.go(10, 1);
    EXPECT_LT(distance(leapfrogs.phase().u, start.u), 1e-11) << exact.name;
  }
}

// The determinant of the map of (u, momentum) by three leapfrogs is computed from central differences with an
// error of about 1e-8.
TEST(Leapfrog, PreservesVolume) {
  for (const ExactProblem& exact : problems()) {
    TrajectoryChains chains("hmc", exact.problem, 1, exact.metric);
    Leapfrogs leapfrogs(chains);
    const Phase start = start_of(exact);
    const auto n = static_cast<Eigen::Index>(start.u.size());
    const auto image = [&](Eigen::Index i, double h) {
      Phase phase = start;
      (i < n ? phase.u[static_cast<std::size_t>(i)] : phase.momentum[static_cast<std::size_t>(i - n)]) += h;
      leapfrogs.begin(phase);
      leapfrogs.go(3, 1);
      Eigen::VectorXd x(2 * n);
      x << Eigen::Map<const Eigen::VectorXd>(leapfrogs.phase().u.data(), n),
          Eigen::Map<const Eigen::VectorXd>(leapfrogs.phase().momentum.data(), n);
      return x;
    };
    constexpr double kH = 1e-5;
    Eigen::MatrixXd jacobian(2 * n, 2 * n);
    for (Eigen::Index i = 0; i < 2 * n; ++i) jacobian.col(i) = (image(i, kH) - image(i, -kH)) / (2 * kH);
    EXPECT_NEAR(jacobian.determinant(), 1.0, 1e-6) << exact.name;
    EXPECT_GT((jacobian - Eigen::MatrixXd::Identity(2 * n, 2 * n)).norm(), 0.5) << exact.name;
  }
}

// The error of the energy after a fixed time falls with the square of the step size. This would not be so if
// the gradient were not that of the density, including the Jacobian, or if the metric were not the same in
// both halves.
TEST(Leapfrog, HasAnEnergyErrorOfSecondOrder) {
  for (const ExactProblem& exact : problems()) {
    std::vector<double> errors;
    for (const double step_size : {0.02, 0.01, 0.005}) {
      FixedMetric metric = exact.metric;
      metric.step_size = step_size;
      TrajectoryChains chains("hmc", exact.problem, 1, metric);
      Leapfrogs leapfrogs(chains);
      const double before = leapfrogs.begin(start_of(exact));
      errors.push_back(leapfrogs.go(static_cast<int>(std::lround(0.6 / step_size)), 1) - before);
    }
    EXPECT_NEAR(errors[0] / errors[1], 4, 0.1) << exact.name << ' ' << errors[0];
    EXPECT_NEAR(errors[1] / errors[2], 4, 0.1) << exact.name << ' ' << errors[1];
  }
}

// Momenta follow the metric: a kick and a drift with factor L are those of the inverse metric L L'.
TEST(Leapfrog, HasTheMetricOnce) {
  const ExactProblem exact = correlated_normal(dense_metric(3, 0.3));
  TrajectoryChains chains("hmc", exact.problem, 1, exact.metric);
  Leapfrogs leapfrogs(chains);
  const Phase start = start_of(exact);
  leapfrogs.begin(start);
  const Eigen::Map<const Eigen::Matrix3d> L(exact.metric.factor.data());
  const Eigen::Map<const Eigen::Vector3d> u(start.u.data()), q(start.momentum.data());
  const Eigen::Vector3d gradient(
      Eigen::Map<const Eigen::Vector3d>(device::trajectory_of(chains.view(), 0, 0).x.gradient));
  const double h = exact.metric.step_size;
  const Eigen::Vector3d p = L.transpose().inverse() * q;  // the momentum that belongs to u
  const Eigen::Vector3d expected = u + h * L * L.transpose() * (p + 0.5 * h * gradient);
  leapfrogs.go(1, 1);
  const Phase phase = leapfrogs.phase();
  EXPECT_LT((expected - Eigen::Map<const Eigen::Vector3d>(phase.u.data())).norm(), 1e-12);
}

// On a normal density with the metric's covariance, fitted leapfrogs of any length are rotations:
// L^-1 u cos(t) + q sin(t) after a time t, with the energy preserved.
TEST(Leapfrog, FittedToTheMetricRotatesANormalDensity) {
  const Eigen::Matrix3d L{{1, 0, 0}, {0.8 * 3, 0.6 * 3, 0}, {0, 0, 0.5}};  // of correlated_normal()
  for (const double h : {1e-9, 0.3, 1.0, device::kLongestFitted}) {
    FixedMetric metric{h, ProposalShape::dense, {}, std::vector<double>(L.data(), L.data() + 9)};
    metric.is_fitted = true;
    const ExactProblem exact = correlated_normal(metric);
    TrajectoryChains chains("hmc", exact.problem, 1, metric);
    Leapfrogs leapfrogs(chains);
    const Phase start = start_of(exact);
    const Eigen::Map<const Eigen::Vector3d> u(start.u.data()), q(start.momentum.data());
    const Eigen::Vector3d x = L.inverse() * u;
    const double before = leapfrogs.begin(start);
    for (int i = 1; i <= 7; ++i) {
      EXPECT_NEAR(leapfrogs.go(1, 1), before, 1e-12 * std::abs(before)) << h;
      const Phase phase = leapfrogs.phase();
      const Eigen::Vector3d there = L * (x * std::cos(i * h) + q * std::sin(i * h));
      const Eigen::Vector3d momentum = q * std::cos(i * h) - x * std::sin(i * h);
      EXPECT_LT((there - Eigen::Map<const Eigen::Vector3d>(phase.u.data())).norm(), 1e-13 * (1 + i)) << h;
      EXPECT_LT((momentum - Eigen::Map<const Eigen::Vector3d>(phase.momentum.data())).norm(), 1e-13 * (1 + i))
          << h;
    }
  }
}

// Stan's recursion (base_nuts.hpp, build_tree and transition) for the trajectory of a draw, which gives the
// number of leapfrogs and the depth at which the trajectory ends. Points are taken from a line of leapfrogs
// in both directions of time.
class RecursiveTree {
 public:
  RecursiveTree(Leapfrogs& leapfrogs, const Phase& start) : leapfrogs_(leapfrogs), start_(start) {
    energy_ = leapfrogs_.begin(start);
  }

  struct Result {
    int depth = 0, leapfrogs = 0;
    double acceptance = 0;
    bool divergent = false;
  };
  Result run(const device::RandomSource& random) {
    Eigen::VectorXd back = vector(start_.momentum), ahead = back, sum = back;
    while (result_.depth < device::kMostDoublings) {
      const bool forward =
          random.uniform(device::Purpose::direction, static_cast<device::u32>(result_.depth)) < 0.5;
      Tree tree;
      if (!build(result_.depth, forward ? 1 : -1, tree)) break;
      ++result_.depth;
      const Eigen::VectorXd old_sum = sum, old_near = forward ? ahead : back,
                            old_far = forward ? back : ahead;
      sum += tree.sum;
      (forward ? ahead : back) = tree.last;
      if (!goes_on(old_far, tree.last, sum) || !goes_on(old_far, tree.first, old_sum + tree.first) ||
          !goes_on(old_near, tree.last, tree.sum + old_near))
        break;
    }
    result_.acceptance /= result_.leapfrogs;
    return result_;
  }

 private:
  struct Tree {
    Eigen::VectorXd first, last, sum;
  };
  static Eigen::VectorXd vector(const std::vector<double>& v) {
    return Eigen::Map<const Eigen::VectorXd>(v.data(), static_cast<Eigen::Index>(v.size()));
  }
  static bool goes_on(const Eigen::VectorXd& a, const Eigen::VectorXd& b, const Eigen::VectorXd& sum) {
    return a.dot(sum) > 0 && b.dot(sum) > 0;
  }
  bool build(int depth, int direction, Tree& tree) {
    if (depth == 0) {
      ++result_.leapfrogs;
      int& at = at_[direction > 0 ? 1 : 0];
      leapfrogs_.begin(start_);
      const double error = leapfrogs_.go(++at, direction) - energy_;
      tree.first = tree.last = tree.sum = vector(leapfrogs_.phase().momentum);
      result_.acceptance += std::min(1.0, std::exp(-error));
      result_.divergent = !(error <= 1000);
      return !result_.divergent;
    }
    Tree left, right;
    if (!build(depth - 1, direction, left) || !build(depth - 1, direction, right)) return false;
    tree = {left.first, right.last, left.sum + right.sum};
    return goes_on(left.first, right.last, tree.sum) &&
           goes_on(left.first, right.first, left.sum + right.first) &&
           goes_on(left.last, right.last, right.sum + left.last);
  }

  Leapfrogs& leapfrogs_;
  Phase start_;
  double energy_;
  int at_[2] = {0, 0};
  Result result_;
};

TEST(Nuts, TreesEndWhereStansRecursionEndsThem) {
  std::vector<ExactProblem> all = problems();
  all.push_back(correlated_normal({0.05}));  // deep trees
  all.push_back(correlated_normal({0.9}));   // shallow trees
  std::vector<int> depths(12);
  for (const ExactProblem& exact : all)
    for (std::uint64_t draw = 0; draw < 12; ++draw) {
      TrajectoryChains chains("nuts", exact.problem, 1, exact.metric, 40 + draw);
      Phase start = start_of(exact, draw);
      const device::RandomSource random{40 + draw, 0, 0};
      for (std::size_t i = 0; i < start.u.size(); ++i)
        start.momentum[i] = random.normal(device::Purpose::momentum, static_cast<device::u32>(i));
      chains.begin(start.u);
      chains.run(1);
      Leapfrogs leapfrogs(chains);
      const auto expected = RecursiveTree(leapfrogs, start).run(random);
      const DrawStatistics& actual = chains.statistics[0];
      EXPECT_EQ(actual.tree_depth, expected.depth) << exact.name << ", draw " << draw;
      EXPECT_EQ(actual.num_leapfrogs, expected.leapfrogs) << exact.name << ", draw " << draw;
      EXPECT_NEAR(actual.acceptance, expected.acceptance, 1e-9) << exact.name << ", draw " << draw;
      EXPECT_EQ(actual.divergent, expected.divergent);
      ++depths[static_cast<std::size_t>(actual.tree_depth)];
    }
  // The comparison included trees of many depths.
  for (std::size_t depth : {1u, 2u, 3u, 4u, 5u}) EXPECT_GT(depths[depth], 0) << depth;
}

// This is why fitted leapfrogs have a longest time: with longer ones a tree does not see that it turns.
TEST(Nuts, FittedLeapfrogsOfMoreThanAQuarterTurnMakeTheDeepestTrees) {
  constexpr int kSize = 100;
  const TrajectoryProblem problem{real_target(kSize, 1), [](int, const double*, double* gradient) {
                                    if (gradient) std::fill_n(gradient, kSize, 0.0);
                                    return 0.0;
                                  }};
  const auto most_leapfrogs = [&](double step_size) {
    FixedMetric metric{step_size, ProposalShape::diagonal, std::vector<double>(kSize, 1.0)};
    // Like a learned metric, this one is some percent wrong.
    for (int i = 0; i < kSize; ++i) metric.sd[static_cast<std::size_t>(i)] += 0.03 * std::cos(7.0 * i);
    metric.is_fitted = true;
    TrajectoryChains chains("nuts", problem, 4, metric);
    chains.begin(std::vector<double>(4 * kSize, 0.5));
    int most = 0;
    for (int i = 0; i < 5; ++i) {
      chains.run(1);
      for (const auto& draw : chains.statistics) most = std::max(most, draw.num_leapfrogs);
    }
    return most;
  };
  EXPECT_LE(most_leapfrogs(device::kLongestFitted), 7);
  EXPECT_EQ(most_leapfrogs(2.2), device::kMostLeapfrogs);
}

TEST(Hmc, LengthsAreUniformAndDoNotDependOnTheState) {
  const ExactProblem exact = correlated_normal({0.1});
  constexpr int kChains = 20000;
  TrajectoryChains chains("hmc", exact.problem, kChains, exact.metric);
  std::vector<double> u(3 * kChains);
  const auto lengths_at = [&](double at) {
    std::fill(u.begin(), u.end(), at);
    TrajectoryChains anew("hmc", exact.problem, kChains, exact.metric);
    anew.begin(u);
    anew.run(1);
    std::vector<int> lengths;
    for (const auto& draw : anew.statistics) lengths.push_back(draw.num_leapfrogs);
    return lengths;
  };
  const std::vector<int> lengths = lengths_at(0);
  EXPECT_EQ(lengths, lengths_at(2));
  const auto [least, most] = std::minmax_element(lengths.begin(), lengths.end());
  EXPECT_EQ(*least, 1);
  EXPECT_EQ(*most, 32);  // pi / 0.1, rounded up
  double mean = 0;
  for (const int length : lengths) mean += length / static_cast<double>(kChains);
  // The expected mean is that of ceil of a uniform number on (0, 31.4), with sd 9.07, so that 6 standard
  // errors are 0.39.
  EXPECT_NEAR(mean, 15.708 + 0.5, 0.39);
}

// The time of a fitted trajectory is uniform on an interval and divided into equal leapfrogs. On a normal
// density with the metric's covariance, a trajectory from the centre ends at sd q sin(time).
TEST(Hmc, FittedTrajectoriesHaveTimesWithinTheirInterval) {
  constexpr int kChains = 2000;
  constexpr double kPi = 3.141592653589793, kStep = 0.9, kSd = 2;
  FixedMetric metric{kStep, ProposalShape::diagonal, {kSd}};
  metric.is_fitted = true;
  const TrajectoryProblem problem{real_target(1, kSd), [](int, const double*, double* gradient) {
                                    if (gradient) gradient[0] = 0;
                                    return 0.0;
                                  }};
  TrajectoryChains chains("hmc", problem, kChains, metric);
  chains.begin(std::vector<double>(kChains, 0.0));
  chains.run(1);
  int least = 100, most = 0;
  for (std::size_t c = 0; c < kChains; ++c) {
    const device::RandomSource random{1, 0, static_cast<device::u32>(c)};
    const double time = kPi * (0.35 + 0.4 * random.uniform(device::Purpose::length, 0));
    const double q = random.normal(device::Purpose::momentum, 0);
    const DrawStatistics& draw = chains.statistics[c];
    EXPECT_NEAR(draw.acceptance, 1, 1e-12);
    EXPECT_NEAR(chains.u[c], kSd * q * std::sin(time), 1e-12);
    EXPECT_EQ(draw.num_leapfrogs, 1 + static_cast<int>(time / kStep));
    least = std::min(least, draw.num_leapfrogs);
    most = std::max(most, draw.num_leapfrogs);
  }
  EXPECT_EQ(least, 2);
  EXPECT_EQ(most, 3);
}

TEST(Trajectories, OnlyThePointsOfChainsUnderWayAreEvaluated) {
  const ExactProblem exact = correlated_normal({0.2});
  TrajectoryChains chains("nuts", exact.problem, 50, exact.metric);
  std::vector<double> u(150, 0.3);
  chains.begin(u);
  const std::int64_t before = chains.engine().num_gradients;
  chains.run(20);
  double leapfrogs = 0, fewest = 1e9, most = 0;
  for (const auto& total : chains.totals) {
    leapfrogs += total.leapfrogs;
    fewest = std::min(fewest, total.leapfrogs);
    most = std::max(most, total.leapfrogs);
    EXPECT_EQ(total.draws, 20);
  }
  EXPECT_EQ(static_cast<double>(chains.engine().num_gradients - before), leapfrogs);
  EXPECT_LT(fewest, most);
}

}  // namespace
}  // namespace emomc
