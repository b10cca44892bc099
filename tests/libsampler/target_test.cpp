#include "emomc/sampler/target.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <numbers>

#include "emomc/core/errors.hpp"
#include "emomc/device/neighbour.hpp"
#include "mixture_target.hpp"

namespace emomc {
namespace {

using testing::mixture_layout;
using testing::mixture_prior;
using testing::number;
const std::vector<double> kUnitSd(16, 1.0);

ParameterLayout one_block(Support support, std::vector<int> shape = {}) {
  ParameterLayout layout;
  const DataUnit unit = support == Support::positive ? DataUnit::scale : DataUnit::none;
  layout.blocks.push_back({"x", std::move(shape), support, unit, Influence::everything, -1, -1});
  return layout;
}

Target one(Support support, PriorFamily family, const std::vector<double>& arguments, double floor = 0,
           std::vector<int> shape = {}) {
  PriorSet prior;
  PriorSpec spec{family, {}};
  for (double a : arguments) spec.arguments.push_back(number(a));
  prior.blocks["x"] = spec;
  prior.scale_floor = floor;
  return Target(one_block(support, std::move(shape)), prior, kUnitSd);
}

// Computes log |det d theta / d u| by central differences; in a simplex only all but the last element are
// independent.
double numerical_log_jacobian(const Target& target, std::vector<double> u, const std::vector<int>& rows) {
  const auto n = static_cast<Eigen::Index>(u.size());
  Eigen::MatrixXd jacobian(n, n);
  std::vector<double> up(static_cast<std::size_t>(target.dim())), down(up);
  for (Eigen::Index j = 0; j < n; ++j) {
    const auto at = static_cast<std::size_t>(j);
    const double h = 1e-5, keep = u[at];
    u[at] = keep + h;
    target.constrain(u, up);
    u[at] = keep - h;
    target.constrain(u, down);
    u[at] = keep;
    for (Eigen::Index i = 0; i < n; ++i) {
      const auto row = static_cast<std::size_t>(rows[static_cast<std::size_t>(i)]);
      jacobian(i, j) = (up[row] - down[row]) / (2 * h);
    }
  }
  return std::log(std::abs(jacobian.determinant()));
}

// The first lane of a GPU's team whose other lanes have no elements.
struct OneLane : device::HostTeam {
  static constexpr int size() { return device::kTeamLanes; }
  device::TwoSums sum_of_lanes(device::TwoSums own) const { return own; }
};

// The first point of a chain has no neighbour: the uninitialised memory of its terms must not be read.
TEST(Target, APointThatIsAllNewHasTheDensitiesThatItHasAlone) {
  for (const Target& target : {one(Support::unit_interval, PriorFamily::beta, {2, 3}),
                               one(Support::real, PriorFamily::normal, {0, 1}),
                               one(Support::positive, PriorFamily::half_normal, {1})}) {
    const double nan = std::numeric_limits<double>::quiet_NaN(), u = 0.7;
    device::PointTerms before{}, terms{};
    for (device::PointTerms* unwritten : {&before, &terms}) {
      for (device::TwoSums& lane : unwritten->lanes) lane = {nan, nan};
      unwritten->simplices = nan;
    }
    std::vector<double> expected_theta(1);
    const auto expected = target.constrain_with_prior({&u, 1}, expected_theta);
    // Kernels that begin in this way have the point itself, but not its terms.
    std::vector<double> theta = expected_theta;
    const device::Neighbour nothing{&u, theta.data(), &before, 0, target.dim()};
    const auto actual =
        device::constrain_neighbour(OneLane{}, target.table(), &u, theta.data(), nothing, terms);
    EXPECT_EQ(theta, expected_theta);
    EXPECT_EQ(actual.log_jacobian, expected.log_jacobian);
    EXPECT_EQ(actual.log_prior, expected.log_prior);
    EXPECT_EQ(terms.simplices, 0.0);
  }
}

TEST(Target, JacobiansAreThoseOfFiniteDifferences) {
  for (const char* order : {"", "means", "scales"})
    for (int K : {1, 2, 3, 5}) {
      PriorSet prior = mixture_prior();
      prior.order = order;
      const Target target(mixture_layout(K, 2), prior, kUnitSd);
      std::vector<double> u(static_cast<std::size_t>(target.dim_unconstrained()));
      for (std::size_t i = 0; i < u.size(); ++i) u[i] = std::sin(1.0 + 2.7 * static_cast<double>(i));
      std::vector<int> rows;
      for (int i = 0; i < target.dim(); ++i)
        if (i != K - 1) rows.push_back(i);
      std::vector<double> theta(static_cast<std::size_t>(target.dim()));
      EXPECT_NEAR(target.constrain(u, theta), numerical_log_jacobian(target, u, rows), 1e-7)
          << "K = " << K << ", order " << order;
    }
  const Target interval = one(Support::unit_interval, PriorFamily::beta, {2, 3});
  std::vector<double> theta(1);
  for (double x : {-30.0, -2.0, 0.0, 1.5, 30.0}) {
    const std::vector<double> u{x};
    EXPECT_NEAR(interval.constrain(u, theta), -std::abs(x) - 2 * std::log1p(std::exp(-std::abs(x))), 1e-12);
  }
  const std::vector<double> u{0.7};
  EXPECT_NEAR(interval.constrain(u, theta), numerical_log_jacobian(interval, u, {0}), 1e-8);
}

TEST(Target, UnconstrainInvertsConstrain) {
  for (const char* order : {"", "means", "scales"}) {
    PriorSet prior = mixture_prior();
    prior.order = order;
    const Target target(mixture_layout(4, 3), prior, kUnitSd);
    std::vector<double> u(static_cast<std::size_t>(target.dim_unconstrained())), back(u);
    for (std::size_t i = 0; i < u.size(); ++i) u[i] = 1.5 * std::cos(static_cast<double>(i) * 1.9);
    std::vector<double> theta(static_cast<std::size_t>(target.dim()));
    target.constrain(u, theta);
    target.unconstrain(theta, back);
    for (std::size_t i = 0; i < u.size(); ++i) EXPECT_NEAR(back[i], u[i], 1e-12) << i;
  }
}

TEST(Target, ConstrainedPointsLieInTheirSupport) {
  const Target target(mixture_layout(3, 2), mixture_prior(), kUnitSd);
  std::vector<double> u(static_cast<std::size_t>(target.dim_unconstrained()), -700.0);
  std::vector<double> theta(static_cast<std::size_t>(target.dim()));
  target.constrain(u, theta);
  EXPECT_NEAR(theta[0] + theta[1] + theta[2], 1.0, 1e-15);
  for (int i = 9; i < 15; ++i) EXPECT_GE(theta[static_cast<std::size_t>(i)], 0.05);  // scale_floor
}

TEST(Target, KnownPointsChangeNoBit) {
  const Target target(mixture_layout(3, 2), mixture_prior(), kUnitSd);
  std::vector<double> u(static_cast<std::size_t>(target.dim_unconstrained()), 0.3), moved(u);
  std::vector<double> theta(static_cast<std::size_t>(target.dim())), fresh(theta), reused(theta);
  target.constrain(u, theta);
  moved[9] = 0.4;
  const double a = device::constrain(device::HostTeam{}, target.table(), moved.data(), fresh.data());
  const double b = device::constrain(device::HostTeam{}, target.table(), moved.data(), reused.data(),
                                     {u.data(), theta.data()});
  EXPECT_EQ(a, b);
  EXPECT_EQ(fresh, reused);
}

// The values are those of scipy.stats, computed by data/make_priors.py.
TEST(Target, LogPriorsAreThoseOfScipy) {
  std::ifstream file(std::string(EMOMC_SOURCE_DIR) + "/tests/libsampler/data/priors.json");
  const auto cases = nlohmann::json::parse(file);
  ASSERT_GT(cases.size(), 40u);
  for (const auto& c : cases) {
    const std::string support = c["support"];
    const Target target = one(support == "real"       ? Support::real
                              : support == "positive" ? Support::positive
                                                      : Support::unit_interval,
                              family_from_name(c["family"]).value(), c["arguments"], c["floor"]);
    const double expected = c["log_density"];
    EXPECT_NEAR(target.log_prior(std::vector<double>{c["x"].get<double>()}), expected,
                1e-12 * std::max(1.0, std::abs(expected)))
        << c;
  }
  const Target uniform = one(Support::real, PriorFamily::uniform, {-1, 3});
  EXPECT_EQ(uniform.log_prior(std::vector<double>{3.5}), -std::numeric_limits<double>::infinity());
}

// The density of every family integrates to one over its support, also with a floor.
TEST(Target, TruncatedPriorsIntegrateToOne) {
  struct Case {
    Support support;
    PriorFamily family;
    std::vector<double> arguments;
    double floor;
  };
  const std::vector<Case> cases = {
      {Support::positive, PriorFamily::half_normal, {1.5}, 0.4},
      {Support::positive, PriorFamily::normal, {1, 0.7}, 0.4},
      {Support::positive, PriorFamily::lognormal, {-0.5, 1}, 0.4},
      {Support::positive, PriorFamily::exponential, {1.3}, 0.4},
      {Support::positive, PriorFamily::gamma, {2.5, 3}, 0.4},
      {Support::positive, PriorFamily::gamma, {0.7, 3}, 0},
      {Support::positive, PriorFamily::inverse_gamma, {3.5, 2}, 0.4},
      {Support::positive, PriorFamily::inverse_gamma, {2.5, 0.3}, 0},
      {Support::positive, PriorFamily::student_t, {5, -0.5, 0.6}, 0.4},
      {Support::positive, PriorFamily::uniform, {0.1, 3}, 0.4},
      {Support::positive, PriorFamily::half_normal, {1.5}, 0},
      {Support::unit_interval, PriorFamily::beta, {2.5, 1.5}, 0},
      {Support::positive, PriorFamily::cauchy, {0, 1}, 0.4},
      // The mean is far below the floor.
      {Support::positive, PriorFamily::normal, {-3, 1}, 0.4},
      {Support::positive, PriorFamily::lognormal, {-3, 0.7}, 0.4},
      {Support::positive, PriorFamily::exponential, {6}, 0.4},
  };
  for (const auto& c : cases) {
    const Target target = one(c.support, c.family, c.arguments, c.floor);
    // The integral is over u, which includes the Jacobian. The trapezium rule is exact enough for these
    // densities.
    double integral = 0, below = 0;  // below x = 0.9
    std::vector<double> theta(1);
    const double h = 0.002, edge = c.family == PriorFamily::cauchy ? 40 : 25;
    for (int i = 0; i * h <= 2 * edge; ++i) {
      const double x = -edge + i * h;
      const double jacobian = target.constrain(std::vector<double>{x}, theta);
      const double prior = target.log_prior(theta);
      if (!std::isfinite(prior)) continue;
      integral += h * std::exp(prior + jacobian);
      if (theta[0] < 0.9) below += h * std::exp(prior + jacobian);
    }
    // The share of draws from the prior, which are used as starts, is outside 5.5 standard errors for 4e-8 of
    // all seeds.
    constexpr int kDraws = 20000;
    int drawn_below = 0;
    for (int i = 0; i < kDraws; ++i)
      drawn_below += target.draw_from_prior(11, static_cast<std::uint32_t>(i), 0)[0] < 0.9;
    EXPECT_NEAR(drawn_below / static_cast<double>(kDraws), below,
                5.5 * std::sqrt(below * (1 - below) / kDraws) + h)
        << family_name(c.family) << " " << c.floor;
    EXPECT_NEAR(integral, 1.0, c.family == PriorFamily::uniform ? 2e-3 : 1e-6)
        << family_name(c.family) << " " << c.floor;
  }
}

TEST(Target, DirichletAndOrderAreNormalised) {
  PriorSet prior = mixture_prior();
  const Target plain(mixture_layout(3, 1), prior, kUnitSd);
  prior.order = "means";
  const Target ordered(mixture_layout(3, 1), prior, kUnitSd);
  std::vector<double> theta{0.2, 0.5, 0.3, -1, 0, 2, 1, 1, 1};
  EXPECT_NEAR(ordered.log_prior(theta) - plain.log_prior(theta), std::log(6.0), 1e-12);
  // The density of Dirichlet(2, 2, 2) is Gamma(6) w1 w2 w3; the other densities follow from their own
  // formulas.
  double expected = std::log(120 * 0.2 * 0.5 * 0.3);
  for (double m : {-1.0, 0.0, 2.0})
    expected += -0.5 * std::pow((m - 0.5) / 2, 2) - std::log(2.0) - 0.5 * std::log(2 * std::numbers::pi);
  for (int i = 0; i < 3; ++i)
    expected += -0.5 / 2.25 - std::log(1.5) - 0.5 * std::log(2 * std::numbers::pi) -
                std::log(0.5 * std::erfc(0.05 / 1.5 / std::numbers::sqrt2));
  EXPECT_NEAR(plain.log_prior(theta), expected, 1e-12);
  std::swap(theta[3], theta[5]);
  EXPECT_EQ(ordered.log_prior(theta), -std::numeric_limits<double>::infinity());
  prior.order = "scales";
  const Target by_scale(mixture_layout(3, 1), prior, kUnitSd);
  EXPECT_EQ(by_scale.log_prior(theta), -std::numeric_limits<double>::infinity());
  theta[7] = 1.1, theta[8] = 1.2;
  EXPECT_NEAR(by_scale.log_prior(theta) - plain.log_prior(theta), std::log(6.0), 1e-12);
}

TEST(Target, AnOrderNeedsComponentsThatThePriorDoesNotTellApart) {
  PriorSet prior = mixture_prior();
  prior.order = "means";
  prior.blocks["means"] = {PriorFamily::normal, {{{2}, {1, 10}}, number(1)}};
  EXPECT_NO_THROW(Target(mixture_layout(3, 2), prior, kUnitSd));  // one number for each column
  prior.blocks["means"] = {PriorFamily::normal, {{{3}, {1, 2, 4}}, number(1)}};
  EXPECT_THROW(Target(mixture_layout(3, 2), prior, kUnitSd), InputError);
  prior = mixture_prior();
  prior.order = "means";
  prior.blocks["scales"] = {PriorFamily::fixed, {{{3}, {1, 2, 4}}}};
  EXPECT_THROW(Target(mixture_layout(3, 2), prior, kUnitSd), InputError);
  prior = mixture_prior();
  prior.order = "weights";
  EXPECT_THROW(Target(mixture_layout(3, 2), prior, kUnitSd), InputError);
}

TEST(Target, SaysWhetherItsComponentsAreExchangeable) {
  const auto exchangeable = [](const PriorSet& prior) {
    return Target(mixture_layout(3, 2), prior, kUnitSd).components_are_exchangeable();
  };
  const auto with = [](const std::string& block, const PriorSpec& spec) {
    PriorSet prior = mixture_prior();
    prior.blocks[block] = spec;
    return prior;
  };
  EXPECT_TRUE(exchangeable(mixture_prior()));
  // The argument has one number for each column.
  EXPECT_TRUE(exchangeable(with("means", {PriorFamily::normal, {{{2}, {1, 10}}, number(1)}})));
  EXPECT_FALSE(exchangeable(with("means", {PriorFamily::normal, {{{3}, {1, 2, 4}}, number(1)}})));
  EXPECT_FALSE(exchangeable(with("scales", {PriorFamily::fixed, {{{3}, {1, 2, 4}}}})));
  EXPECT_FALSE(exchangeable(with("weights", {PriorFamily::dirichlet, {{{3}, {1, 1, 2}}}})));
  EXPECT_FALSE(exchangeable(with("weights", {PriorFamily::fixed, {{{3}, {0.5, 0.25, 0.25}}}})));
  PriorSet ordered = mixture_prior();
  ordered.order = "means";
  EXPECT_FALSE(exchangeable(ordered));
  // The parameter is the share of the first of two components.
  const auto symmetric = [](PriorFamily family, double a, double b) {
    return one(Support::unit_interval, family, {a, b}).components_are_exchangeable();
  };
  EXPECT_TRUE(symmetric(PriorFamily::beta, 5, 5));
  EXPECT_FALSE(symmetric(PriorFamily::beta, 5, 4));
  EXPECT_TRUE(symmetric(PriorFamily::uniform, 0.25, 0.75));
  EXPECT_FALSE(symmetric(PriorFamily::uniform, 0.25, 0.5));
}

TEST(Target, DrawsFromAnOrderedPriorAreOrdered) {
  PriorSet prior = mixture_prior();
  for (const char* order : {"means", "scales"}) {
    prior.order = order;
    const Target target(mixture_layout(3, 2), prior, kUnitSd);
    for (std::uint32_t chain = 0; chain < 50; ++chain)
      EXPECT_TRUE(std::isfinite(target.log_prior(target.draw_from_prior(7, chain, 0)))) << order;
  }
}

TEST(Target, ArgumentsAreBroadcastPerColumnAndComponent) {
  PriorSet prior = mixture_prior();
  prior.blocks["means"] = {PriorFamily::normal, {{{2}, {1, 10}}, {{3}, {1, 2, 4}}}};
  const Target target(mixture_layout(3, 2), prior, kUnitSd);
  const auto& e = target.tables().elements;
  EXPECT_EQ(e[3].a, 1);
  EXPECT_EQ(e[4].a, 10);
  EXPECT_EQ(e[3].b, 1);
  EXPECT_EQ(e[8].b, 0.25);
  prior.blocks["means"] = {PriorFamily::normal, {{{4}, {1, 2, 3, 4}}, number(1)}};
  EXPECT_THROW(Target(mixture_layout(3, 2), prior, kUnitSd), InputError);
}

TEST(Target, FixedBlocksHaveNoFreeParameter) {
  PriorSet prior = mixture_prior();
  prior.blocks["scales"] = {PriorFamily::fixed, {number(0.7)}};
  const Target target(mixture_layout(1, 3), prior, kUnitSd);
  EXPECT_EQ(target.dim_unconstrained(), 3);
  std::vector<double> theta(7);
  target.constrain(std::vector<double>{1, 2, 3}, theta);
  EXPECT_EQ(theta, (std::vector<double>{1, 1, 2, 3, 0.7, 0.7, 0.7}));
  prior.blocks["scales"] = {PriorFamily::fixed, {number(-1)}};
  EXPECT_THROW(Target(mixture_layout(1, 3), prior, kUnitSd), InputError);
}

TEST(Target, UnconstrainNamesWhatIsOutside) {
  const Target target(mixture_layout(2, 1), mixture_prior(), kUnitSd);
  std::vector<double> u(5);
  try {
    target.unconstrain(std::vector<double>{0.5, 0.5, 0, 0, 1, -1}, u);
    FAIL() << "a negative scale was accepted";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("scales[1,0]"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace emomc
