// Compares every fast engine with `reference`, and tests the guarantee that a log density depends only on
// parameters, data and precision.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <limits>
#include <set>
#include <tuple>

#include "emomc/core/errors.hpp"
#include "random_mixture.hpp"

namespace emomc {
namespace {

using testing::Evaluator;
using testing::random_problem;

struct Engine {
  Backend backend;
  Precision precision;
};

class FastEngine : public ::testing::TestWithParam<Engine> {
 protected:
  void SetUp() override {
    if (GetParam().backend == Backend::cuda && !testing::has_gpu()) GTEST_SKIP() << "no GPU";
  }
  Evaluator make(const ModelSpec& model, const DataSet& data, int chains = 1, int threads = 0,
                 ComponentCaches caches = ComponentCaches::off) const {
    return Evaluator(GetParam().backend, model, GetParam().precision, data, chains, threads, caches);
  }
  bool mixed() const { return GetParam().precision == Precision::mixed; }
  // Returns the tolerance relative to the sum of the absolute log densities of the rows. It covers the
  // rounding of the rows' terms: in float32 2^-24 for each term, random over rows, and 1e-7 from the
  // parameters, which is the same in all rows.
  double tolerance() const { return mixed() ? 2e-6 : 1e-12; }
};

INSTANTIATE_TEST_SUITE_P(
    Engines, FastEngine,
    ::testing::Values(Engine{Backend::cpu, Precision::float64}, Engine{Backend::cpu, Precision::mixed},
                      Engine{Backend::cuda, Precision::float64}, Engine{Backend::cuda, Precision::mixed}),
    [](const auto& engine) {
      return std::string(engine.param.backend == Backend::cpu ? "cpu" : "cuda") +
             std::string(engine.param.precision == Precision::mixed ? "_mixed" : "_double");
    });

TEST_P(FastEngine, AgreesWithReferenceOverShapes) {
  int shape = 0;
  for (int K : {1, 2, 3, 5, 8, 9, 17, 64})
    for (int d : {1, 2, 10, 13, 64}) {
      for (std::size_t rows : {std::size_t{1}, std::size_t{31}, std::size_t{1025}, std::size_t{5000}}) {
        if (rows == 5000 && K * d > 200) continue;
        const auto p = random_problem(K, d, rows, static_cast<std::uint64_t>(++shape));
        const ModelSpec model{"gaussian_mixture", K};
        const double expected = Evaluator(Backend::reference, model, Precision::float64, p.data)(p.theta)[0];
        const double actual = make(model, p.data)(p.theta)[0];
        EXPECT_NEAR(actual, expected, tolerance() * (std::abs(expected) + static_cast<double>(rows)))
            << "K = " << K << ", d = " << d << ", N = " << rows;
      }
    }
}

// A spherical mixture equals the diagonal one with repeated scales, also in the reference.
TEST_P(FastEngine, AgreesOnSphericalMixtures) {
  for (const auto& [K, d] : {std::pair{1, 1}, {3, 4}, {8, 13}, {17, 33}}) {
    const auto p = random_problem(K, d, 2500, 40);
    const auto begin = static_cast<std::ptrdiff_t>(K + K * d);
    std::vector<double> spherical(p.theta.begin(), p.theta.begin() + begin), diagonal = spherical;
    for (int k = 0; k < K; ++k) {
      spherical.push_back(p.theta[static_cast<std::size_t>(begin + k * d)]);
      diagonal.insert(diagonal.end(), static_cast<std::size_t>(d), spherical.back());
    }
    const ModelSpec model{"gaussian_mixture", K, "spherical"};
    const double expected =
        Evaluator(Backend::reference, {"gaussian_mixture", K}, Precision::float64, p.data)(diagonal)[0];
    EXPECT_NEAR(Evaluator(Backend::reference, model, Precision::float64, p.data)(spherical)[0], expected,
                1e-14 * std::abs(expected));
    EXPECT_NEAR(make(model, p.data)(spherical)[0], expected, tolerance() * std::abs(expected))
        << K << " x " << d;
  }
}

TEST_P(FastEngine, AgreesOnCorrelatedMixtures) {
  for (const std::string covariance : {"full", "tied"})
    for (const auto& [K, d] : {std::pair{1, 1}, {1, 5}, {3, 2}, {5, 4}, {8, 13}, {9, 13}, {17, 33}})
      for (const std::size_t rows : {std::size_t{1}, std::size_t{1025}, std::size_t{2500}}) {
        const auto p = testing::with_correlations(random_problem(K, d, rows, 41), covariance, 42);
        const ModelSpec model{"gaussian_mixture", K, covariance};
        const double expected = Evaluator(Backend::reference, model, Precision::float64, p.data)(p.theta)[0];
        EXPECT_NEAR(make(model, p.data)(p.theta)[0], expected,
                    tolerance() * (std::abs(expected) + static_cast<double>(rows * static_cast<unsigned>(d))))
            << covariance << " " << K << " x " << d << ", N = " << rows;
      }
}

TEST_P(FastEngine, AgreesOnTwoGaussians) {
  auto p = random_problem(2, 1, 3000, 5);
  const std::vector<double> theta{0.3, 0.1, 0.5, 1.7};
  const ModelSpec model{"two_gaussian", 2};
  const double expected = Evaluator(Backend::reference, model, Precision::float64, p.data)(theta)[0];
  EXPECT_NEAR(make(model, p.data)(theta)[0], expected, tolerance() * std::abs(expected));
}

TEST_P(FastEngine, AgreesWhereScalesWeightsAndRowsAreExtreme) {
  auto p = random_problem(4, 3, 2000, 9);
  const ModelSpec model{"gaussian_mixture", 4};
  const auto compare = [&](const char* what, double loose = 1) {
    const double expected = Evaluator(Backend::reference, model, Precision::float64, p.data)(p.theta)[0];
    const double actual = make(model, p.data)(p.theta)[0];
    EXPECT_NEAR(actual, expected, loose * tolerance() * std::abs(expected)) << what;
  };
  p.theta[0] = 1e-300;
  compare("a weight of 1e-300");
  p.theta[0] = 0;
  compare("a weight of 0");
  p.data.values[30] = 1e4;
  compare("a row 1e4 away");
  p.theta[16] = 1e-3;
  compare("a narrow component", 10);
  p.theta[17] = 1e6;
  compare("a wide component", 10);
}

// Adds rows far from all components, and a row at the mean of a narrow component. The sums of their terms
// overflow or underflow float32 or float64.
void add_extreme_rows(testing::MixtureProblem& p) {
  const auto d = static_cast<std::size_t>(p.d), K = static_cast<std::size_t>(p.K);
  for (const std::size_t row : {std::size_t{3}, std::size_t{40}, std::size_t{41}, p.data.num_rows - 1})
    for (std::size_t j = 0; j < d; ++j) p.data.values[row * d + j] = row == 40 ? -300.0 : 25.0;
  for (std::size_t j = 0; j < d; ++j) p.data.values[7 * d + j] = p.theta[K + j];
}

TEST_P(FastEngine, AgreesWhereSumsAreBeyondTheRangeOfNumbers) {
  for (const int d : {1, 13, 39}) {
    auto p = random_problem(5, d, 1100, 10);
    add_extreme_rows(p);
    const auto scales = static_cast<std::size_t>(5 + 5 * d);
    for (const bool narrow : {false, true}) {
      for (int j = 0; narrow && j < d; ++j) {
        p.theta[scales + static_cast<std::size_t>(j)] = 1e-4;
        p.theta[static_cast<std::size_t>(5 + j)] = p.data.values[static_cast<std::size_t>(7 * d + j)] = 0;
      }
      const ModelSpec model{"gaussian_mixture", 5};
      std::vector<double> expected(p.data.num_rows), actual(p.data.num_rows);
      Evaluator(Backend::reference, model, Precision::float64, p.data)
          .engine()
          .evaluate_rows(p.theta.data(), expected.data());
      make(model, p.data).engine().evaluate_rows(p.theta.data(), actual.data());
      for (std::size_t row = 0; row < expected.size(); ++row)
        EXPECT_NEAR(actual[row], expected[row], 10 * tolerance() * (std::abs(expected[row]) + d))
            << "row " << row << ", d = " << d << (narrow ? ", a narrow component" : "");
    }
  }
}

TEST_P(FastEngine, PointsThatAreNoMixtureGiveNan) {
  auto p = random_problem(3, 2, 100, 2);
  auto engine = make({"gaussian_mixture", 3}, p.data);
  for (const double bad : {0.0, -1.0, std::nan(""), 1e-320}) {
    auto theta = p.theta;
    theta[10] = bad;
    EXPECT_TRUE(std::isnan(engine(theta)[0])) << bad;
  }
  auto theta = p.theta;
  theta[4] = std::nan("");
  EXPECT_TRUE(std::isnan(engine(theta)[0]));
  for (const std::string covariance : {"full", "tied"}) {
    const auto correlated = testing::with_correlations(p, covariance, 1);
    auto other = make({"gaussian_mixture", 3, covariance}, p.data);
    EXPECT_TRUE(std::isfinite(other(correlated.theta)[0]));
    for (const double bad : {0.0, -1.0, std::nan("")}) {
      theta = correlated.theta;
      theta.back() = bad;
      EXPECT_TRUE(std::isnan(other(theta)[0])) << covariance << " " << bad;
    }
    theta = correlated.theta;
    theta[theta.size() - 2] = std::nan("");
    EXPECT_TRUE(std::isnan(other(theta)[0])) << covariance;
  }
}

// This holds even if the parameters are not a mixture, since nothing is evaluated.
TEST_P(FastEngine, NoRowsHaveALogLikelihoodOfZero) {
  const auto p = random_problem(3, 2, 100, 2);
  auto with_empty_segment = p.data;
  with_empty_segment.segments = {{0, 0}, {0, 100}, {100, 0}};
  const ModelSpec model{"gaussian_mixture", 3};
  auto theta = p.theta;
  theta[10] = -1;
  const auto expect_zero = [&](Evaluator evaluator, std::size_t segments) {
    for (const auto& point : {p.theta, theta}) {
      std::vector<double> sums(segments, 1.0);
      evaluator.engine().sums_by_segment(point.data(), 1, sums.data());
      EXPECT_EQ(sums.front(), 0.0);
      EXPECT_EQ(sums.back(), 0.0);
    }
  };
  for (const auto caches : {ComponentCaches::off, ComponentCaches::on}) {
    auto without_rows = make(model, DataSet::single_segment(2, {}), 2, 0, caches);
    auto both = p.theta;
    both.insert(both.end(), theta.begin(), theta.end());
    EXPECT_EQ(without_rows(both), (std::vector<double>{0, 0}));
    without_rows.engine().rebuild_caches(without_rows.view(), without_rows.all());
    EXPECT_EQ(without_rows.component(both, {1, kAllComponents}), (std::vector<double>{0, 0}));
    without_rows.commit({1, 0});
    without_rows.engine().evaluate_rows(p.theta.data(), nullptr);
  }
  expect_zero(make(model, DataSet::single_segment(2, {})), 1);
  expect_zero(make(model, with_empty_segment), 3);
  expect_zero(Evaluator(Backend::reference, model, Precision::float64, with_empty_segment), 3);
}

TEST_P(FastEngine, RowsAddUpAndSegmentsToo) {
  for (const std::string covariance : {"diagonal", "full", "tied"}) {
    auto p = random_problem(5, 4, 3000, 3);
    if (covariance != "diagonal") p = testing::with_correlations(p, covariance, 3);
    p.data.segments = {{0, 700}, {700, 1}, {701, 1324}, {2025, 975}};
    const ModelSpec model{"gaussian_mixture", 5, covariance};
    auto engine = make(model, p.data);
    const double total = engine(p.theta)[0];
    std::vector<double> rows(3000), sums(4);
    engine.engine().evaluate_rows(p.theta.data(), rows.data());
    engine.engine().sums_by_segment(p.theta.data(), 1, sums.data());
    EXPECT_NEAR((sums[0] + sums[1]) + (sums[2] + sums[3]), total, 1e-12 * std::abs(total));
    for (std::size_t s = 0; s < 4; ++s) {
      double sum = 0;
      for (std::size_t i = 0; i < p.data.segments[s].num_rows; ++i)
        sum += rows[p.data.segments[s].first_row + i];
      EXPECT_NEAR(sums[s], sum, 1e-11 * std::abs(sum)) << s;
    }
    std::vector<double> expected(3000);
    Evaluator reference(Backend::reference, model, Precision::float64, p.data);
    reference.engine().evaluate_rows(p.theta.data(), expected.data());
    for (std::size_t i = 0; i < 3000; ++i)
      EXPECT_NEAR(rows[i], expected[i], (mixed() ? 1e-5 : 1e-12) * (1 + std::abs(expected[i])));
  }
}

TEST_P(FastEngine, ChainsReadTheirOwnSegments) {
  auto p = random_problem(3, 2, 5000, 4);
  p.data.segments = {{0, 1500}, {1500, 1500}, {3000, 2000}};
  const ModelSpec model{"gaussian_mixture", 3};
  auto device = make_device(GetParam().backend);
  auto engine = make_engine(GetParam().backend, model, GetParam().precision, p.data, *device);
  engine->allocate({{0, {0, 2}, 1.0, 0}, {1, {1}, 1.0, 1}}, ComponentCaches::off);
  DeviceArray<double> theta(*device, 2 * p.theta.size()), values(*device, 2);
  auto both = p.theta;
  both.insert(both.end(), p.theta.begin(), p.theta.end());
  theta.upload(both);
  const int dim = static_cast<int>(p.theta.size());
  engine->evaluate({2, dim, dim, theta.data(), values.data()}, {nullptr, 2});
  const auto actual = values.download();
  std::vector<double> sums(3);
  engine->sums_by_segment(p.theta.data(), 1, sums.data());
  EXPECT_NEAR(actual[0], sums[0] + sums[2], 1e-12 * std::abs(actual[0]));
  EXPECT_EQ(actual[1], sums[1]);
  EXPECT_THROW(engine->allocate({{0, {3}, 1.0, 0}}, ComponentCaches::off), std::invalid_argument);
}

TEST_P(FastEngine, BitsDoNotDependOnBatchThreadsOrActiveSet) {
  for (const auto& [rows, covariance] : {std::pair<std::size_t, std::string>{100, "diagonal"},
                                         {10000, "diagonal"},
                                         {150000, "diagonal"},
                                         {100, "full"},
                                         {20000, "full"},
                                         {20000, "tied"}}) {
    auto p = random_problem(8, 13, rows, 6);
    if (covariance != "diagonal") p = testing::with_correlations(p, covariance, 6);
    add_extreme_rows(p);
    const ModelSpec model{"gaussian_mixture", 8, covariance};
    std::vector<double> alone;
    std::vector<std::vector<double>> points;
    auto single = make(model, p.data, 1, 1);
    for (std::uint32_t i = 0; i < 9; ++i) {
      points.push_back(p.theta);
      for (int m = 0; m < 8 * 13; ++m) points.back()[static_cast<std::size_t>(8 + m)] += 1e-3 * i;
      alone.push_back(single(points.back())[0]);
    }
    std::vector<double> all;
    for (const auto& point : points) all.insert(all.end(), point.begin(), point.end());
    for (int threads : {1, 2, 3, 7}) {
      EXPECT_EQ(make(model, p.data, 9, threads)(all), alone) << threads << " threads, N = " << rows;
      if (GetParam().backend == Backend::cuda) break;
    }
    auto batch = make(model, p.data, 9);
    batch.set(all);
    auto device_chains = DeviceArray<int>(batch.engine().device(), 3);
    device_chains.upload({7, 2, 4});
    batch(std::vector<double>(all.size(), 0.5));  // different values first
    batch.set(all);
    batch.engine().evaluate(batch.view(), {device_chains.data(), 3});
    std::vector<double> some(9);
    batch.engine().device().copy(some.data(), batch.view().log_likelihood, 9 * sizeof(double));
    batch.engine().device().synchronize();
    for (std::size_t c : {7u, 2u, 4u}) EXPECT_EQ(some[c], alone[c]);
    EXPECT_NE(some[0], alone[0]);  // not requested
  }
}

// The batch kernel has blocks that process several parts of the data, prefetch rows and sum runs of parts
// themselves. This is tested with many rows and few chains, and with few rows and many chains. With few
// components and columns a thread processes more rows.
TEST_P(FastEngine, BitsAreTheSameWhereBlocksGoThroughManyParts) {
  if (GetParam().backend != Backend::cuda) GTEST_SKIP() << "of the GPU's kernels";
  for (const auto& [K, d, rows, chains] : {std::tuple{8, 13, std::size_t{600001}, 1},
                                           {8, 13, std::size_t{290000}, 3},
                                           {8, 13, std::size_t{12345}, 700},
                                           {3, 5, std::size_t{2999}, 3001},
                                           {5, 1, std::size_t{300000}, 2},
                                           {2, 1, std::size_t{600001}, 2},
                                           {1, 1, std::size_t{12345}, 700},
                                           {2, 2, std::size_t{290001}, 3},
                                           {128, 13, std::size_t{12345}, 40}}) {
    SCOPED_TRACE(std::to_string(rows) + " rows, " + std::to_string(chains) + " chains");
    auto p = random_problem(K, d, rows, 9);
    if (K <= 2) add_extreme_rows(p);
    const ModelSpec model{"gaussian_mixture", K};
    const auto dim = p.theta.size();
    std::vector<double> all;
    for (int c = 0; c < chains; ++c) {
      all.insert(all.end(), p.theta.begin(), p.theta.end());
      for (int m = 0; m < K * d; ++m)
        all[static_cast<std::size_t>(c) * dim + static_cast<std::size_t>(K + m)] += 1e-4 * c;
    }
    auto plain = make(model, p.data, 1);
    const auto alone = [&](int c) {
      double sum = 0;
      plain.engine().sums_by_segment(all.data() + static_cast<std::size_t>(c) * dim, 1, &sum);
      return sum;
    };
    const auto batch = make(model, p.data, chains)(all);
    std::set<int> some{0, chains / 2, chains - 1};
    if (chains > 16) some.insert({1, 15, 16});
    for (const int c : some) EXPECT_EQ(batch[static_cast<std::size_t>(c)], alone(c)) << "chain " << c;

    auto cached = make(model, p.data, chains, 0, ComponentCaches::on);
    cached.set(all);
    cached.engine().rebuild_caches(cached.view(), cached.all());
    for (const int k : {K - 1, kAllComponents, 0}) {
      for (int c = 0; c < chains; ++c)
        for (int j = 0; k != kAllComponents && j < d; ++j)
          all[static_cast<std::size_t>(c) * dim + static_cast<std::size_t>(K + k * d + j)] += 1e-3;
      const auto changed = cached.component(all, std::vector<int>(static_cast<std::size_t>(chains), k));
      for (const int c : some)
        EXPECT_EQ(changed[static_cast<std::size_t>(c)], alone(c)) << "chain " << c << ", component " << k;
      cached.commit(std::vector<std::uint8_t>(static_cast<std::size_t>(chains), 1));
    }
  }
}

// In a sequence of component and weight updates, some accepted and some rejected, cached and full evaluations
// are bitwise equal throughout.
TEST_P(FastEngine, ComponentCachesChangeNoBit) {
  for (const auto& [K, covariance] : {std::pair{1, "diagonal"},
                                      {5, "diagonal"},
                                      {8, "diagonal"},
                                      {11, "diagonal"},
                                      {5, "full"},
                                      {9, "full"},
                                      {6, "tied"}}) {
    auto p = random_problem(K, 6, 3000, 8);
    if (covariance != std::string("diagonal")) p = testing::with_correlations(p, covariance, 8);
    add_extreme_rows(p);
    const ModelSpec model{"gaussian_mixture", K, covariance};
    const int slice = covariance == std::string("full") ? 21 : covariance == std::string("tied") ? 0 : 6;
    constexpr int chains = 3;
    auto cached = make(model, p.data, chains, 2, ComponentCaches::on);
    auto full = make(model, p.data, chains);
    std::vector<double> current;
    for (int c = 0; c < chains; ++c) current.insert(current.end(), p.theta.begin(), p.theta.end());
    cached.set(current);
    cached.engine().rebuild_caches(cached.view(), cached.all());
    const device::RandomSource random{3, 3, 3};
    std::uint32_t next = 0;
    const auto dim = p.theta.size();
    for (int step = 0; step < 30; ++step) {
      auto candidate = current;
      std::vector<int> components;
      std::vector<std::uint8_t> accepted;
      for (std::size_t c = 0; c < chains; ++c) {
        const int k = static_cast<int>(random.uniform(device::Purpose::simulation, next++) * (K + 1)) - 1;
        components.push_back(k);
        double* theta = candidate.data() + c * dim;
        if (k == kAllComponents) {
          std::swap(theta[0], theta[K - 1]);
        } else {
          for (int j = 0; j < 6; ++j)
            theta[K + k * 6 + j] += 0.1 * random.normal(device::Purpose::simulation, 2 * next++);
          for (int j = 0; j < slice; ++j) theta[K + K * 6 + k * slice + j] *= 1.05;
        }
        accepted.push_back(random.uniform(device::Purpose::simulation, next++) < 0.5);
      }
      EXPECT_EQ(cached.component(candidate, components), full(candidate)) << "K = " << K << ", step " << step;
      cached.commit(accepted);
      for (std::size_t c = 0; c < chains; ++c)
        if (accepted[c])
          std::copy_n(candidate.begin() + static_cast<std::ptrdiff_t>(c * dim), dim,
                      current.begin() + static_cast<std::ptrdiff_t>(c * dim));
    }
  }
}

TEST_P(FastEngine, PlansItsMemory) {
  const auto p = random_problem(8, 13, 5316, 1);
  auto engine = make({"gaussian_mixture", 8}, p.data);
  const std::vector<ChainPlan> plans(4, ChainPlan{0, {0}, 1.0, 0});
  const auto without = engine.engine().plan(plans, ComponentCaches::off);
  const auto with = engine.engine().plan(plans, ComponentCaches::on);
  const std::size_t real = mixed() ? 4 : 8;
  EXPECT_EQ(without.data_bytes, 6 * 1024 * 13 * real);
  EXPECT_EQ(without.cache_bytes, 0u);
  // The cache has, for each row, two sums for each pair of components on CPUs, and three for each four
  // components on GPUs.
  const std::size_t kept = GetParam().backend == Backend::cuda ? 6 : 8;
  EXPECT_EQ(with.cache_bytes, 4 * kept * 6 * 1024 * real);
}

// Many groups of chains each read a part of the data. The cache of a chain has the size of the part that the
// chain reads.
TEST_P(FastEngine, CachesAreOfTheRowsThatAChainReads) {
  if (GetParam().backend == Backend::cuda) GTEST_SKIP() << "there, of all rows";
  auto p = random_problem(3, 4, 6000, 1);
  p.data.segments = {{0, 2000}, {2000, 1500}, {3500, 2500}};
  auto engine = make({"gaussian_mixture", 3}, p.data);
  const auto bytes = [&](const std::vector<std::vector<int>>& lists) {
    std::vector<ChainPlan> plans;
    for (const auto& list : lists) plans.push_back({plans.size(), list, 1.0, 0});
    return engine.engine().plan(plans, ComponentCaches::on).cache_bytes;
  };
  const std::size_t tile = 1024 * 4 * (mixed() ? 4 : 8);
  EXPECT_EQ(bytes({{0, 1, 2}}), 7 * tile);
  EXPECT_EQ(bytes({{0}, {1}, {2}, {2, 0}, {}}), (2 + 2 + 3 + 5) * tile);
}

// This is the requirement of docs/statistics.md. For 100 pairs of points that differ by 2.38 / sqrt(p)
// posterior sds in each of p directions (a step of length 2.38), the error of the difference has an RMS of at
// most 2e-3 sqrt(N / 1e6) and a maximum of at most 4 times that. The value itself has a relative error of at
// most 2e-6.
TEST_P(FastEngine, DifferencesOfNeighboursMeetTheMixedPrecisionBar) {
  constexpr std::size_t rows = 200000;
  const auto p = random_problem(8, 13, rows, 12);
  const ModelSpec model{"gaussian_mixture", 8};
  auto fast = make(model, p.data);
  Evaluator exact(GetParam().backend, model, Precision::float64, p.data);
  const double bar = 2e-3 * std::sqrt(static_cast<double>(rows) / 1e6);
  const double fast_here = fast(p.theta)[0], exact_here = exact(p.theta)[0];
  EXPECT_NEAR(fast_here, exact_here, 2e-6 * std::abs(exact_here));
  double square = 0, worst = 0;
  for (std::uint32_t pair = 0; pair < 100; ++pair) {
    const auto there = testing::neighbour(p, 2.38, pair);
    const double error = (fast(there)[0] - fast_here) - (exact(there)[0] - exact_here);
    square += error * error / 100;
    worst = std::max(worst, std::abs(error));
  }
  std::cout << "RMS " << std::sqrt(square) << ", largest " << worst << ", bar " << bar << '\n';
  EXPECT_LE(std::sqrt(square), bar);
  EXPECT_LE(worst, 4 * bar);
}

// The test makes one step from each of 10,000 states around the truth, at the scale of a random walk. At N =
// 1e6 at most 6 decisions differ from those in float64; at other N the scaling of the requirement above gives
// 6 sqrt(N / 1e6). The cpu engine uses N = 20,000 (at most 1 may differ), the GPU all rows.
TEST_P(FastEngine, AcceptanceDecisionsAreThoseOfFloat64) {
  if (!mixed()) GTEST_SKIP() << "float64 is compared with";
  const bool gpu = GetParam().backend == Backend::cuda;
  const std::size_t rows = gpu ? 1'000'000 : 20'000;
  constexpr int batch = 250;
  auto p = random_problem(8, 13, rows, 14);
  const ModelSpec model{"gaussian_mixture", 8};
  auto fast = make(model, p.data, 2 * batch);
  Evaluator exact(GetParam().backend, model, Precision::float64, p.data, 2 * batch);
  const auto truth = p.theta;
  const device::RandomSource random{5, 5, 5};
  int num_different = 0, num_accepted = 0;
  for (std::uint32_t first = 0; first < 10'000; first += batch) {
    std::vector<double> points;
    for (std::uint32_t i = first; i < first + batch; ++i) {
      p.theta = truth;
      const auto state = testing::neighbour(p, 5, 2 * i);
      p.theta = state;
      const auto candidate = testing::neighbour(p, 1, 2 * i + 1);
      points.insert(points.end(), state.begin(), state.end());
      points.insert(points.end(), candidate.begin(), candidate.end());
    }
    const auto fast_values = fast(points), exact_values = exact(points);
    for (std::uint32_t i = 0; i < batch; ++i) {
      const double threshold = std::log(random.uniform(device::Purpose::acceptance, first + i));
      const bool by_fast = threshold < fast_values[2 * i + 1] - fast_values[2 * i];
      const bool by_exact = threshold < exact_values[2 * i + 1] - exact_values[2 * i];
      num_different += by_fast != by_exact;
      num_accepted += by_exact;
    }
  }
  RecordProperty("different_decisions", num_different);
  std::cout << num_different << " of 10000 decisions differ, " << num_accepted << " are accepted\n";
  EXPECT_GT(num_accepted, 1000);
  EXPECT_LT(num_accepted, 9000);
  EXPECT_LE(num_different, gpu ? 6 : 1);
}

TEST(Engines, ImpossibleModelsAreRefusedInWords) {
  const auto expect_refused = [](const ModelSpec& model, int dim, const std::string& word) {
    try {
      model_layout(model, dim);
      ADD_FAILURE() << model.name << " was accepted";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
  };
  expect_refused({"gaussian_mixtur", 2}, 3, "gaussian_mixture");
  expect_refused({"gaussian_mixture", 0}, 3, "1 to 4096");
  expect_refused({"two_gaussian", 2}, 3, "3 columns");
}

TEST(Engines, LayoutsNameTheirParameters) {
  const auto mixture = element_names(model_layout({"gaussian_mixture", 2}, 3));
  EXPECT_EQ(mixture.front(), "weights[0]");
  EXPECT_EQ(mixture[7], "means[1,2]");
  EXPECT_EQ(mixture.back(), "scales[1,2]");
  const auto signal = element_names(model_layout({"two_gaussian", 2}, 1));
  EXPECT_EQ(signal, (std::vector<std::string>{"fraction", "mean", "sigma[0]", "sigma[1]"}));
}

TEST(Engines, CudaWithoutAGpuIsRefusedInWords) {
  if (testing::has_gpu()) GTEST_SKIP() << "there is a GPU";
  EXPECT_THROW(make_device(Backend::cuda), InputError);
  EXPECT_EQ(
      resolve_backend(Backend::automatic, {"gaussian_mixture", 8}, random_problem(8, 13, 10, 1).data, 4),
      Backend::cpu);
}

}  // namespace
}  // namespace emomc
