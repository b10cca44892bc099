#include "emomc/sampler/starts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numbers>
#include <numeric>
#include <span>
#include <string>

#include "emomc/likelihood/mixture_start.hpp"
#include "emomc/sampler/laplace.hpp"

namespace emomc {
namespace {

ArrayArgument number(double x) { return {{}, {x}, false}; }

// Returns a target for one column and K components; a list of `means` makes the prior differ between
// components.
Target target_of(int K, const std::vector<double>& means = {}) {
  PriorSet prior;
  prior.blocks["weights"] = {PriorFamily::dirichlet, {number(1)}};
  const ArrayArgument centre = means.empty() ? number(0) : ArrayArgument{{K, 1}, means, false};
  prior.blocks["means"] = {PriorFamily::normal, {centre, number(means.empty() ? 10 : 1)}};
  prior.blocks["scales"] = {PriorFamily::half_normal, {number(1)}};
  const std::vector<double> sd{1.0};
  return Target(model_layout({"gaussian_mixture", K}, 1), prior, sd);
}

// The density is a Gaussian with correlations of 0.9 and sds of 1e-3, 1 and 1e4, and the starting point is
// distant. The mass is the normalising constant, and the mode is the mean.
TEST(Laplace, IsExactForAGaussian) {
  const std::vector<double> mean{5, -2, 3e5}, sd{1e-3, 1, 1e4};
  const double rho = 0.9, log_det = 2 * std::log(1 - rho) + std::log(1 + 2 * rho);
  const auto density = [&](std::span<const double> u) {
    std::vector<double> z;
    for (std::size_t i = 0; i < 3; ++i) z.push_back((u[i] - mean[i]) / sd[i]);
    const double sum = z[0] + z[1] + z[2], squares = z[0] * z[0] + z[1] * z[1] + z[2] * z[2];
    // This uses the inverse of (1 - rho) I + rho 1 1'.
    return -0.5 * (squares - rho / (1 + 2 * rho) * sum * sum) / (1 - rho);
  };
  const std::vector<double> start{5 + 4e-3, -4, 3e5 + 2e4};
  const Laplace laplace = laplace_at(density, start, {});
  double expected = 1.5 * std::log(2 * std::numbers::pi) + 0.5 * log_det;
  for (std::size_t i = 0; i < 3; ++i) {
    expected += std::log(sd[i]);
    EXPECT_NEAR((laplace.u[i] - mean[i]) / sd[i], 0, 0.05);
    EXPECT_NEAR(laplace.sd[i] / sd[i], 1, 1e-3);
  }
  EXPECT_NEAR(laplace.log_mass, expected, 0.01);
}

// The density is a gamma density with shape 50 in log x. Stirling's series gives the error of Laplace's
// approximation.
TEST(Laplace, IsNearForAGammaDensity) {
  const double shape = 50;
  const LogDensityOfU density = [&](std::span<const double> u) { return shape * u[0] - std::exp(u[0]); };
  const std::vector<double> start{3.0};
  const Laplace laplace = laplace_at(density, start, {});
  EXPECT_NEAR(laplace.u[0], std::log(shape), 0.1 / std::sqrt(shape));
  EXPECT_NEAR(laplace.log_mass, std::lgamma(shape), 0.02);
}

TEST(Starts, ChainsHaveOneHeavyOptimumEachBeforeAnyHasTwo) {
  std::vector<Optimum> found(4);
  for (std::size_t i = 0; i < 4; ++i)
    found[i].log_mass = std::log(std::vector<double>{0.05, 0.7, 0.005, 0.245}[i]);
  rank_by_mass(found);
  EXPECT_NEAR(found[0].share, 0.7, 1e-12);
  EXPECT_EQ(num_heavy(found), 3u);
  for (std::uint32_t chain = 0; chain < 3; ++chain) EXPECT_EQ(optimum_of_chain(found, 9, chain), chain);
  // The 4,000 other chains follow the shares: 0.7 / 0.995, within 5 standard errors (probability of a false
  // alarm 6e-7).
  int at_first = 0;
  for (std::uint32_t chain = 3; chain < 4003; ++chain) {
    const std::size_t optimum = optimum_of_chain(found, 9, chain);
    EXPECT_LT(optimum, 3u);
    at_first += optimum == 0;
  }
  const double p = 0.7 / 0.995;
  EXPECT_NEAR(at_first, 4000 * p, 5 * std::sqrt(4000 * p * (1 - p)));
}

TEST(Starts, LabelsAreTakenFromAReference) {
  const ParameterLayout layout = model_layout({"gaussian_mixture", 3}, 2);
  const std::vector<double> reference{0.2, 0.3, 0.5, 0, 0, 5, 5, 9, 9, 1, 1, 2, 2, 3, 3};
  const std::vector<double> shuffled{0.5, 0.2, 0.3, 9.1, 9, 0.1, 0, 5, 5.2, 3, 3, 1, 1, 2, 2};
  const auto order = order_like(layout, reference, shuffled);
  EXPECT_EQ(order, (std::vector<int>{1, 2, 0}));
  const auto sorted = permute_components(layout, order, shuffled);
  EXPECT_EQ(sorted, (std::vector<double>{0.2, 0.3, 0.5, 0.1, 0, 5, 5.2, 9.1, 9, 1, 1, 2, 2, 3, 3}));
}

TEST(Starts, ComponentsAreNumberedAsThePriorLikesThemBest) {
  const Target target = target_of(3, {0, 5, 9});
  const std::vector<double> theta{0.5, 0.2, 0.3, 8.5, 0.1, 5.2, 1, 1, 1};
  EXPECT_EQ(order_of_prior(target, theta), (std::vector<int>{1, 2, 0}));
  EXPECT_EQ(order_of_prior(target_of(3), theta), (std::vector<int>{0, 1, 2}));
}

TEST(Starts, DegenerateAreScalesAtTheirFloorAndComponentsOfFewRows) {
  const Target target = target_of(2);
  EXPECT_EQ(degeneracy(target, std::vector<double>{0.5, 0.5, 0, 5, 1, 1}, 100), "");
  EXPECT_EQ(degeneracy(target, std::vector<double>{0.5, 0.5, 0, 5, 1, 0.00104}, 100), "a scale at its floor");
  EXPECT_EQ(degeneracy(target, std::vector<double>{0.029, 0.971, 0, 5, 1, 1}, 100),
            "a component of fewer rows than columns + 2");
  EXPECT_EQ(degeneracy(target, std::vector<double>{0.029, 0.971, 0, 5, 0.00104, 1}, 100),
            "a scale at its floor");
  EXPECT_EQ(degeneracy(target, std::vector<double>{0.031, 0.969, 0, 5, 1, 1}, 100), "");
}

struct Problem {
  DataSet data;
  ModelSpec model;
  std::vector<std::vector<double>> fits;
  std::unique_ptr<Device> device = make_device(Backend::cpu);
  std::unique_ptr<LikelihoodEngine> engine;

  Problem(std::vector<double> x, int K)
      : data(DataSet::single_segment(1, std::move(x))), model{"gaussian_mixture", K} {
    const MixturePool pool(data, model, {.seed = 1, .num_threads = 1});
    for (const ShortFit& fit : pool.fits()) fits.push_back(fit.theta);
    engine = make_engine(Backend::cpu, model, Precision::float64, data, *device, 1);
  }
};

// Returns normal quantiles about each centre, without randomness.
std::vector<double> groups(const std::vector<double>& centres, int rows_of_each) {
  std::vector<double> x;
  for (const double centre : centres)
    for (int i = 0; i < rows_of_each; ++i) {
      const double p = (i + 0.5) / rows_of_each;
      // Tukey's lambda distribution with 0.14 is close to the normal's quantile function.
      x.push_back(centre + 0.3 * 4.91 * (std::pow(p, 0.14) - std::pow(1 - p, 0.14)) / 1.0);
    }
  return x;
}

// There are groups at -5, 0 and 5 and two components: the middle group can join either side.
TEST(Starts, TwoModesOfEqualMassAreTwoOptima) {
  Problem p(groups({-5, 0, 5}, 40), 2);
  const Optima optima = find_optima(target_of(2), *p.engine, p.fits, 120);
  ASSERT_GE(optima.found.size(), 2u);
  EXPECT_NEAR(optima.found[0].share, 0.5, 0.02);
  EXPECT_NEAR(optima.found[1].share, 0.5, 0.02);
  EXPECT_GE(optima.found[0].members.size(), 5u);
  EXPECT_GE(optima.found[1].members.size(), 5u);
}

// All fits of well separated groups belong to one optimum, whatever their labels are.
TEST(Starts, FitsThatDifferInLabelsOnlyAreOneOptimum) {
  Problem p(groups({-8, 0, 8}, 40), 3);
  const Optima optima = find_optima(target_of(3), *p.engine, p.fits, 120);
  ASSERT_FALSE(optima.found.empty());
  EXPECT_GT(optima.found[0].share, 0.99);
  EXPECT_EQ(num_heavy(optima.found), 1u);
  const auto groups_of_fits = equal_fits(*p.engine, p.fits, 120);
  EXPECT_GE(groups_of_fits.front().size(), 10u);
}

// The prior decides between modes with equal likelihood.
TEST(Starts, ThePriorJudgesOptima) {
  Problem p(groups({-5, 0, 5}, 40), 2);
  const Target target = target_of(2, {-2.5, 5});  // both on the left, one on the right
  const Optima optima = find_optima(target, *p.engine, p.fits, 120);
  ASSERT_FALSE(optima.found.empty());
  EXPECT_GT(optima.found[0].share, 0.99);
  const std::vector<double>& theta = optima.found[0].theta;
  EXPECT_NEAR(theta[0], 2.0 / 3, 0.05);
  EXPECT_NEAR(theta[2], -2.5, 0.3);
  EXPECT_NEAR(theta[3], 5, 0.3);
}

// The three galaxies of the highest velocities are a component of their own. EM gives it 2.99 rows, fewer
// than columns + 2; at the mode of the posterior it has about one row more, and 99 % of the mass.
TEST(Starts, RowsOfAComponentAreCountedAtTheMode) {
  std::ifstream file(EMOMC_SOURCE_DIR "/configs/galaxies.csv");
  std::string header;
  std::getline(file, header);
  std::vector<double> x;
  for (double velocity; file >> velocity;) x.push_back((velocity - 20.8) / 4.5);
  ASSERT_EQ(x.size(), 82u);
  Problem p(x, 3);
  const auto rows_of_fastest = [](std::span<const double> theta) {
    const auto fastest = std::max_element(theta.begin() + 3, theta.begin() + 6) - (theta.begin() + 3);
    return 82 * theta[static_cast<std::size_t>(fastest)];
  };
  const auto of_few_rows =
      std::count_if(p.fits.begin(), p.fits.end(), [&](const auto& fit) { return rows_of_fastest(fit) < 3; });
  ASSERT_GT(of_few_rows, 10);
  const Optima optima = find_optima(target_of(3), *p.engine, p.fits, 82);
  ASSERT_FALSE(optima.found.empty());
  EXPECT_GT(optima.found[0].share, 0.95);
  EXPECT_NEAR(rows_of_fastest(optima.found[0].theta), 3.9, 0.3);
  EXPECT_GT(optima.found[0].members.size(), 10u);
  // Pairs of rows remain degenerate, since their likelihood is not bounded.
  EXPECT_GT(optima.num_degenerate_fits(), 0u);
}

// The shares of optima are compared with the mass itself: all parameters but one mean are fixed, so that one
// free coordinate remains, and quadrature on a grid gives the mass of each mode.
TEST(Starts, SharesAreThoseOfQuadrature) {
  std::vector<double> x = groups({0}, 50);
  const std::vector<double> more = groups({6}, 44);
  x.insert(x.end(), more.begin(), more.end());
  PriorSet prior;
  prior.blocks["weights"] = {PriorFamily::fixed, {ArrayArgument{{2}, {0.5, 0.5}, false}}};
  prior.blocks["means"] = {PriorFamily::normal, {number(3), number(10)}};
  prior.blocks["scales"] = {PriorFamily::fixed, {ArrayArgument{{2, 1}, {0.5, 8}, false}}};
  const std::vector<double> sd{1.0};
  const Target target(model_layout({"gaussian_mixture", 2}, 1), prior, sd);
  Problem p(x, 2);
  const Optima optima = find_optima(target, *p.engine, p.fits, 94);
  const auto log_posterior = [&](double a, double b) {
    const std::vector<double> theta{0.5, 0.5, a, b, 0.5, 8};
    double ll;
    p.engine->sums_by_segment(theta.data(), 1, &ll);
    return ll + target.log_prior(theta);
  };
  double low = 0, high = 0;
  const double reference = log_posterior(0, 6);
  for (double a = -3; a < 9; a += 0.02)
    for (double b = -9; b < 15; b += 0.3) (a < 3 ? low : high) += std::exp(log_posterior(a, b) - reference);
  double share_low = 0;
  for (const Optimum& o : optima.found)
    if (o.theta[2] < 3) share_low += o.share;
  EXPECT_NEAR(std::log(share_low / (1 - share_low)), std::log(low / high), 0.3);
}

}  // namespace
}  // namespace emomc
