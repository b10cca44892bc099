// Tests the gradient of the density of u (device/gradient.hpp): compares it with JAX and with differences,
// and tests it at edges.
#include "emomc/device/gradient.hpp"

#include <gtest/gtest.h>

#include <barrier>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "emomc/sampler/target.hpp"

namespace emomc {
namespace {

using Json = nlohmann::json;

struct Case {
  Target target;
  std::vector<double> likelihood;  ///< gradient of a likelihood that is linear in theta
  double beta;
  std::vector<double> u, gradient;
  std::string name;
};

void append_numbers(const Json& value, std::vector<double>& to) {
  if (value.is_array())
    for (const Json& element : value) append_numbers(element, to);
  else
    to.push_back(value);
}

ArrayArgument argument_of(const Json& value) {
  ArrayArgument argument;
  if (value.is_string()) {
    argument.is_sampled = true;
    return argument;
  }
  for (const Json* level = &value; level->is_array(); level = &level->at(0))
    argument.shape.push_back(static_cast<int>(level->size()));
  append_numbers(value, argument.values);
  return argument;
}

Support support_of(const std::string& name) {
  return name == "real"            ? Support::real
         : name == "positive"      ? Support::positive
         : name == "unit_interval" ? Support::unit_interval
         : name == "simplex"       ? Support::simplex
                                   : Support::covariance;
}

Target target_of(const Json& c) {
  ParameterLayout layout;
  for (const Json& b : c["blocks"]) {
    ParameterBlock block;
    block.name = b["name"];
    block.shape = b["shape"].get<std::vector<int>>();
    block.support = support_of(b["support"]);
    block.unit = b.contains("is_scale") ? DataUnit::scale : DataUnit::none;
    block.component_axis = b.value("component_axis", -1);
    if (b.contains("has_columns")) block.feature_axis = static_cast<int>(block.shape.size()) - 1;
    layout.blocks.push_back(block);
  }
  PriorSet prior;
  for (const auto& [name, spec] : c["priors"].items()) {
    PriorSpec& to = prior.blocks[name];
    to.family = family_from_name(spec["family"]).value();
    for (const Json& value : spec["arguments"]) to.arguments.push_back(argument_of(value));
  }
  prior.scale_floor = c["floor"];
  prior.order = c["order"];
  for (const auto& [name, order] : c["lists"].items())
    prior.list_orders[name] = order == "increasing" ? ListOrder::increasing : ListOrder::decreasing;
  return Target(layout, prior, std::vector<double>(8, 1.0));
}

/// Returns the cases of data/make_gradients.py: all priors, transforms and sampled arguments.
const std::vector<Case>& cases() {
  static const std::vector<Case> all = [] {
    std::ifstream file(EMOMC_SOURCE_DIR "/tests/libsampler/data/gradients.json");
    std::vector<Case> result;
    Json file_cases = Json::parse(file);
    for (Json& c : file_cases) {
      Case one{target_of(c), c["likelihood"], c["beta"], c["u"], c["gradient"], ""};
      for (const char* key : {"u", "gradient", "likelihood"}) c.erase(key);
      one.name = c.dump();
      result.push_back(std::move(one));
    }
    return result;
  }();
  return all;
}

std::vector<double> theta_of(const Target& target, const std::vector<double>& u) {
  std::vector<double> theta(static_cast<std::size_t>(target.dim()));
  target.constrain(u, theta);
  return theta;
}

std::vector<double> gradient_at(const Case& c, const std::vector<double>& u) {
  std::vector<double> gradient(u.size(), std::numeric_limits<double>::quiet_NaN());
  c.target.gradient(u, theta_of(c.target, u), c.likelihood, c.beta, gradient);
  return gradient;
}

double log_density_at(const Case& c, const std::vector<double>& u) {
  std::vector<double> theta(static_cast<std::size_t>(c.target.dim()));
  const auto densities = c.target.constrain_with_prior(u, theta);
  double likelihood = 0;
  for (std::size_t i = 0; i < c.likelihood.size(); ++i) likelihood += c.likelihood[i] * theta[i];
  return c.beta * likelihood + densities.log_prior + densities.log_jacobian;
}

TEST(Gradient, IsThatOfJax) {
  ASSERT_GT(cases().size(), 90u);
  for (const Case& c : cases()) {
    ASSERT_EQ(c.u.size(), static_cast<std::size_t>(c.target.dim_unconstrained())) << c.name;
    const std::vector<double> gradient = gradient_at(c, c.u);
    for (std::size_t i = 0; i < c.u.size(); ++i)
      EXPECT_NEAR(gradient[i], c.gradient[i], 1e-9 * std::max(1.0, std::abs(c.gradient[i])))
          << i << " of " << c.name;
  }
}

// Compares with central differences with one step of Richardson's extrapolation, at h and h / 2. The error is
// h^4 / 480 times the fifth derivative, and the density's rounding divided by h.
void expect_differences(const Case& c, const std::vector<double>& u) {
  const std::vector<double> gradient = gradient_at(c, u);
  const double rounding = std::abs(log_density_at(c, u));
  for (std::size_t i = 0; i < u.size(); ++i) {
    const auto slope = [&](double h) {
      std::vector<double> moved = u;
      moved[i] = u[i] + h;
      const double up = log_density_at(c, moved);
      moved[i] = u[i] - h;
      return (up - log_density_at(c, moved)) / (2 * h);
    };
    constexpr double kStep = 2e-3;
    const double expected = (4 * slope(kStep / 2) - slope(kStep)) / 3;
    EXPECT_NEAR(gradient[i], expected, 1e-7 * (1 + std::abs(expected)) + 1e-11 * rounding)
        << i << " of " << c.name;
  }
}

std::vector<double> normal_numbers(std::size_t n, double sd, std::mt19937_64& random) {
  std::normal_distribution<double> normal(0, sd);
  std::vector<double> u(n);
  for (double& x : u) x = normal(random);
  return u;
}

TEST(Gradient, IsThatOfDifferences) {
  std::mt19937_64 random(5);
  for (const Case& c : cases())
    for (const double sd : {0.5, 1.5}) expect_differences(c, normal_numbers(c.u.size(), sd, random));
}

// Each list begins where the previous one ends.
TEST(Gradient, OfNeighbouringListsIsThatOfDifferences) {
  std::mt19937_64 random(6);
  for (const Support support : {Support::real, Support::positive, Support::unit_interval}) {
    ParameterLayout layout;
    PriorSet prior;
    prior.scale_floor = 0;
    const auto add = [&](const std::string& name, int size, ListOrder order) {
      layout.blocks.push_back({name, {size}, support, DataUnit::none, Influence::everything, -1, -1});
      const bool is_interval = support == Support::unit_interval;
      prior.blocks[name] = {is_interval ? PriorFamily::beta : PriorFamily::normal,
                            {{{}, {is_interval ? 2.0 : 0.3}}, {{}, {1.5}}}};
      prior.list_orders[name] = order;
    };
    add("a", 4, ListOrder::increasing);
    add("b", 3, ListOrder::increasing);
    add("c", 5, ListOrder::decreasing);
    add("d", 6, ListOrder::decreasing);
    add("e", 1, ListOrder::increasing);
    add("f", 2, ListOrder::increasing);
    Case c{Target(layout, prior, std::span<const double>()), normal_numbers(21, 2, random), 0.6, {}, {}, ""};
    for (int i = 0; i < 5; ++i) expect_differences(c, normal_numbers(21, 1, random));
  }
}

// A team of threads.
struct ThreadTeam : device::HostTeam {
  int members, member;
  std::barrier<>* barrier;
  int size() const { return members; }
  int rank() const { return member; }
  void sync() const { barrier->arrive_and_wait(); }
};

TEST(Gradient, ItsBitsDoNotDependOnTheTeam) {
  for (const Case& c : cases()) {
    const std::vector<double> theta = theta_of(c.target, c.u), expected = gradient_at(c, c.u);
    const device::ParameterTable table = c.target.table();
    constexpr int kMembers = 3;
    std::vector<double> gradient(c.u.size());
    std::vector<double> scratch(static_cast<std::size_t>(device::gradient_scratch(table)));
    std::barrier<> barrier(kMembers);
    std::vector<std::jthread> threads;
    for (int member = 0; member < kMembers; ++member)
      threads.emplace_back([&, member] {
        device::gradient_of_density(ThreadTeam{{}, kMembers, member, &barrier}, table, c.u.data(),
                                    theta.data(), c.likelihood.data(), c.beta, scratch.data(),
                                    gradient.data());
      });
    threads.clear();
    EXPECT_EQ(gradient, expected) << c.name;
  }
}

TEST(Gradient, WithoutALikelihoodItIsThePriors) {
  for (const Case& c : cases()) {
    const std::vector<double> theta = theta_of(c.target, c.u), nothing(c.likelihood.size(), 0.0);
    std::vector<double> prior(c.u.size()), expected(c.u.size());
    c.target.gradient(c.u, theta, {}, c.beta, prior);
    c.target.gradient(c.u, theta, nothing, c.beta, expected);
    EXPECT_EQ(prior, expected) << c.name;
  }
}

Target one_block(Support support, std::vector<int> shape, PriorFamily family,
                 const std::vector<double>& arguments, double floor, ListOrder order = ListOrder::none) {
  ParameterLayout layout;
  layout.blocks.push_back({"x", std::move(shape), support, DataUnit::scale, Influence::everything, -1, -1});
  PriorSet prior;
  prior.blocks["x"].family = family;
  for (double a : arguments) prior.blocks["x"].arguments.push_back({{}, {a}});
  prior.scale_floor = floor;
  if (order != ListOrder::none) prior.list_orders["x"] = order;
  return Target(layout, prior, std::vector<double>(1, 1.0));
}

std::vector<double> prior_gradient(const Target& target, const std::vector<double>& u,
                                   const std::vector<double>& likelihood = {}) {
  std::vector<double> gradient(u.size());
  target.gradient(u, theta_of(target, u), likelihood, 1, gradient);
  return gradient;
}

// The values have underflowed or are next to the end of their support; the exact limits are computed by hand.
TEST(Gradient, IsFiniteAtTheEdgeOfTheSupport) {
  // For a Dirichlet prior of K weights, the coordinates V u have slopes alpha - alpha K w.
  const Target weights = one_block(Support::simplex, {3}, PriorFamily::dirichlet, {0.02}, 0);
  for (const double size : {800.0, 40000.0}) {
    const std::vector<double> gradient = prior_gradient(weights, {size, size}, {3, 1e300, 2});
    // The coordinates are size (1/sqrt 2 + 1/sqrt 6, -1/sqrt 2 + 1/sqrt 6, -2/sqrt 6): w = (1, 0, 0).
    const std::vector<double> slopes{0.02 - 0.06, 0.02, 0.02};
    EXPECT_NEAR(gradient[0], (slopes[0] - slopes[1]) / std::sqrt(2.0), 2e-15);
    EXPECT_NEAR(gradient[1], (slopes[0] + slopes[1] - 2 * slopes[2]) / std::sqrt(6.0), 2e-15);
  }
  const Target fraction = one_block(Support::unit_interval, {}, PriorFamily::beta, {0.02, 0.3}, 0);
  EXPECT_NEAR(prior_gradient(fraction, {-900}, {5})[0], 0.02, 1e-16);
  EXPECT_NEAR(prior_gradient(fraction, {900}, {5})[0], -0.3, 1e-16);
  EXPECT_NEAR(prior_gradient(fraction, {45}, {5})[0], -0.3, 1e-15);
  const Target fractions =
      one_block(Support::unit_interval, {2}, PriorFamily::beta, {0.02, 0.3}, 0, ListOrder::decreasing);
  const std::vector<double> ordered = prior_gradient(fractions, {1, -900});
  EXPECT_NEAR(ordered[1], 0.04, 1e-15);
  EXPECT_NEAR(ordered[0], std::exp(1.0) * 0.02 + 1, 1e-15);
  for (const double u : {-700.0, -720.0, -5000.0}) {
    EXPECT_NEAR(
        prior_gradient(one_block(Support::positive, {}, PriorFamily::gamma, {0.3, 2}, 0), {u}, {7})[0], 0.3,
        1e-15);
    EXPECT_NEAR(
        prior_gradient(one_block(Support::positive, {}, PriorFamily::half_normal, {1}, 0), {u}, {7})[0], 1,
        1e-15);
    const double z = (u - 0.4) / 2;
    EXPECT_NEAR(
        prior_gradient(one_block(Support::positive, {}, PriorFamily::lognormal, {0.4, 2}, 0), {u}, {7})[0],
        -z / 2, 1e-12);
    // A scale at its floor does not change any more, so that only the Jacobian remains.
    for (PriorFamily family : {PriorFamily::gamma, PriorFamily::inverse_gamma, PriorFamily::lognormal})
      EXPECT_NEAR(prior_gradient(one_block(Support::positive, {}, family, {0.3, 2}, 0.05), {u}, {7})[0], 1,
                  1e-15);
  }
  // A Cauchy prior's slope at large values tends to -2 on the log scale.
  const Target cauchy = one_block(Support::positive, {}, PriorFamily::cauchy, {0, 1}, 0);
  for (const double u : {30.0, 400.0, 700.0}) EXPECT_NEAR(prior_gradient(cauchy, {u})[0], -1, 1e-14);
  const Target tiny = one_block(Support::positive, {2}, PriorFamily::gamma, {3, 2}, 0, ListOrder::increasing);
  const std::vector<double> list = prior_gradient(tiny, {-700, -690});
  EXPECT_NEAR(list[0], 2 + 2 * std::exp(-10.0) / (1 + std::exp(-10.0)) + 1, 1e-12);
  EXPECT_NEAR(list[1], 2 / (1 + std::exp(-10.0)) + 1, 1e-12);
}

// The correlations are next to 1, where the rest of a row underflows.
TEST(Gradient, IsFiniteForExtremeCorrelations) {
  ParameterLayout layout;
  ParameterBlock block{"covariance", {3, 3}, Support::covariance, DataUnit::scale};
  block.feature_axis = 1;
  layout.blocks.push_back(block);
  PriorSet prior;
  prior.blocks["scales"] = {PriorFamily::half_normal, {{{}, {1}}}};
  prior.blocks["correlations"] = {PriorFamily::lkj, {{{}, {3}}}};
  prior.scale_floor = 0;
  const Target target(layout, prior, std::vector<double>(3, 1.0));
  for (const double y : {20.0, -400.0, 800.0}) {
    // The scales come first, then the correlations of rows 1 and 2: minus tanh times (places behind + 2 +
    // rows below + 2 (eta - 1)).
    const std::vector<double> gradient = prior_gradient(target, {0, 0, -800, y, y, y});
    const double sign = y > 0 ? 1 : -1;
    EXPECT_NEAR(gradient[3], -sign * (2 + 1 + 4), 1e-12);
    EXPECT_NEAR(gradient[4], -sign * (3 + 0 + 4), 1e-12);
    EXPECT_NEAR(gradient[5], -sign * (2 + 0 + 4), 1e-12);
    EXPECT_NEAR(gradient[2], 1, 1e-15);
  }
}

// The values were computed by mpmath with 60 digits: density(z) / tail(z), and the same less z.
TEST(Gradient, InverseMillsRatiosAreThoseOfMpmath) {
  struct Ratio {
    double z, ratio, excess;
  };
  const std::vector<Ratio> ratios{
      {-8, 5.0522710835368954309e-15, 8.0000000000000050523},
      {-1, 0.28759997093917836123, 1.2875999709391783612},
      {-0.1, 0.73533174850578066833, 0.83533174850578066833},
      {0, 0.79788456080286535588, 0.79788456080286535588},
      {0.7, 1.2904993394581665469, 0.59049933945816654695},
      {3, 3.2830986549304365069, 0.28309865493043650693},
      {4.9, 5.0898286001298832901, 0.1898286001298832901},
      {5.1, 5.2832876169091573641, 0.1832876169091573641},
      {12, 12.08221417525428433, 0.082214175254284329819},
      {300, 300.00333325926337415, 0.0033332592633741472695},
      {1e8, 100000000.00000001, 9.999999999999998e-9},
  };
  for (const Ratio& r : ratios) {
    EXPECT_NEAR(device::inverse_mills_ratio(r.z), r.ratio, 3e-15 * r.ratio) << r.z;
    if (r.z >= 0) {
      EXPECT_NEAR(device::inverse_mills_excess(r.z), r.excess, 3e-14 * r.excess) << r.z;
    }
  }
  EXPECT_EQ(device::inverse_mills_ratio(-40), 0.0);
}

// The bound is far above the location, where a difference of the ratio and z would have no correct digits.
// The values were computed by mpmath with 60 digits.
TEST(Gradient, TruncatedNormalsKeepTheirDigits) {
  struct Truncated {
    double x, location, scale, lower, by_location, by_log_scale;
  };
  const std::vector<Truncated> values{
      {0.75, -3, 0.5, 0.25, 1.7053972776190186, 12.042541152261811},
      {0.00025, -10000, 1, 0, 0.0001500000019999999, 3.000000082499999},
      {0.25, -2000, 0.125, 0.0625, 11.999500015628418, 48001.750000007812},
      {1, 0.5, 2, 0.25, -0.23502379775126269, -0.84749405056218433},
      {5, 8, 0.25, 0.0625, -48.0, 143.0},
  };
  for (const Truncated& v : values) {
    device::ConditionalElement e{};
    e.density = device::ConditionalDensity::normal;
    e.lower = v.lower;
    const auto slopes = device::conditional_slopes(e, v.x, v.location, v.scale);
    EXPECT_NEAR(slopes.location, v.by_location, 1e-13 * std::abs(v.by_location)) << v.location;
    EXPECT_NEAR(slopes.log_scale, v.by_log_scale, 1e-13 * std::abs(v.by_log_scale)) << v.location;
  }
}

}  // namespace
}  // namespace emomc
