// Tests every engine on problems of random shapes (random_shape.hpp). Log densities of rows agree with the
// reference within a rounding bound (rounding_bound.hpp), and sums are those of the rows. Results are bitwise
// equal in every run and batch, for every number of threads, and with component caches.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <numeric>
#include <tuple>

#include "rounding_bound.hpp"

namespace emomc {
namespace {

using testing::Evaluator;
using testing::random_shape;
using testing::RandomShape;

struct Engine {
  Backend backend;
  Precision precision;
};

// On a GPU each shape needs the compilation of a kernel, which takes about a second.
constexpr std::uint32_t kShapes = 24, kShapesLong = 240;

class EngineOnShape : public ::testing::TestWithParam<std::tuple<Engine, std::uint32_t>> {
 protected:
  void SetUp() override {
    if (engine().backend == Backend::cuda && !testing::has_gpu()) GTEST_SKIP() << "no GPU";
  }
  static Engine engine() { return std::get<0>(GetParam()); }
  static RandomShape shape() { return random_shape(std::get<1>(GetParam())); }
  static bool mixed() { return engine().precision == Precision::mixed; }

  static std::unique_ptr<LikelihoodEngine> make(Device& device, const RandomShape& shape, int threads) {
    return make_engine(engine().backend, shape.model, engine().precision, shape.data, device, threads);
  }

  static void expect_reference_rows();
  static void expect_same_bits();
};
using EngineOnShapeLong = EngineOnShape;

const auto kEngines =
    ::testing::Values(Engine{Backend::cpu, Precision::float64}, Engine{Backend::cpu, Precision::mixed},
                      Engine{Backend::cuda, Precision::float64}, Engine{Backend::cuda, Precision::mixed});
const auto kNames = [](const auto& parameters) {
  const Engine& engine = std::get<0>(parameters.param);
  return std::string(engine.backend == Backend::cpu ? "cpu" : "cuda") +
         (engine.precision == Precision::mixed ? "_mixed_" : "_double_") +
         std::to_string(std::get<1>(parameters.param));
};
INSTANTIATE_TEST_SUITE_P(Shapes, EngineOnShape, ::testing::Combine(kEngines, ::testing::Range(0U, kShapes)),
                         kNames);
INSTANTIATE_TEST_SUITE_P(Shapes, EngineOnShapeLong,
                         ::testing::Combine(kEngines, ::testing::Range(kShapes, kShapesLong)), kNames);

void EngineOnShape::expect_reference_rows() {
  const RandomShape p = shape();
  SCOPED_TRACE(p.description);
  const auto host = make_host_device(), device = make_device(engine().backend);
  const auto reference = make_engine(Backend::reference, p.model, Precision::float64, p.data, *host);
  const auto fast = make(*device, p, 0);
  const std::size_t rows = p.data.num_rows, segments = p.data.segments.size();
  std::vector<double> expected(rows), actual(rows), sums(segments), expected_sums(segments);
  reference->evaluate_rows(p.theta.data(), expected.data());
  reference->sums_by_segment(p.theta.data(), 1, expected_sums.data());
  fast->evaluate_rows(p.theta.data(), actual.data());
  fast->sums_by_segment(p.theta.data(), 1, sums.data());

  const testing::RoundingBound bound(p, mixed());
  double worst = 0;
  std::vector<double> allowed(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    allowed[i] = bound(p.data.values.data() + i * static_cast<std::size_t>(p.data.dim));
    ASSERT_TRUE(std::isfinite(expected[i])) << i;
    ASSERT_LE(std::abs(actual[i] - expected[i]), allowed[i]) << "row " << i << ": " << expected[i];
    worst = std::max(worst, std::abs(actual[i] - expected[i]) / allowed[i]);
  }
  if (rows > 0) std::cout << p.description << ": largest error " << worst << " of the bound\n";
  for (std::size_t s = 0; s < segments; ++s) {
    const auto [first, count] = p.data.segments[s];
    double sum = 0, size = 0, tolerance = 0;
    for (std::size_t i = first; i < first + count; ++i) {
      sum += actual[i];
      size += std::abs(actual[i]);
      tolerance += allowed[i];
    }
    // This test sums the rows in order, and the engine by a tree. The test adds the common part to each row,
    // and the engine adds it once.
    EXPECT_NEAR(sums[s], sum, 0x1p-52 * static_cast<double>(count + 40) * size) << "segment " << s;
    EXPECT_LE(std::abs(sums[s] - expected_sums[s]), tolerance + 0x1p-50 * size) << "segment " << s;
    if (count == 0) {
      EXPECT_EQ(sums[s], 0.0) << "segment " << s;
    }
  }
}

// Chains that read all segments, segments one by one, no segment, an empty one, and some segments, with
// slightly different theta.
struct Chains {
  static constexpr int kCount = 5;
  std::vector<ChainPlan> plans;
  std::vector<double> thetas;

  explicit Chains(const RandomShape& p, double size) {
    std::vector<int> all(p.data.segments.size()), odd, empty;
    std::iota(all.begin(), all.end(), 0);
    for (const int s : all) {
      if (s % 2 == 1) odd.push_back(s);
      if (empty.empty() && p.data.segments[static_cast<std::size_t>(s)].num_rows == 0) empty.push_back(s);
    }
    const std::vector<std::vector<int>> lists{all, odd, {}, empty, all};
    for (int c = 0; c < kCount; ++c) {
      plans.push_back({static_cast<std::uint64_t>(c), lists[static_cast<std::size_t>(c)], 1.0, 0});
      const std::vector<double> theta = moved(p, size * c);
      thetas.insert(thetas.end(), theta.begin(), theta.end());
    }
  }

  // Returns theta with the means moved, or with the mean of two_gaussian moved.
  static std::vector<double> moved(const RandomShape& p, double by) {
    std::vector<double> theta = p.theta;
    const int K = p.model.components, first = p.model.name == "two_gaussian" ? 1 : K;
    const int count = p.model.name == "two_gaussian" ? 1 : K * p.data.dim;
    for (int i = first; i < first + count; ++i) theta[static_cast<std::size_t>(i)] += by * (1 + i % 3);
    return theta;
  }
};

// Returns the log likelihoods of all chains, or only of those in `active`, in which case the others remain
// 17.
std::vector<double> evaluate(LikelihoodEngine& engine, const Chains& chains,
                             const std::vector<int>& active = {}) {
  const int dim = engine.layout().dim();
  Device& device = engine.device();
  DeviceArray<double> theta(device, chains.thetas.size()), values(device, Chains::kCount);
  DeviceArray<int> list(device, active.size());
  theta.upload(chains.thetas);
  values.upload(std::vector<double>(Chains::kCount, 17.0));
  list.upload(active);
  engine.evaluate({Chains::kCount, dim, dim, theta.data(), values.data()},
                  {active.empty() ? nullptr : list.data(),
                   active.empty() ? Chains::kCount : static_cast<int>(active.size())});
  return values.download();
}

void EngineOnShape::expect_same_bits() {
  const RandomShape p = shape();
  SCOPED_TRACE(p.description);
  const Chains chains(p, 1e-3);
  const auto device = make_device(engine().backend);
  const auto first = make(*device, p, 1);
  first->allocate(chains.plans, ComponentCaches::off);
  const auto values = evaluate(*first, chains);

  // Each value is the sum over the chain's segments at the chain's own parameters.
  const auto dim = static_cast<std::size_t>(first->layout().dim());
  for (std::size_t c = 0; c < Chains::kCount; ++c) {
    std::vector<double> sums(p.data.segments.size());
    first->sums_by_segment(chains.thetas.data() + c * dim, 1, sums.data());
    double sum = 0, size = 0;
    for (const int s : chains.plans[c].segments) {
      sum += sums[static_cast<std::size_t>(s)];
      size += std::abs(sums[static_cast<std::size_t>(s)]);
    }
    EXPECT_NEAR(values[c], sum, 0x1p-48 * size) << "chain " << c;
  }
  EXPECT_EQ(values[2], 0.0);
  EXPECT_EQ(values[3], 0.0);

  EXPECT_EQ(evaluate(*first, chains), values) << "again";
  for (const int threads : {2, 5}) {
    const auto other = make(*device, p, threads);
    other->allocate(chains.plans, ComponentCaches::off);
    EXPECT_EQ(evaluate(*other, chains), values) << threads << " threads";
  }
  const auto some = evaluate(*first, chains, {4, 1});
  EXPECT_EQ(some, (std::vector<double>{17, values[1], 17, 17, values[4]}));

  // The values through component caches are the same. The weights are changed first, then one component after
  // the other.
  if (!first->capabilities().components || p.model.name == "two_gaussian") return;
  const auto cached = make(*device, p, 2);
  cached->allocate(chains.plans, ComponentCaches::on);
  DeviceArray<double> theta(*device, chains.thetas.size()), out(*device, Chains::kCount);
  DeviceArray<int> component(*device, Chains::kCount);
  DeviceArray<std::uint8_t> accepted(*device, Chains::kCount);
  const EnsembleView view{Chains::kCount, static_cast<int>(dim), static_cast<int>(dim), theta.data(),
                          out.data()};
  const ActiveSet all{nullptr, Chains::kCount};
  auto current = chains;
  theta.upload(current.thetas);
  cached->rebuild_caches(view, all);
  const int K = p.model.components, d = p.data.dim;
  for (const int k : {kAllComponents, 0, K - 1, K / 2}) {
    Chains candidate = current;
    for (std::size_t c = 0; c < Chains::kCount; ++c)
      for (int j = 0; k != kAllComponents && j < d; ++j)
        candidate.thetas[c * dim + static_cast<std::size_t>(K + k * d + j)] += 0.01;
    theta.upload(candidate.thetas);
    component.upload(std::vector<int>(Chains::kCount, k));
    cached->evaluate_component(view, component.data(), all);
    EXPECT_EQ(out.download(), evaluate(*first, candidate)) << "component " << k;
    accepted.upload({1, 0, 1, 1, 0});
    cached->commit(accepted.data(), all);
    for (const std::size_t c : {0U, 2U, 3U})
      std::copy_n(candidate.thetas.begin() + static_cast<std::ptrdiff_t>(c * dim), dim,
                  current.thetas.begin() + static_cast<std::ptrdiff_t>(c * dim));
  }
}

TEST_P(EngineOnShape, RowsAreTheReferencesWithinRounding) { expect_reference_rows(); }
TEST_P(EngineOnShape, BitsAreTheSameInEveryRunBatchAndCache) { expect_same_bits(); }
TEST_P(EngineOnShapeLong, RowsAreTheReferencesWithinRounding) { expect_reference_rows(); }
TEST_P(EngineOnShapeLong, BitsAreTheSameInEveryRunBatchAndCache) { expect_same_bits(); }

}  // namespace
}  // namespace emomc
