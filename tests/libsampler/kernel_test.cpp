// Makes one step of each proposal with fixed adaptation, from exact draws of the target. By detailed balance
// the pair (x, y), where x is from the target and y is the state after one block, is exchangeable. Kernels
// with a deliberately wrong proposal density ratio or Jacobian must be detected.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <optional>
#include <random>
#include <set>

#include "emomc/core/errors.hpp"
#include "emomc/device/proposals.hpp"
#include "ensemble.hpp"
#include "one_step.hpp"

namespace emomc {
namespace {

using namespace device;
using namespace testing;

// A walk on the log scale near the first free coordinate that omits its proposal density ratio: the increment
// depends on the current state, so that q(x | y) differs from q(y | x).
struct WalkWithoutRatio : Phase {
  template <class Team>
  static void innovate(const Team&, const RandomSource& random, const InnovationView& view,
                       const Innovation& innovation) {
    double* z = innovation.main;
    for (int i = view.block.begin; i < view.block.begin + view.block.size; ++i)
      z[i] = random.normal(Purpose::innovation, static_cast<u32>(i));
  }
  template <class Team>
  static double apply(const Team&, const ProposalView& view) {
    for (int i = view.adapted.block.begin; i < view.adapted.block.begin + view.adapted.block.size; ++i)
      view.candidate[i] = view.u[i] + 0.3 * (1 + 0.5 * std::tanh(view.u[i])) * view.innovation.main[i];
    return 0.0;
  }
};

// The same walk with the ratio. This control shows that the test detects the missing term, and not the walk.
struct WalkWithRatio : WalkWithoutRatio {
  template <class Team>
  static double apply(const Team& team, const ProposalView& view) {
    WalkWithoutRatio::apply(team, view);
    double log_ratio = 0;
    for (int i = view.adapted.block.begin; i < view.adapted.block.begin + view.adapted.block.size; ++i) {
      const double forth = 0.3 * (1 + 0.5 * std::tanh(view.u[i]));
      const double back = 0.3 * (1 + 0.5 * std::tanh(view.candidate[i]));
      const double z_back = (view.u[i] - view.candidate[i]) / back;
      log_ratio += -0.5 * z_back * z_back - std::log(back) +
                   0.5 * view.innovation.main[i] * view.innovation.main[i] + std::log(forth);
    }
    return log_ratio;
  }
};

using ForgetsItsRatio = Of<WalkWithoutRatio>;
using KnowsItsRatio = Of<WalkWithRatio>;

// There are 2 components in 1 column: 5 free parameters, 10 features, 45 pairs and 10 means. |z| < 6.2 keeps
// the rate of false alarms below 55 x 6e-10 = 3e-8 for each case and below 1e-6 for the 16 cases here.
constexpr double kBound = 6.2;

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

TEST(Kernel, AdaptiveMetropolisIsReversible) {
  const auto s = one_step<AdaptiveMetropolis>(small_target(), IncrementShape::dense, 0);
  EXPECT_LT(s.worst_exchange, kBound);
  EXPECT_LT(s.worst_stationary, kBound);
  EXPECT_GT(s.acceptance, 0.05);
}

TEST(Kernel, IndependenceIsReversible) {
  const auto s = one_step<Independence>(small_target(), IncrementShape::dense, 0);
  EXPECT_LT(s.worst_exchange, kBound);
  EXPECT_LT(s.worst_stationary, kBound);
  EXPECT_GT(s.acceptance, 0.02);
}

// Moves the last block of a step, which uses a fit that is unlike the target. beta is exp of the block's
// scale: half of the distance to the fit, and with the largest scale all of it.
template <class Proposal>
Statistics by_fit(IncrementShape shape, double log_beta, int rounds = 10) {
  const Target target = small_target();
  const auto blocks = plan_blocks(traits_of<Proposal>(), static_cast<ProposalShape>(shape), target);
  EXPECT_EQ(blocks.names.back(), "all[" + std::to_string(blocks.names.size() / 3 * 2 - 1) + "]");
  return one_step<Proposal>(target, shape, static_cast<int>(blocks.names.size()) - 1, Break::nothing, rounds,
                            log_beta);
}

TEST(Kernel, CrankNicolsonIsReversible) {
  for (auto shape : {IncrementShape::isotropic, IncrementShape::diagonal, IncrementShape::dense})
    for (const double log_beta : {-0.7, 0.0, 3.0}) {
      const auto s = by_fit<CrankNicolson>(shape, log_beta);
      EXPECT_LT(s.worst_exchange, kBound) << log_beta;
      EXPECT_LT(s.worst_stationary, kBound) << log_beta;
      EXPECT_GT(s.acceptance, 0.02) << log_beta;
    }
}

// Moves drawn together before the step are bitwise equal to those drawn one by one, and innovate() returns
// them.
TEST(Kernel, MovesDrawnAheadAreThoseDrawnOneByOne) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  for (const int n : {1, 2, 7, 8, 9, 30})
    for (const bool fitted : {false, true})
      for (int count = 1; count <= MovesByFit::kMovesTogether; ++count) {
        std::vector<double> dense(static_cast<std::size_t>(2 * n * n + n + 1));
        for (double& x : dense) x = normal(random);
        dense.back() = fitted ? 1 : 0;
        const AdaptedLayout layout{5, n, n * n, AdaptedLayout::fitted_size(n)};
        ProposalBlock block{};
        block.size = n;
        const int size = innovation_size(n, true), ld = size + 3;
        std::vector<double> z(static_cast<std::size_t>(n * MovesByFit::kMovesTogether)),
            together(static_cast<std::size_t>(count * ld), -7.0);
        InnovationView view{nullptr, dense.data(), layout, block, 5, IncrementShape::diagonal, {}, nullptr};
        const RandomSource source{11, 12, 13};
        MovesByFit::draw_ahead(HostTeam{}, source, view, count, z.data(), together.data(), ld);
        for (int c = 0; c < count; ++c) {
          view.block_index = 5 + c;
          view.drawn = nullptr;
          std::vector<double> alone(static_cast<std::size_t>(size), -7.0), handed_over(alone);
          const auto at = [n](std::vector<double>& x) {
            return Innovation{x.data(), x.data() + n, x.data() + 2 * n};
          };
          MovesByFit::innovate(HostTeam{}, source, view, at(alone));
          const double* drawn = together.data() + c * ld;
          EXPECT_EQ(std::vector<double>(drawn, drawn + size), alone) << n << " " << count << " " << c;
          view.drawn = drawn;
          MovesByFit::innovate(HostTeam{}, source, view, at(handed_over));
          EXPECT_EQ(handed_over, alone);
        }
      }
}

// The test makes many moves from one point. It compares mean and variance of the results in the coordinates
// of the fit, the density ratio of the t, and the stored coordinates of the candidate.
TEST(Kernel, CrankNicolsonMovesAsFarAsBetaSays) {
  constexpr int n = 6, num_draws = 20000;
  const std::vector<double> mean(n, 0.2);
  std::vector<double> u{0.3, -1, 2, 0.5, -0.2, 1};
  u.resize(whitened_point_size(n));
  std::vector<double> numbers(static_cast<std::size_t>(1 + n), 0.0), z(n), extra(kExtraInnovation),
      candidate(u.size());
  const AdaptedLayout layout{1, n, n * n, AdaptedLayout::fitted_size(n)};
  numbers[0] = std::log(0.6);
  Eigen::MatrixXd lower = Eigen::MatrixXd::Constant(n, n, 0.3).triangularView<Eigen::Lower>();
  std::vector<double> dense(static_cast<std::size_t>(2 * n * n + n + 1));
  Eigen::Map<Eigen::MatrixXd>(dense.data(), n, n) = lower;
  Eigen::Map<Eigen::MatrixXd>(dense.data() + n * n, n, n) = lower.inverse();
  std::copy(mean.begin(), mean.end(), dense.begin() + 2 * n * n);
  dense.back() = 1;
  ProposalBlock block{};
  block.size = n;
  const InnovationView adapted{numbers.data(),           dense.data(), layout, block, 0,
                               IncrementShape::diagonal, {},           nullptr};
  std::vector<double> increment(n);
  const Innovation innovation{increment.data(), z.data(), extra.data()};
  const Eigen::VectorXd phi = lower.inverse() * (Eigen::Map<const Eigen::VectorXd>(u.data(), n) -
                                                 Eigen::Map<const Eigen::VectorXd>(mean.data(), n));
  const double nu = 4, expected_length = 0.36 * (nu + phi.squaredNorm()) / (nu + n - 2);
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(n);
  double square = 0;
  for (int draw = 0; draw < num_draws; ++draw) {
    MovesByFit::innovate(HostTeam{}, RandomSource{5, static_cast<u64>(draw), 0}, adapted, innovation);
    const double log_ratio = MovesByFit::apply(
        HostTeam{},
        ProposalView{u.data(), candidate.data(), innovation, adapted, {}, nullptr, nullptr, nullptr});
    const Eigen::VectorXd there =
        lower.inverse() * (Eigen::Map<const Eigen::VectorXd>(candidate.data(), n).array() - 0.2).matrix();
    // The log ratio is that of the density of the t at the new and at the old point.
    EXPECT_NEAR(log_ratio,
                0.5 * (nu + n) * (std::log(nu + there.squaredNorm()) - std::log(nu + phi.squaredNorm())),
                1e-10);
    // The stored coordinates of the candidate in the fit have the same effect as newly computed ones.
    EXPECT_LT((Eigen::Map<const Eigen::VectorXd>(candidate.data() + n, n) - there).norm(), 1e-12);
    EXPECT_EQ(candidate.back(), draw + 1);
    std::vector<double> remembered(u.size()), anew(u.size()), forgotten(candidate);
    forgotten.back() = 0;
    const auto ratio_from = [&](const std::vector<double>& from, std::vector<double>& to) {
      return MovesByFit::apply(
          HostTeam{},
          ProposalView{from.data(), to.data(), innovation, adapted, {}, nullptr, nullptr, nullptr});
    };
    EXPECT_NEAR(ratio_from(candidate, remembered), ratio_from(forgotten, anew), 1e-11);
    EXPECT_NEAR(remembered[0], anew[0], 1e-12);
    // Newly computed coordinates are stored, and the next move from there is bitwise equal.
    std::vector<double> again(u.size());
    const ProposalView keeping{forgotten.data(), again.data(), innovation,          adapted, {}, nullptr,
                               nullptr,          nullptr,      forgotten.data() + n};
    MovesByFit::apply(HostTeam{}, keeping);
    EXPECT_EQ(forgotten.back(), draw + 1);
    EXPECT_LT((Eigen::Map<const Eigen::VectorXd>(forgotten.data() + n, n) - there).norm(), 1e-12);
    EXPECT_EQ(again, anew);
    ratio_from(forgotten, again);
    EXPECT_EQ(again, anew);
    sum += there;
    square += (there - 0.8 * phi).squaredNorm() / n;
  }
  // The expected values are 0.8 phi and 0.36 E[1 / lambda] for each element; the bound is 6 standard errors.
  const double error = 6 * std::sqrt(expected_length / num_draws);
  for (int i = 0; i < n; ++i) EXPECT_NEAR(sum[i] / num_draws, 0.8 * phi[i], error);
  EXPECT_NEAR(square / num_draws, expected_length, 6 * expected_length * std::sqrt(2.0 / num_draws));
}

// The two tries of a step together are reversible; the second try alone is not.
TEST(Kernel, DelayedRejectionIsReversible) {
  for (auto shape : {IncrementShape::isotropic, IncrementShape::diagonal, IncrementShape::dense}) {
    const auto s = one_step<DelayedRejection>(small_target(), shape, 0);
    EXPECT_LT(s.worst_exchange, kBound);
    EXPECT_LT(s.worst_stationary, kBound);
    EXPECT_GT(s.acceptance, 0.1);
    const auto far = one_step<DelayedRejectionBy<100>>(small_target(), shape, 0);
    EXPECT_LT(far.worst_exchange, kBound);
    EXPECT_LT(far.worst_stationary, kBound);
  }
}

// The chains of one half move by the states of the other half, which are also draws from the target. Each
// move is reversible given the other half, and a step of both halves leaves the target invariant for each
// chain.
TEST(Kernel, EnsembleMovesAreReversible) {
  const auto stretch = one_step<Stretch>(small_target(), IncrementShape::isotropic, 0);
  EXPECT_LT(stretch.worst_exchange, kBound);
  EXPECT_LT(stretch.worst_stationary, kBound);
  EXPECT_GT(stretch.acceptance, 0.1);
  const auto evolution = one_step<DifferentialEvolution>(small_target(), IncrementShape::isotropic, 0);
  EXPECT_LT(evolution.worst_exchange, kBound);
  EXPECT_LT(evolution.worst_stationary, kBound);
  EXPECT_GT(evolution.acceptance, 0.05);
}

// A tenth of the moves of differential evolution are snooker moves; here all moves are.
struct SnookerMove : DifferentialMove {
  template <class Team>
  static double apply(const Team& team, const ProposalView& view) {
    view.innovation.extra[3] = 0;
    return DifferentialMove::apply(team, view);
  }
};
struct Snooker : DifferentialEvolution {
  using Phases = Schedule<SnookerMove>;
};

// The cases have three components in one and in two columns, with unordered components, or with an order that
// the move has to restore.
template <class Proposal>
Statistics split_and_merge(int columns, const std::string& order, int rounds = 10) {
  PriorSet prior = mixture_prior();
  prior.order = order;
  const Target target(mixture_layout(3, columns), prior, std::vector<double>(2, 1.0));
  const auto blocks = plan_blocks(traits_of<Proposal>(), ProposalShape::isotropic, target);
  EXPECT_EQ(blocks.names.back(), "split_merge[2]");
  return one_step<Proposal>(target, IncrementShape::isotropic, static_cast<int>(blocks.names.size()) - 1,
                            Break::nothing, rounds);
}

TEST(Kernel, SplitAndMergeIsReversible) {
  for (const char* order : {"", "means", "scales"})
    for (const int columns : {1, 2}) {
      const auto s = split_and_merge<SplitMerge>(columns, order);
      EXPECT_LT(s.worst_exchange, kBound) << order << columns;
      EXPECT_LT(s.worst_stationary, kBound) << order << columns;
      EXPECT_GT(s.acceptance, 0.05) << order << columns;
    }
}

TEST(Kernel, SplitAndMergeNeedsThreeComponentsThatAreFree) {
  const std::vector<double> sd(2, 1.0);
  const auto plan = [](const Target& target) {
    return plan_blocks(traits_of<SplitMerge>(), ProposalShape::isotropic, target);
  };
  EXPECT_THROW(plan(small_target()), InputError);
  PriorSet fixed = mixture_prior();
  fixed.blocks["scales"] = {PriorFamily::fixed, {testing::number(1.0)}};
  EXPECT_THROW(plan(Target(mixture_layout(3, 2), fixed, sd)), InputError);
  ParameterLayout spherical = mixture_layout(3, 2);
  spherical.blocks[2].shape = {3};
  EXPECT_THROW(plan(Target(spherical, mixture_prior(), sd)), InputError);
}

TEST(Kernel, SnookerMovesAreReversible) {
  const auto s = one_step<Snooker>(small_target(), IncrementShape::isotropic, 0);
  EXPECT_LT(s.worst_exchange, kBound);
  EXPECT_LT(s.worst_stationary, kBound);
  EXPECT_GT(s.acceptance, 0.05);
}

// The log proposal density ratio is replaced by 0, which must be detected.
template <class P>
struct PhaseWithoutRatio : P {
  template <class Team>
  static double apply(const Team& team, const ProposalView& view) {
    P::apply(team, view);
    return 0.0;
  }
};
template <class... P>
Schedule<PhaseWithoutRatio<P>...> without_ratios(Schedule<P...>);
template <class Proposal>
struct WithoutRatio : Proposal {
  using Phases = decltype(without_ratios(typename Proposal::Phases{}));
};
template <class Proposal>
double worst_without_ratio(int rounds = 10) {
  const auto s =
      one_step<WithoutRatio<Proposal>>(small_target(), IncrementShape::dense, 0, Break::nothing, rounds);
  return std::max(s.worst_exchange, s.worst_stationary);
}
TEST(Kernel, MissingRatiosAreCaught) {
  EXPECT_GT(worst_without_ratio<Independence>(), 2 * kBound);
  EXPECT_GT(worst_without_ratio<Stretch>(), 2 * kBound);
  EXPECT_GT(worst_without_ratio<Snooker>(), 2 * kBound);
  const auto split = split_and_merge<WithoutRatio<SplitMerge>>(1, "");
  EXPECT_GT(std::max(split.worst_exchange, split.worst_stationary), 2 * kBound);
  const auto fit = by_fit<WithoutRatio<CrankNicolson>>(IncrementShape::diagonal, 0);
  EXPECT_GT(std::max(fit.worst_exchange, fit.worst_stationary), 2 * kBound);
  constexpr int kManyRounds = 200;
  // The acceptance of the second try depends on the first try, which matters if both go equally far.
  EXPECT_GT(worst_without_ratio<DelayedRejectionBy<100>>(kManyRounds), 2 * kBound);
  const auto wrong = one_step<DelayedRejectionBy<100>>(small_target(), IncrementShape::isotropic, 0,
                                                       Break::second_try, kManyRounds);
  EXPECT_GT(std::max(wrong.worst_exchange, wrong.worst_stationary), 2 * kBound);
}

TEST(Kernel, SecondTriesKnowThatTheFirstCouldHaveBeenTaken) {
  EXPECT_EQ(second_try_correction(-kInfinity, -3, -2), 0);
  EXPECT_EQ(second_try_correction(-1, -3, 0), -kInfinity);
  EXPECT_NEAR(second_try_correction(-4, -3, -2), std::log((1 - std::exp(-1)) / (1 - std::exp(-2))), 1e-15);
}

// A random number that decides twice, or that both proposes and decides, causes an error that may be too
// small for any test of distributions.
TEST(Kernel, EveryDecisionHasARandomNumberOfItsOwn) {
  StepView view{};
  view.seed = 8;
  std::set<double> numbers;
  std::size_t count = 0;
  const auto add = [&](double number) {
    numbers.insert(number);
    ++count;
  };
  for (u32 chain = 0; chain < 3; ++chain)
    for (i64 step = 0; step < 5; ++step)
      for (int block = 0; block < 7; ++block) {
        add(draw_log_uniform(view, chain, step, block));
        const RandomSource random{view.seed, static_cast<u64>(step), chain};
        for (const auto purpose : {Purpose::innovation, Purpose::choice, Purpose::second_stage})
          add(device::log(random.uniform(purpose, static_cast<u32>(block))));
      }
  EXPECT_EQ(numbers.size(), count);
}

TEST(Kernel, EveryBlockOfComponentWiseIsReversible) {
  const Target target = small_target();
  const int num_blocks = static_cast<int>(
      plan_blocks(traits_of<ComponentWise>(), ProposalShape::diagonal, target).blocks.size());
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
