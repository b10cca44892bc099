// Tests priors with most of their mass at the boundary of the support, where weights underflow a double:
// sparse Dirichlet priors, and Beta priors with small arguments.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <boost/math/distributions/beta.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>
#include <limits>

#include "closed_form.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/device/proposals.hpp"
#include "keeper.hpp"
#include "liblikelihood/random_mixture.hpp"
#include "mixture_target.hpp"

namespace emomc {
namespace {

using testing::mixture_layout;
using testing::number;

constexpr double kLeast = std::numeric_limits<double>::min();

Target sparse_target(int K, double alpha, std::vector<double> means = {}) {
  PriorSet prior = testing::mixture_prior();
  prior.blocks["weights"] = {PriorFamily::dirichlet, {number(alpha)}};
  if (means.empty()) means.assign(static_cast<std::size_t>(K), 0.0);
  prior.blocks["means"] = {PriorFamily::fixed, {{{K, 1}, std::move(means)}}};
  prior.blocks["scales"] = {PriorFamily::fixed, {number(1)}};
  return Target(mixture_layout(K, 1), prior, std::vector<double>(1, 1.0));
}

// Returns log w of u in long double: log softmax of V u, with V by its definition.
std::vector<long double> log_weights_of(const std::vector<double>& u) {
  const auto K = static_cast<int>(u.size()) + 1;
  std::vector<long double> y(u.size() + 1, 0.0L);
  for (int j = 1; j < K; ++j) {
    const long double x = u[static_cast<std::size_t>(j - 1)], norm = std::sqrt(j * (j + 1.0L));
    for (int k = 0; k < j; ++k) y[static_cast<std::size_t>(k)] += x / norm;
    y[static_cast<std::size_t>(j)] -= j * x / norm;
  }
  const long double top = *std::max_element(y.begin(), y.end());
  long double sum = 0;
  for (long double value : y) sum += std::exp(value - top);
  for (long double& value : y) value -= top + std::log(sum);
  return y;
}

double log_dirichlet(double alpha, const std::vector<double>& u) {
  const auto y = log_weights_of(u);
  const auto K = static_cast<double>(y.size());
  long double sum = std::lgamma(K * alpha) - K * std::lgamma(alpha);
  for (long double value : y) sum += (alpha - 1.0L) * value;
  return static_cast<double>(sum);
}

TEST(SparsePrior, DensityOfWeightsThatADoubleDoesNotHold) {
  for (const int K : {2, 3, 5, 40})
    for (const double alpha : {0.001, 0.02, 0.5, 1.0, 3.0}) {
      const Target target = sparse_target(K, alpha);
      std::vector<double> u(static_cast<std::size_t>(K - 1)), theta(static_cast<std::size_t>(3 * K));
      for (const double size : {0.5, 20.0, 300.0, 730.0, 1500.0, 40000.0}) {
        for (std::size_t i = 0; i < u.size(); ++i) u[i] = size * std::sin(1.3 + 2.7 * static_cast<double>(i));
        const auto densities = target.constrain_with_prior(u, theta);
        const double expected = log_dirichlet(alpha, u);
        EXPECT_NEAR(densities.log_prior, expected, 1e-12 * (1 + std::abs(expected)))
            << K << " " << alpha << " " << size;
        EXPECT_TRUE(std::isfinite(densities.log_jacobian));
      }
    }
}

// The test integrates exp(log prior + log Jacobian) over u. Most of the mass is where one weight has
// underflowed.
TEST(SparsePrior, IntegratesToOne) {
  const double alpha = 0.002, edge = 25000, h = 0.25;  // the tails fall by exp(-alpha sqrt(2) u)
  const Target weights = sparse_target(2, alpha);
  ParameterLayout layout;
  layout.blocks.push_back({"fraction", {}, Support::unit_interval, DataUnit::none, Influence::everything});
  PriorSet prior;
  prior.blocks["fraction"] = {PriorFamily::beta, {number(0.002), number(0.003)}};
  const Target fraction(layout, prior, {});
  double of_weights = 0, of_fraction = 0, underflowed = 0;
  std::vector<double> theta(6), value(1);
  for (double u = -edge; u <= edge; u += h) {
    const auto w = weights.constrain_with_prior(std::vector<double>{u}, theta);
    // |d w_1 / d u| is the Jacobian of the first K - 1 weights.
    of_weights += h * std::exp(w.log_prior + w.log_jacobian);
    if (theta[0] < kLeast) underflowed += h * std::exp(w.log_prior + w.log_jacobian);
    const auto f = fraction.constrain_with_prior(std::vector<double>{u}, value);
    of_fraction += h * std::exp(f.log_prior + f.log_jacobian);
  }
  EXPECT_NEAR(of_weights, 1, 1e-6);
  EXPECT_NEAR(of_fraction, 1, 1e-6);
  EXPECT_NEAR(underflowed, cdf(boost::math::beta_distribution<>(alpha, alpha), kLeast), 1e-4);
}

// The density is continuous, up to rounding, where a weight underflows a double.
TEST(SparsePrior, DensityHasNoStepWhereWeightsUnderflow) {
  const Target target = sparse_target(2, 0.01);
  std::vector<double> theta(6);
  double before = 0;
  for (double log_odds = 700; log_odds < 760; log_odds += 0.25) {
    const auto densities = target.constrain_with_prior(std::vector<double>{log_odds / std::sqrt(2.0)}, theta);
    if (log_odds > 700) {
      EXPECT_NEAR(densities.log_prior - before, 0.99 * 0.25, 1e-11) << log_odds;
    }
    before = densities.log_prior;
  }
  EXPECT_EQ(theta[1], 0);
}

// The test compares the shares of draws below points of the marginal Beta distribution, within 6.5 standard
// errors, in 3 x 6 comparisons.
TEST(SparsePrior, DrawsAreOfThePrior) {
  constexpr int K = 3, kDraws = 4000;
  for (const double alpha : {0.001, 0.02}) {
    const Target target = sparse_target(K, alpha);
    const boost::math::beta_distribution<> marginal(alpha, (K - 1) * alpha);
    std::vector<std::vector<double>> draws;
    for (std::uint32_t i = 0; i < kDraws; ++i) {
      draws.push_back(target.draw_from_prior(3, i, 0));
      const double* w = draws.back().data();
      EXPECT_NEAR(w[0] + w[1] + w[2], 1, 1e-12);
      for (int k = 0; k < K; ++k) EXPECT_GE(w[k], kLeast);
      std::vector<double> u(2);
      EXPECT_NO_THROW(target.unconstrain(draws.back(), u));
      EXPECT_TRUE(std::isfinite(target.log_prior(draws.back())));
    }
    for (const double point : {1e-300, 1e-100, 1e-10, 1e-3, 0.5, 0.999}) {
      const double p = cdf(marginal, point);
      for (int k = 0; k < K; ++k) {
        double below = 0;
        for (const auto& theta : draws) below += theta[static_cast<std::size_t>(k)] <= point;
        EXPECT_NEAR(below / kDraws, p, testing::kBound * std::sqrt(p * (1 - p) / kDraws))
            << alpha << " " << point;
      }
    }
  }
}

TEST(SparsePrior, StartsWithoutAWeightAreMovedInsideOrRefused) {
  const Target target = sparse_target(3, 0.01);
  std::vector<double> theta{1, 0, 0, 0, 0, 0, 1, 1, 1}, u(2);
  try {
    target.unconstrain(theta, u);
    FAIL() << "a weight of 0 was accepted";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("weights[1]"), std::string::npos) << error.what();
  }
  target.move_inside(theta);
  EXPECT_EQ(theta[1], kLeast);
  target.unconstrain(theta, u);
  EXPECT_NEAR(static_cast<double>(log_weights_of(u)[1]), std::log(kLeast), 1e-10);
}

// The ratio of a split and a merge depends on the three weights only by their ratios.
TEST(SparsePrior, WeightsAreSplitAndMergedWhateverTheirSize) {
  using namespace device;
  constexpr int K = 4;
  const Target target(mixture_layout(K, 1), testing::mixture_prior(), std::vector<double>(1, 1.0));
  const auto table = target.table();
  const std::vector<double> logs{std::log(0.2), std::log(0.5), std::log(0.3)};
  struct Result {
    double log_ratio;
    std::vector<double> u;
  };
  const auto move = [&](double scale) {  // the last component has nearly all the weight
    std::vector<double> u(static_cast<std::size_t>(target.dim_unconstrained())), theta(12), scratch(12);
    for (std::size_t i = 0; i < u.size(); ++i) u[i] = 0.3 * std::sin(1.0 + static_cast<double>(i));
    const auto log_weight = [&](int k) { return k == 3 ? 0.0 : logs[static_cast<std::size_t>(k)] + scale; };
    unconstrain_simplex(table.simplices[0], log_weight, u.data());
    target.constrain(u, theta);
    std::vector<double> candidate = u, main{0.4, 0.3}, extra{0.01, 0.01, 0.01, 0.7, 0, 0, 0, 0};
    InnovationView adapted{};
    adapted.mixture = table.mixture;
    const double log_ratio =
        SplitAndMerge::apply(HostTeam{}, ProposalView{u.data(),
                                                      candidate.data(),
                                                      {main.data(), nullptr, extra.data()},
                                                      adapted,
                                                      {},
                                                      &table,
                                                      theta.data(),
                                                      scratch.data()});
    return Result{log_ratio, candidate};
  };
  const Result ordinary = move(-8), tiny = move(-3000);
  EXPECT_TRUE(std::isfinite(ordinary.log_ratio));
  EXPECT_NEAR(tiny.log_ratio, ordinary.log_ratio, 1e-9);
  for (std::size_t i = 3; i < ordinary.u.size(); ++i) EXPECT_NEAR(tiny.u[i], ordinary.u[i], 1e-9) << i;
  const auto weights_of = [](const Result& r) {
    return log_weights_of({r.u.begin(), r.u.begin() + (K - 1)});
  };
  // Components 0 and 1 become component 2, and the result is split at 0.7.
  for (const auto& [result, scale] : {std::pair{ordinary, -8.0}, {tiny, -3000.0}}) {
    const auto w = weights_of(result);
    EXPECT_NEAR(static_cast<double>(w[2] - w[3]), std::log(0.7) + scale, 1e-9);
    EXPECT_NEAR(static_cast<double>(w[0] - w[3]), std::log(0.3 * 0.7) + scale, 1e-9);
    EXPECT_NEAR(static_cast<double>(w[1] - w[3]), std::log(0.3 * 0.3) + scale, 1e-9);
  }
}

// Returns the distribution of the logarithm of a Beta(a, b) variable with small a.
testing::Expected log_of_beta(double a, double b) {
  using namespace boost::math;
  testing::Expected e{
      "log weight", {}, digamma(a) - digamma(a + b), std::sqrt(trigamma(a) - trigamma(a + b)), {}};
  for (const double p : testing::kProbabilities) {
    // P(x) = x^a / (a B(a, b)) (1 + O(x)).
    const double tail = (std::log(p * a) + std::log(beta(a, b))) / a;
    e.quantiles.push_back(tail < -40 ? tail : std::log(ibeta_inv(a, b, p)));
  }
  return e;
}

class SparsePosterior : public ::testing::TestWithParam<Backend> {};
INSTANTIATE_TEST_SUITE_P(Backends, SparsePosterior, ::testing::Values(Backend::cpu, Backend::cuda),
                         [](const auto& backend) {
                           return std::string(backend.param == Backend::cpu ? "cpu" : "cuda");
                         });

// There are two well separated components and one without rows. The posterior of the weights is Dirichlet
// with the counts added. The logarithm of the weight without rows, which underflows a double in up to half of
// the draws, is computed from log_prior. There are at most 2 x 12 x 2 quantities on each backend with 13
// comparisons each; the rate of false alarms is that of conjugate_test.cpp.
TEST_P(SparsePosterior, IsDirichlet) {
  if (GetParam() == Backend::cuda && !testing::has_gpu()) GTEST_SKIP() << "no GPU";
  constexpr std::size_t K = 3, kDraws = 3200, kChains = 10;
  const double counts[K] = {12, 30, 0};
  std::vector<double> rows;
  for (std::size_t k = 0; k < K; ++k)
    for (int i = 0; i < counts[k]; ++i) rows.push_back(100.0 * static_cast<double>(k) + 0.1 * (i % 7));
  std::vector<ChainPlan> plans;
  std::vector<double> starts;
  for (std::size_t c = 0; c < kChains; ++c) {
    plans.push_back({c, {0}, 1.0, 0});
    const double first = 0.25 + 0.02 * static_cast<double>(c),
                 last = std::exp(-8.0 - 11.0 * static_cast<double>(c));
    starts.insert(starts.end(), {first, 1 - first - last, last, 0, 100, 200, 1, 1, 1});
  }
  RunOptions options;
  options.draws = kDraws;
  options.seed = 99;
  for (const double alpha : {0.001, 0.02}) {
    const Target target = sparse_target(K, alpha, {0, 100, 200});
    const boost::math::beta_distribution<> first(counts[0] + alpha, counts[1] + 2 * alpha);
    const testing::Expected of_first{
        "weight 0", {}, mean(first), standard_deviation(first), testing::quantiles_of(first)};
    const testing::Expected of_last = log_of_beta(alpha, 42 + 2 * alpha);
    for (const std::string& kind : proposal_names()) {
      const ProposalUse use = proposal_use(kind);
      if (use.mixtures_only) continue;
      // mala never enters the region where the weight is large, 2 % of the posterior at alpha 0.02
      // (docs/proposals.md).
      if (kind == "mala") continue;
      // A draw at the end of a long trajectory takes many evaluations.
      const bool is_long = kind == "hmc" || kind == "nuts" || kind == "chees";
      options.warmup = is_long ? 500 : 2000;
      options.thin = is_long ? 1 : 4;
      SCOPED_TRACE(kind + ", alpha " + std::to_string(alpha));
      const auto device = make_device(GetParam());
      const auto engine = make_engine(GetParam(), {"gaussian_mixture", static_cast<int>(K)}, Precision::mixed,
                                      DataSet::single_segment(1, rows), *device);
      if (!testing::runs_on(*engine, kind)) continue;
      testing::Keeper keeper;
      run_chains(*engine, target, {kind, ProposalShape::diagonal}, plans, options, starts, keeper);
      std::vector<double> first_weight, log_last;
      for (std::size_t i = 0; i < kDraws * kChains; ++i) {
        const double* w = keeper.theta.data() + i * static_cast<std::size_t>(target.dim());
        first_weight.push_back(w[0]);
        const double constant = std::lgamma(K * alpha) - static_cast<double>(K) * std::lgamma(alpha);
        log_last.push_back((keeper.log_prior[i] - constant) / (alpha - 1) - std::log(w[0]) - std::log(w[1]));
        if (w[2] > kLeast) {
          ASSERT_NEAR(log_last.back(), std::log(w[2]), 1e-9);
        }
      }
      const std::size_t together = use.other_chains ? kChains : 1;
      testing::compare_with_closed_form(of_first,
                                        {first_weight.data(), kDraws, kChains, kChains, 1, together});
      testing::compare_with_closed_form(of_last, {log_last.data(), kDraws, kChains, kChains, 1, together});
    }
  }
}

}  // namespace
}  // namespace emomc
