// Tests rows that are divided among ranks: every sum has the bits that it has with one rank.
#include "row_share.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <numeric>

#include "cpu_gradients.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/device/random.hpp"
#include "emomc/likelihood/expression.hpp"
#include "engine_case.hpp"
#include "random_mixture.hpp"
#include "random_shape.hpp"
#include "thread_ranks.hpp"
#include "tree_sum.hpp"

namespace emomc {
namespace {

using testing::device_of_rank;
using testing::EngineTest;
using testing::MixtureProblem;
using testing::on_ranks;
using testing::random_problem;
using testing::rank_counts;

std::vector<std::uint64_t> bits_of(const std::vector<double>& values) {
  std::vector<std::uint64_t> bits;
  for (const double value : values) bits.push_back(std::bit_cast<std::uint64_t>(value));
  return bits;
}

// Returns consecutive segments with these numbers of rows.
std::vector<Segment> segments_of(const std::vector<std::size_t>& rows) {
  std::vector<Segment> segments;
  std::size_t first = 0;
  for (const std::size_t count : rows) {
    segments.push_back({first, count});
    first += count;
  }
  return segments;
}

const std::vector<std::vector<std::size_t>> kSegments{
    {0}, {1}, {5000}, {100'000}, {37 * 1024}, {0, 1024, 3000, 0, 1, 50'000, 2048}, {700, 700, 700}};

TEST(RowShare, EachRowIsOnOneRankAndRanksFollowEachOther) {
  for (const auto& rows : kSegments)
    for (const int size : {2, 3, 4, 7})
      for (const int unit : {1, 3, 4}) {
        std::vector<std::vector<Segment>> own(static_cast<std::size_t>(size));
        on_ranks(size, [&](Communicator& ranks) {
          const RowShare share(ranks, segments_of(rows), [unit](int) { return unit; });
          own[static_cast<std::size_t>(ranks.rank())] = share.own_segments();
          for (std::size_t s = 0; s < rows.size(); ++s) {
            const auto tiles = share.tiles_of(ranks.rank(), s);
            EXPECT_TRUE(tiles.first % unit == 0 || tiles.first == share.num_tiles(s));
          }
        });
        std::size_t next = 0, last_rank = 0;
        for (std::size_t s = 0; s < rows.size(); ++s)
          for (std::size_t r = 0; r < own.size(); ++r) {
            if (own[r][s].num_rows == 0) continue;
            EXPECT_EQ(own[r][s].first_row, next);
            EXPECT_GE(r, last_rank);
            next += own[r][s].num_rows;
            last_rank = r;
          }
        EXPECT_EQ(next, std::accumulate(rows.begin(), rows.end(), std::size_t{0}));
      }
}

TEST(RowShare, UnitsKeepRanksEven) {
  for (const std::size_t tiles : {1u, 37u, 1000u, 97'657u})
    for (const int ranks : {2, 3, 8}) {
      const int unit = even_unit(tiles, ranks, 1);
      EXPECT_TRUE(unit == 1 || static_cast<std::size_t>(unit) * 100u * static_cast<unsigned>(ranks) <= tiles);
      EXPECT_EQ(even_unit(tiles, ranks, 16) % 16, 0);
    }
}

// Returns numbers of very different sizes, so that another order of additions gives other bits.
std::vector<double> random_sums(std::size_t count) {
  const device::RandomSource random{3, 0, 0};
  std::vector<double> sums;
  for (std::uint32_t i = 0; i < count; ++i)
    sums.push_back(std::exp(8 * random.normal(device::Purpose::simulation, 2 * i)) *
                   random.normal(device::Purpose::simulation, 2 * i + 1));
  return sums;
}

TEST(RowNodes, SumsOfListsHaveTheBitsOfTheTree) {
  for (const auto& rows : kSegments) {
    const auto n = static_cast<int>(rows.size());
    std::vector<std::vector<int>> lists{{}, {0}, {n - 1, 0}, {0, 0, n - 1}, std::vector<int>(rows.size())};
    std::iota(lists.back().begin(), lists.back().end(), 0);
    std::vector<std::size_t> first_tile{0};
    for (const std::size_t count : rows) first_tile.push_back(first_tile.back() + (count + 1023) / 1024);
    const std::vector<double> tiles = random_sums(first_tile.back());
    std::vector<double> expected;
    for (const auto& list : lists) {
      std::vector<double> by_segment;
      for (const int segment : list) {
        const auto s = static_cast<std::size_t>(segment);
        std::vector<double> of_segment(tiles.begin() + static_cast<std::ptrdiff_t>(first_tile[s]),
                                       tiles.begin() + static_cast<std::ptrdiff_t>(first_tile[s + 1]));
        by_segment.push_back(tree_sum(of_segment));
      }
      expected.push_back(tree_sum(by_segment));
    }
    for (const int size : {1, 2, 3, 4, 7})
      for (const int unit : {1, 3, 4}) {
        std::vector<std::vector<double>> actual(static_cast<std::size_t>(size));
        std::vector<std::size_t> widths(static_cast<std::size_t>(size));
        on_ranks(size, [&](Communicator& ranks) {
          const RowShare share(ranks, segments_of(rows), [unit](int) { return unit; });
          const RowNodes nodes(share, lists);
          const std::size_t width = nodes.width(), of_rank = lists.size() * width;
          std::vector<double> records(of_rank * static_cast<std::size_t>(size), 1e300);
          double* const mine = records.data() + static_cast<std::size_t>(ranks.rank()) * of_rank;
          for (std::size_t l = 0; l < lists.size(); ++l) {
            std::vector<double> own;
            for (const int segment : lists[l]) {
              const auto s = static_cast<std::size_t>(segment);
              const auto range = share.tiles_of(ranks.rank(), s);
              for (int t = range.first; t < range.end; ++t)
                own.push_back(tiles[first_tile[s] + static_cast<std::size_t>(t)]);
            }
            RowNodes::sum_own(nodes.of_chain(l), own.data(), mine + l * width);
          }
          ranks.all_gather(mine,
                           std::vector<std::size_t>(static_cast<std::size_t>(size), of_rank * sizeof(double)),
                           records.data());
          std::vector<double> numbers;
          for (std::size_t l = 0; l < lists.size(); ++l)
            actual[static_cast<std::size_t>(ranks.rank())].push_back(
                RowNodes::sum_of(nodes.of_chain(l), records.data() + l * width, of_rank, numbers));
          widths[static_cast<std::size_t>(ranks.rank())] = width;
        });
        for (const auto& of_rank : actual)
          EXPECT_EQ(bits_of(of_rank), bits_of(expected)) << size << ' ' << unit;
        EXPECT_EQ(widths, std::vector<std::size_t>(static_cast<std::size_t>(size), widths[0]));
        EXPECT_LE(widths[0], 2 * 17 * rows.size());  // a few of the many tiles
      }
  }
}

// ---- Engines

// The results of an engine for several chains, in some of which a component changes.
struct Said {
  std::vector<double> all, some, component, rebuilt, by_segment, rows, gradients;
  bool operator==(const Said& other) const {
    return bits_of(all) == bits_of(other.all) && bits_of(some) == bits_of(other.some) &&
           bits_of(component) == bits_of(other.component) && bits_of(rebuilt) == bits_of(other.rebuilt) &&
           bits_of(by_segment) == bits_of(other.by_segment) && bits_of(rows) == bits_of(other.rows) &&
           bits_of(gradients) == bits_of(other.gradients);
  }
};

struct Question {
  std::vector<std::vector<int>> segments;  ///< segments of each chain
  std::vector<double> theta;               ///< first parameters of each chain
  std::vector<double> changed;             ///< parameters with component 1 changed; empty: no such evaluation
  bool gradients = true;  ///< whether to evaluate gradients; each chain then reads one segment at most
};

Said answer(LikelihoodEngine& engine, const Question& question) {
  Device& device = engine.device();
  const auto n = static_cast<int>(question.segments.size());
  const int dim = engine.layout().dim();
  std::vector<ChainPlan> plans;
  for (int c = 0; c < n; ++c)
    plans.push_back({static_cast<std::uint64_t>(c), question.segments[static_cast<std::size_t>(c)], 1.0, 0});
  engine.allocate(plans, ComponentCaches::on);
  DeviceArray<double> theta(device, static_cast<std::size_t>(n * dim)),
      values(device, static_cast<std::size_t>(n)), gradients(device, static_cast<std::size_t>(n * dim));
  const EnsembleView view{n, dim, dim, theta.data(), values.data()};
  theta.upload(question.theta);

  Said said;
  // The sampler runs captured work, which has to gather each time.
  const auto graph = device.capture([&] { engine.evaluate(view, {nullptr, n}); });
  for (int i = 0; i < 2; ++i) device.launch(*graph);
  said.all = values.download();
  const std::vector<int> some{2, 0};
  DeviceArray<int> active(device, some.size());
  active.upload(some);
  values.upload(std::vector<double>(static_cast<std::size_t>(n), 0.0));
  engine.evaluate(view, {active.data(), 2});
  said.some = values.download();

  if (!question.changed.empty()) {
    DeviceArray<int> component(device, static_cast<std::size_t>(n));
    DeviceArray<std::uint8_t> accepted(device, static_cast<std::size_t>(n));
    engine.rebuild_caches(view, {nullptr, n});
    theta.upload(question.changed);
    component.upload(std::vector<int>(static_cast<std::size_t>(n), 1));
    for (int i = 0; i < 2; ++i) {  // the first result is discarded, the second one adopted
      engine.evaluate_component(view, component.data(), {nullptr, n});
      const auto part = values.download();
      said.component.insert(said.component.end(), part.begin(), part.end());
      accepted.upload(std::vector<std::uint8_t>(static_cast<std::size_t>(n), static_cast<std::uint8_t>(i)));
      engine.commit(accepted.data(), {nullptr, n});
    }
    theta.upload(question.theta);
    engine.evaluate_component(view, component.data(), {nullptr, n});
    said.rebuilt = values.download();
  }
  const std::size_t num_segments = engine.num_segments();
  said.by_segment.resize(2 * num_segments);
  engine.sums_by_segment(question.theta.data(), 2, said.by_segment.data());
  said.rows.resize(engine.num_rows());
  engine.evaluate_rows(question.theta.data(), said.rows.data());

  if (question.gradients && engine.capabilities().gradient) {
    engine.allocate_gradients();
    const auto with_gradient = device.capture([&] {
      engine.evaluate_with_gradient(view, {gradients.data(), dim}, {nullptr, n});
    });
    for (int i = 0; i < 2; ++i) device.launch(*with_gradient);
    said.gradients = gradients.download();
    const auto again = values.download();
    EXPECT_EQ(bits_of(again), bits_of(said.all));
  }
  return said;
}

using MakeEngine = std::function<std::unique_ptr<LikelihoodEngine>(Device&, Communicator*)>;

void expect_same_bits(Backend backend, const MakeEngine& make, const Question& question) {
  const auto device = device_of_rank(backend, 0);
  const Said expected = answer(*make(*device, nullptr), question);
  for (const int size : rank_counts(backend)) {
    std::vector<Said> said(static_cast<std::size_t>(size));
    on_ranks(size, [&](Communicator& ranks) {
      const auto own = device_of_rank(backend, ranks.rank());
      const auto engine = make(*own, &ranks);
      EXPECT_FALSE(engine->device_likelihood().has_value());
      said[static_cast<std::size_t>(ranks.rank())] = answer(*engine, question);
    });
    for (const Said& of_rank : said) {
      EXPECT_EQ(bits_of(of_rank.all), bits_of(expected.all)) << size;
      EXPECT_EQ(bits_of(of_rank.gradients), bits_of(expected.gradients)) << size;
      EXPECT_TRUE(of_rank == expected) << size;
    }
  }
}

class RowsOverRanks : public EngineTest {
 protected:
  void SetUp() override {
    EngineTest::SetUp();
    if (!IsSkipped() && rank_counts(backend()).empty()) GTEST_SKIP() << "fewer than two GPUs";
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, RowsOverRanks, testing::all_engine_cases(), testing::name_of_case);

// Returns the chains' points, which differ a little from each other.
std::vector<double> points(const MixtureProblem& problem, std::size_t num_chains,
                           std::size_t changed_mean = 0) {
  std::vector<double> theta;
  for (std::size_t c = 0; c < num_chains; ++c) {
    std::vector<double> own = problem.theta;
    own[static_cast<std::size_t>(problem.K)] += 0.01 * static_cast<double>(c);
    if (changed_mean) own[changed_mean] += 0.1;
    theta.insert(theta.end(), own.begin(), own.end());
  }
  return theta;
}

// One segment is evaluated with gradients, and with kept sums of components.
TEST_P(RowsOverRanks, OneSegmentHasTheBitsOfOneRank) {
  for (const std::size_t num_rows : {500u, 20'300u, 70'000u}) {
    const MixtureProblem problem = random_problem(3, 2, num_rows, 5);
    const ModelSpec model{"gaussian_mixture", 3};
    Question question{std::vector<std::vector<int>>(4, {0}), points(problem, 4), {}};
    question.changed = points(problem, 4, static_cast<std::size_t>(problem.K + problem.d));
    expect_same_bits(
        backend(),
        [&](Device& device, Communicator* ranks) {
          return make_engine(backend(), model, precision(), problem.data, device, 1, ranks);
        },
        question);
  }
}

TEST_P(RowsOverRanks, SegmentsOfChainsHaveTheBitsOfOneRank) {
  MixtureProblem problem = random_problem(3, 2, 30'000, 6);
  problem.data.segments = segments_of({7000, 0, 1, 12'999, 10'000});
  const ModelSpec model{"gaussian_mixture", 3};
  const auto make = [&](Device& device, Communicator* ranks) {
    return make_engine(backend(), model, precision(), problem.data, device, 2, ranks);
  };
  Question question{{{0, 1, 2, 3, 4}, {}, {3}, {4, 0}, {3, 3, 1}}, points(problem, 5), {}};
  question.changed = points(problem, 5, static_cast<std::size_t>(problem.K + problem.d));
  question.gradients = false;
  expect_same_bits(backend(), make, question);
  question = {{{0}, {3}, {4}, {}, {2}, {3}}, points(problem, 6), {}};
  expect_same_bits(backend(), make, question);
}

TEST_P(RowsOverRanks, AFullCovarianceHasTheBitsOfOneRank) {
  const MixtureProblem problem = testing::with_correlations(random_problem(2, 3, 9000, 7), "full", 8);
  std::vector<double> theta;
  for (int c = 0; c < 3; ++c) theta.insert(theta.end(), problem.theta.begin(), problem.theta.end());
  expect_same_bits(backend(),
                   [&](Device& device, Communicator* ranks) {
                     return make_engine(backend(), {"gaussian_mixture", 2, "full"}, precision(), problem.data,
                                        device, 1, ranks);
                   },
                   {std::vector<std::vector<int>>(3, {0}), theta, {}});
}

// The gradients are those of covariates, of a group's effects, and of terms that rows have in common.
TEST_P(RowsOverRanks, AnExpressionHasTheBitsOfOneRank) {
  ExpressionSpec spec;
  spec.parameters = {{"alpha", "", Support::real, {3}}, {"s", "", Support::positive, {}}};
  spec.log_density = {"likelihood.log_density", "normal_lpdf(y, alpha[g] + x, s)"};
  const std::vector<std::string> columns{"x", "y", "g"};
  const device::RandomSource random{5, 0, 0};
  std::vector<double> rows;
  for (std::uint32_t i = 0; i < 9000; ++i)
    for (const double value : {random.normal(device::Purpose::simulation, 2 * i),
                               random.normal(device::Purpose::simulation, 2 * i + 1), i % 3 * 1.0})
      rows.push_back(value);
  const Expression model(spec, columns);
  const auto& used_columns = model.used_columns();
  std::vector<double> used;
  for (std::size_t i = 0; i < rows.size(); i += columns.size())
    for (const std::size_t j : used_columns) used.push_back(rows[i + j]);
  const Expression::Bound bound = model.bind(backend(), used);
  expect_same_bits(
      backend(),
      [&](Device& device, Communicator* ranks) {
        return make_engine(backend(), bound.model, precision(), bound.data, device, 1, ranks);
      },
      {std::vector<std::vector<int>>(3, {0}), {0.1, 0.2, -0.3, 1.1, 0, 0, 0, 0.8, 1, -1, 0.5, 2}, {}});
}

// Gradients of a chain with several segments would need blocks that are divided between ranks.
TEST(RowsOverRanksCpu, GradientsOfSeveralSegmentsAreRefused) {
  MixtureProblem problem = random_problem(2, 1, 3000, 6);
  problem.data.segments = segments_of({1000, 2000});
  EXPECT_THROW(on_ranks(2,
                        [&](Communicator& ranks) {
                          const auto device = make_host_device();
                          const auto engine =
                              make_engine(Backend::cpu, {"gaussian_mixture", 2}, Precision::float64,
                                          problem.data, *device, 1, &ranks);
                          engine->allocate({{0, {0, 1}, 1.0, 0}}, ComponentCaches::off);
                          engine->allocate_gradients();
                        }),
               InputError);
}

TEST(RowsOverRanksCpu, ReferenceIsRefused) {
  const MixtureProblem problem = random_problem(2, 1, 3000, 6);
  EXPECT_THROW(on_ranks(2,
                        [&](Communicator& ranks) {
                          const auto device = make_host_device();
                          make_engine(Backend::reference, {"gaussian_mixture", 2}, Precision::float64,
                                      problem.data, *device, 1, &ranks);
                        }),
               InputError);
}

// Two ranks of this process with the same GPU would wait for each other in functions of the host.
TEST(RowsOverRanksGpu, TwoRanksWithTheSameGpuAreRefused) {
  if (!testing::has_gpu()) GTEST_SKIP() << "no GPU";
  const MixtureProblem problem = random_problem(2, 1, 3000, 6);
  EXPECT_THROW(on_ranks(2,
                        [&](Communicator& ranks) {
                          const auto device = make_cuda_device(0);
                          make_engine(Backend::cuda, {"gaussian_mixture", 2}, Precision::float64,
                                      problem.data, *device, 1, &ranks);
                        }),
               InputError);
}

// A rank fails while another rank's GPU waits for it.
TEST(RowsOverRanksGpu, ARankThatFailsEndsTheWaitOfTheOthers) {
  if (rank_counts(Backend::cuda).empty()) GTEST_SKIP() << "fewer than two GPUs";
  bool told = false;
  const MixtureProblem problem = random_problem(2, 1, 3000, 6);
  EXPECT_THROW(on_ranks(2,
                        [&](Communicator& ranks) {
                          const auto device = make_cuda_device(ranks.rank());
                          const auto engine =
                              make_engine(Backend::cuda, {"gaussian_mixture", 2}, Precision::float64,
                                          problem.data, *device, 1, &ranks);
                          engine->allocate({{0, {0}, 1.0, 0}}, ComponentCaches::off);
                          DeviceArray<double> theta(*device, problem.theta.size()), value(*device, 1);
                          theta.upload(problem.theta);
                          // No rank fails while another compiles its kernels.
                          char ready = 1;
                          ranks.broadcast(&ready, 1);
                          if (ranks.rank() == 1) throw std::runtime_error("gone");
                          const auto dim = static_cast<int>(problem.theta.size());
                          try {
                            engine->evaluate({1, dim, dim, theta.data(), value.data()}, {nullptr, 1});
                            device->synchronize();
                          } catch (const PeerError&) {
                            told = true;
                          }
                        }),
               std::runtime_error);
  EXPECT_TRUE(told);
}

// Results do not depend on the device that the thread has used last.
TEST(RowsOverRanksGpu, TwoDevicesInOneThread) {
  if (rank_counts(Backend::cuda).empty()) GTEST_SKIP() << "fewer than two GPUs";
  const MixtureProblem problem = random_problem(3, 2, 20'000, 5);
  const Question question{std::vector<std::vector<int>>(4, {0}), points(problem, 4), {}};
  const auto first = make_cuda_device(0), second = make_cuda_device(1);
  const auto make = [&](Device& device) {
    return make_engine(Backend::cuda, {"gaussian_mixture", 3}, Precision::mixed, problem.data, device);
  };
  const auto a = make(*first), b = make(*second);
  const Said of_first = answer(*a, question), of_second = answer(*b, question);
  EXPECT_TRUE(of_first == of_second);
  EXPECT_TRUE(answer(*a, question) == of_first);
}

}  // namespace
}  // namespace emomc
