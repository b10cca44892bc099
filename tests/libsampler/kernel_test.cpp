// One step of each proposal, adaptation frozen, against exact draws of the target: detailed balance says
// that (x, y), x from the target and y one block later, is exchangeable. And the same with a q ratio and
// a Jacobian broken on purpose, which must be caught.
#include <gtest/gtest.h>

#include <cmath>

#include "emomc/device/proposals.hpp"
#include "ensemble.hpp"
#include "mixture_target.hpp"

namespace emomc {
namespace {

using namespace device;
using testing::mixture_layout;
using testing::mixture_prior;

// A walk on the log scale of the first free coordinate's neighbourhood that forgets its q ratio: the
// increment depends on where the chain is, so q(x | y) differs from q(y | x).
struct ForgetsItsRatio {
  static constexpr BlockPlan block_plan = BlockPlan::whole;
  template <class Team>
  static void innovate(const Team&, const RandomSource& random, const InnovationView& view, double* z) {
    for (int i = view.block.begin; i < view.block.begin + view.block.size; ++i)
      z[i] = random.normal(Purpose::innovation, static_cast<u32>(i));
  }
  template <class Team>
  static double apply(const Team&, const ProposalView& view) {
    for (int i = view.adapted.block.begin; i < view.adapted.block.begin + view.adapted.block.size; ++i)
      view.candidate[i] = view.u[i] + 0.3 * (1 + 0.5 * std::tanh(view.u[i])) * view.innovation[i];
    return 0.0;
  }
};

// The same with its ratio: the control that shows the test finds the missing term, not the walk.
struct KnowsItsRatio : ForgetsItsRatio {
  template <class Team>
  static double apply(const Team& team, const ProposalView& view) {
    ForgetsItsRatio::apply(team, view);
    double log_ratio = 0;
    for (int i = view.adapted.block.begin; i < view.adapted.block.begin + view.adapted.block.size; ++i) {
      const double forth = 0.3 * (1 + 0.5 * std::tanh(view.u[i]));
      const double back = 0.3 * (1 + 0.5 * std::tanh(view.candidate[i]));
      const double z_back = (view.u[i] - view.candidate[i]) / back;
      log_ratio += -0.5 * z_back * z_back - std::log(back) + 0.5 * view.innovation[i] * view.innovation[i] +
                   std::log(forth);
    }
    return log_ratio;
  }
};

enum class Break { nothing, jacobian };

struct Statistics {
  double worst_exchange = 0;    ///< |z| of E f(x) g(y) - g(x) f(y), largest over pairs
  double worst_stationary = 0;  ///< |z| of E f(y) - f(x), largest over functions
  double acceptance = 0;
};

// Label-free and raw functions of u whose expectations a broken kernel shifts.
std::vector<double> features(const double* u, int n) {
  std::vector<double> f;
  for (int i = 0; i < n; ++i) {
    f.push_back(u[i]);
    f.push_back(u[i] * u[i]);
  }
  return f;
}

// The target is the prior (a flat likelihood), which can be drawn from exactly.
template <class Proposal>
Statistics one_step(const Target& target, IncrementShape shape, int block, Break broken = Break::nothing) {
  const auto device = make_host_device();
  ProposalBlocks blocks = plan_blocks(Proposal::block_plan, target);
  ProposalSpec spec;
  spec.shape = static_cast<ProposalShape>(shape);
  constexpr int num_chains = 4000, rounds = 10;
  std::vector<ChainPlan> plans;
  for (std::uint64_t c = 0; c < num_chains; ++c) plans.push_back({c, {0}, 1.0, 0});
  Ensemble ensemble(*device, target, blocks, spec, plans, 99, {1});
  const StepView& view = ensemble.view();
  std::vector<double> adapted(static_cast<std::size_t>(view.adapted_layout.size()), 0.8);
  for (int b = 0; b < view.num_blocks; ++b) adapted[static_cast<std::size_t>(b)] = -0.7 + 0.1 * b;
  ensemble.upload_adapted(adapted);

  const int dim_u = target.dim_unconstrained();
  const auto num_features = static_cast<std::size_t>(2 * dim_u);
  std::vector<double> exchange(num_features * num_features), exchange_square(exchange);
  std::vector<double> shift(num_features), shift_square(num_features);
  double accepted = 0, total = 0;
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> u(static_cast<std::size_t>(num_chains * dim_u));
    for (int c = 0; c < num_chains; ++c)
      target.unconstrain(
          target.draw_from_prior(5, static_cast<std::uint32_t>(c), static_cast<std::uint64_t>(round)),
          {u.data() + c * dim_u, static_cast<std::size_t>(dim_u)});
    ensemble.upload_points(u, target);
    ensemble.upload_step(round);
    for (int c = 0; c < num_chains; ++c) {
      transition<Proposal>(HostTeam{}, view, c, kNoBlock, block);
      view.candidate.log_likelihood[c] = 0;
      if (broken == Break::jacobian) view.candidate.log_jacobian[c] = view.current.log_jacobian[c] = 0;
      transition<Proposal>(HostTeam{}, view, c, block, kNoBlock);
      accepted += view.accepted[c];
      const auto fx = features(u.data() + c * dim_u, dim_u);
      const auto fy = features(view.current.u + static_cast<std::ptrdiff_t>(c) * view.ld_u, dim_u);
      for (std::size_t i = 0; i < num_features; ++i) {
        shift[i] += fy[i] - fx[i];
        shift_square[i] += (fy[i] - fx[i]) * (fy[i] - fx[i]);
        for (std::size_t j = i + 1; j < num_features; ++j) {
          const double e = fx[i] * fy[j] - fx[j] * fy[i];
          exchange[i * num_features + j] += e;
          exchange_square[i * num_features + j] += e * e;
        }
      }
      total += 1;
    }
  }
  Statistics statistics;
  statistics.acceptance = accepted / total;
  for (std::size_t i = 0; i < num_features; ++i) {
    if (shift_square[i] > 0)
      statistics.worst_stationary =
          std::max(statistics.worst_stationary, std::abs(shift[i]) / std::sqrt(shift_square[i]));
    for (std::size_t j = i + 1; j < num_features; ++j)
      if (const double square = exchange_square[i * num_features + j]; square > 0)
        statistics.worst_exchange =
            std::max(statistics.worst_exchange, std::abs(exchange[i * num_features + j]) / std::sqrt(square));
  }
  return statistics;
}

// 2-component, 1-d: 5 free parameters, 10 features, 45 pairs + 10 means: |z| < 6.2 keeps false alarms
// below 55 x 6e-10 = 3e-8 per case, below 1e-6 over the 16 cases here.
constexpr double kBound = 6.2;

Target small_target() {
  const std::vector<double> sd(1, 1.0);
  return Target(mixture_layout(2, 1), mixture_prior(), sd);
}

TEST(Kernel, RandomWalkIsReversibleInEveryShape) {
  const Target target = small_target();
  for (auto shape : {IncrementShape::isotropic, IncrementShape::diagonal, IncrementShape::dense}) {
    const auto s = one_step<RandomWalk>(target, shape, 0);
    EXPECT_LT(s.worst_exchange, kBound);
    EXPECT_LT(s.worst_stationary, kBound);
    EXPECT_GT(s.acceptance, 0.05);
    EXPECT_LT(s.acceptance, 0.95);
  }
}

TEST(Kernel, EveryBlockOfComponentWiseIsReversible) {
  const Target target = small_target();
  const int num_blocks = static_cast<int>(plan_blocks(BlockPlan::by_component, target).blocks.size());
  ASSERT_EQ(num_blocks, 5);
  for (int block = 0; block < num_blocks; ++block) {
    const auto s = one_step<ComponentWise>(target, IncrementShape::diagonal, block);
    EXPECT_LT(s.worst_exchange, kBound) << block;
    EXPECT_LT(s.worst_stationary, kBound) << block;
    EXPECT_GT(s.acceptance, 0.1) << block;
  }
}

TEST(Kernel, OrdersAreReversible) {
  for (const char* order : {"means", "scales"}) {
    PriorSet prior = mixture_prior();
    prior.order = order;
    const std::vector<double> sd(1, 1.0);
    const auto s = one_step<RandomWalk>(Target(mixture_layout(2, 1), prior, sd), IncrementShape::diagonal, 0);
    EXPECT_LT(s.worst_exchange, kBound) << order;
    EXPECT_LT(s.worst_stationary, kBound) << order;
  }
}

TEST(Kernel, AForgottenQRatioIsCaught) {
  const Target target = small_target();
  const auto right = one_step<KnowsItsRatio>(target, IncrementShape::isotropic, 0);
  EXPECT_LT(right.worst_exchange, kBound);
  EXPECT_LT(right.worst_stationary, kBound);
  const auto wrong = one_step<ForgetsItsRatio>(target, IncrementShape::isotropic, 0);
  EXPECT_GT(std::max(wrong.worst_exchange, wrong.worst_stationary), 2 * kBound);
}

TEST(Kernel, AForgottenJacobianIsCaught) {
  const auto wrong = one_step<RandomWalk>(small_target(), IncrementShape::isotropic, 0, Break::jacobian);
  EXPECT_GT(std::max(wrong.worst_exchange, wrong.worst_stationary), 2 * kBound);
}

}  // namespace
}  // namespace emomc
