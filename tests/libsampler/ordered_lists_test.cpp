// Tests lists in an order (PriorSet::list_orders): the transform, the density, starts, and the distribution
// that every proposal samples, which is that of the order statistics of the prior.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "emomc/core/errors.hpp"
#include "emomc/likelihood/engines.hpp"
#include "emomc/likelihood/expression.hpp"
#include "emomc/sampler/diagnostics.hpp"
#include "emomc/sampler/target.hpp"
#include "keeper.hpp"
#include "mixture_target.hpp"

namespace emomc {
namespace {

PriorSpec prior_of(PriorFamily family, const std::vector<double>& arguments) {
  PriorSpec prior{family, {}};
  for (double argument : arguments) prior.arguments.push_back({{}, {argument}});
  return prior;
}

struct Case {
  Support support;
  PriorFamily family;
  std::vector<double> arguments;
  ListOrder order;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {Support::real, PriorFamily::normal, {0.5, 2}, ListOrder::increasing},
      {Support::real, PriorFamily::student_t, {3, 0, 1}, ListOrder::decreasing},
      {Support::positive, PriorFamily::gamma, {2, 1.5}, ListOrder::increasing},
      {Support::positive, PriorFamily::half_normal, {2}, ListOrder::decreasing},
      {Support::unit_interval, PriorFamily::beta, {2, 3}, ListOrder::increasing},
      {Support::unit_interval, PriorFamily::uniform, {0, 1}, ListOrder::decreasing},
  };
  return all;
}

/// Returns a target of a number and a list of four behind it, so that the list does not begin at 0.
Target target_of(const Case& c, ListOrder order) {
  ParameterLayout layout;
  layout.blocks.push_back({"first", {}, Support::real, DataUnit::none, Influence::everything, -1, -1});
  layout.blocks.push_back({"x", {4}, c.support, DataUnit::none, Influence::everything, -1, -1});
  PriorSet prior;
  prior.scale_floor = 0;
  prior.blocks = {{"first", prior_of(PriorFamily::normal, {0, 1})}, {"x", prior_of(c.family, c.arguments)}};
  if (order != ListOrder::none) prior.list_orders["x"] = order;
  return Target(layout, prior, std::span<const double>());
}

bool is_in_order(std::span<const double> x, ListOrder order) {
  for (std::size_t i = 1; i < x.size(); ++i)
    if (order == ListOrder::increasing ? !(x[i] > x[i - 1]) : !(x[i] < x[i - 1])) return false;
  return true;
}

TEST(OrderedLists, TransformsAreInvertedAndHaveTheirJacobian) {
  for (const Case& c : cases()) {
    const Target target = target_of(c, c.order);
    std::vector<double> u{0.3, -0.4, 0.7, -1.1, 0.2}, theta(5), back(5);
    const double log_jacobian = target.constrain(u, theta);
    EXPECT_EQ(theta[0], u[0]);
    EXPECT_TRUE(is_in_order(std::span(theta).subspan(1), c.order));
    const std::vector<double> list(theta.begin() + 1, theta.end());
    const bool is_above_0 = *std::min_element(list.begin(), list.end()) > 0,
               is_below_1 = *std::max_element(list.begin(), list.end()) < 1;
    EXPECT_TRUE(is_above_0 || c.support == Support::real);
    EXPECT_TRUE(is_below_1 || c.support != Support::unit_interval);
    target.unconstrain(theta, back);
    for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(back[i], u[i], 1e-11) << i;
    Eigen::MatrixXd jacobian(5, 5);
    std::vector<double> up(5), down(5);
    for (Eigen::Index j = 0; j < 5; ++j) {
      constexpr double kStep = 1e-5;
      std::vector<double> moved = u;
      moved[static_cast<std::size_t>(j)] += kStep;
      target.constrain(moved, up);
      moved[static_cast<std::size_t>(j)] -= 2 * kStep;
      target.constrain(moved, down);
      for (Eigen::Index i = 0; i < 5; ++i)
        jacobian(i, j) = (up[static_cast<std::size_t>(i)] - down[static_cast<std::size_t>(i)]) / (2 * kStep);
    }
    EXPECT_NEAR(log_jacobian, std::log(std::abs(jacobian.determinant())), 1e-8);
  }
}

TEST(OrderedLists, ThePriorIsNormalisedOnTheOrderedValues) {
  for (const Case& c : cases()) {
    const Target plain = target_of(c, ListOrder::none), ordered = target_of(c, c.order);
    std::vector<double> theta{0.1, 0.2, 0.3, 0.5, 0.6};
    if (c.order == ListOrder::decreasing) std::reverse(theta.begin() + 1, theta.end());
    EXPECT_NEAR(ordered.log_prior(theta) - plain.log_prior(theta), std::log(24.0), 1e-12);
    std::vector<double> u(5);
    ordered.unconstrain(theta, u);
    EXPECT_NEAR(ordered.constrain_with_prior(u, theta).log_prior, plain.log_prior(theta) + std::log(24.0),
                1e-10);
    std::swap(theta[2], theta[3]);
    EXPECT_EQ(ordered.log_prior(theta), -std::numeric_limits<double>::infinity());
    EXPECT_THROW(ordered.unconstrain(theta, u), InputError);
    EXPECT_FALSE(ordered.is_like(plain));
  }
}

TEST(OrderedLists, StartsAreInOrder) {
  for (const Case& c : cases()) {
    const Target target = target_of(c, c.order), plain = target_of(c, ListOrder::none);
    std::vector<double> theta = target.draw_from_prior(1, 0, 0), same = plain.draw_from_prior(1, 0, 0);
    EXPECT_TRUE(is_in_order(std::span(theta).subspan(1), c.order));
    std::sort(theta.begin() + 1, theta.end());
    std::sort(same.begin() + 1, same.end());
    EXPECT_EQ(theta, same);
    // The values are outside the support, or equal, in which case move_inside must separate them.
    for (std::vector<double> moved :
         {std::vector<double>{0, -2, 0.3, -2, 7}, {0, 5, 5, 5, 5}, {0, 0, 0, 0, 0}}) {
      target.move_inside(moved);
      std::vector<double> u(5);
      EXPECT_TRUE(is_in_order(std::span(moved).subspan(1), c.order));
      EXPECT_NO_THROW(target.unconstrain(moved, u));
    }
  }
}

TEST(OrderedLists, NeedOnePriorForAllValuesAndFixedOnesInOrder) {
  const auto make = [](const PriorSpec& spec, Support support = Support::real, std::vector<int> shape = {3}) {
    ParameterLayout layout;
    layout.blocks.push_back({"x", std::move(shape), support, DataUnit::none, Influence::everything, -1, -1});
    layout.blocks.push_back({"y", {}, Support::real, DataUnit::none, Influence::everything, -1, -1});
    PriorSet prior;
    prior.blocks = {{"x", spec}, {"y", prior_of(PriorFamily::normal, {0, 1})}};
    prior.list_orders["x"] = ListOrder::increasing;
    return Target(layout, prior, std::span<const double>());
  };
  PriorSpec unlike = prior_of(PriorFamily::normal, {0, 1});
  unlike.arguments[0] = {{3}, {0, 0, 1}};
  EXPECT_THROW(make(unlike), InputError);
  unlike.arguments[0] = {{3}, {1, 1, 1}};
  EXPECT_NO_THROW(make(unlike));
  EXPECT_NO_THROW(make({PriorFamily::fixed, {{{3}, {1, 2, 3}}}}));
  EXPECT_THROW(make({PriorFamily::fixed, {{{3}, {1, 3, 2}}}}), InputError);
  EXPECT_THROW(make({PriorFamily::fixed, {{{}, {1}}}}), InputError);
  EXPECT_THROW(make(prior_of(PriorFamily::normal, {0, 1}), Support::real, {}), InputError);
  EXPECT_THROW(make(prior_of(PriorFamily::dirichlet, {1}), Support::simplex), InputError);
}

/// The mean and mean square of each of three values, in increasing order.
struct Expected {
  Support support;
  PriorFamily family;
  std::vector<double> arguments;
  std::vector<double> mean, square;
};

// The order statistics of three values are known. Normal: David and Nagaraja 2003, table of means and
// variances (mean of the largest 3 / (2 sqrt(pi)), variances 0.5594672 and 0.4486711). Exponential: sums of
// independent exponentials of rates 3, 2 and 1. Uniform: Beta(k, 4 - k).
const std::vector<Expected>& expected() {
  constexpr double kLargest = 0.8462843753216345;
  static const std::vector<Expected> all{
      {Support::real,
       PriorFamily::normal,
       {0, 1},
       {-kLargest, 0, kLargest},
       {0.5594672 + kLargest * kLargest, 0.4486711, 0.5594672 + kLargest * kLargest}},
      {Support::positive,
       PriorFamily::exponential,
       {1},
       {1 / 3.0, 5 / 6.0, 11 / 6.0},
       {2 / 9.0, 13 / 36.0 + 25 / 36.0, 49 / 36.0 + 121 / 36.0}},
      {Support::unit_interval, PriorFamily::uniform, {0, 1}, {0.25, 0.5, 0.75}, {0.1, 0.3, 0.6}},
  };
  return all;
}

// There are 9 values x 2 moments x 2 orders x 8 proposals = 288 comparisons of 5 standard errors, which gives
// a false alarm in 2e-4 of all seeds; the seed is fixed.
TEST(OrderedLists, EveryProposalSamplesTheOrderStatistics) {
  constexpr std::size_t kChains = 20, kDraws = 4000;
  for (const ListOrder order : {ListOrder::increasing, ListOrder::decreasing}) {
    ExpressionSpec spec;
    PriorSet prior;
    prior.scale_floor = 0;
    const char* names[] = {"a", "b", "c"};
    for (std::size_t k = 0; k < 3; ++k) {
      spec.parameters.push_back({names[k], "", expected()[k].support, {3}, order});
      prior.blocks[names[k]] = prior_of(expected()[k].family, expected()[k].arguments);
      prior.list_orders[names[k]] = order;
    }
    spec.log_density = {"", "x * (a[0] + b[0] + c[0])"};  // for rows with x = 0
    const Expression expression(spec, {"x"});
    const std::vector<double> rows{0.0};
    const Expression::Bound bound = expression.bind(Backend::reference, rows);
    const Target target(expression.layout(), prior, std::span<const double>());
    for (const std::string& kind : proposal_names()) {
      if (kind == "split_merge") continue;  // for mixtures
      const auto device = make_device(Backend::reference);
      const auto engine =
          make_engine(Backend::reference, bound.model, Precision::float64, bound.data, *device);
      if (!testing::runs_on(*engine, kind)) continue;
      std::vector<ChainPlan> plans;
      std::vector<double> starts;
      for (std::uint32_t c = 0; c < kChains; ++c) {
        plans.push_back({c, {0}, 1.0, 0});
        const std::vector<double> start = target.draw_from_prior(7, c, 0);
        starts.insert(starts.end(), start.begin(), start.end());
      }
      RunOptions options;
      options.warmup = 2000;
      options.draws = kDraws;
      options.thin = 5;
      options.seed = 20261126;
      testing::Keeper keeper;
      run_chains(*engine, target, {kind, ProposalShape::dense}, plans, options, starts, keeper);
      std::vector<double> values(kChains * kDraws);
      const bool is_ensemble = kind == "stretch" || kind == "differential_evolution";
      for (std::size_t k = 0; k < 3; ++k)
        for (std::size_t i = 0; i < 3; ++i)
          for (int power : {1, 2}) {
            for (std::size_t d = 0; d < values.size(); ++d)
              values[d] = std::pow(keeper.theta[d * 9 + k * 3 + i], power);
            const DrawsView view{values.data(), kDraws, kChains, kChains, 1, is_ensemble ? kChains : 1, 1};
            const std::size_t rank = order == ListOrder::increasing ? i : 2 - i;
            const double exact = (power == 1 ? expected()[k].mean : expected()[k].square)[rank];
            EXPECT_NEAR(draws_mean(view), exact, 5 * mcse_mean(view))
                << kind << " " << names[k] << i << "^" << power;
            EXPECT_LT(mcse_mean(view), 0.12) << kind;
          }
    }
  }
}

}  // namespace
}  // namespace emomc
