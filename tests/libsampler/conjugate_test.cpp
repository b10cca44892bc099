// Every kind of proposal on posteriors that are known in closed form.
//
// For each coordinate: mean, sd, and the probability below the posterior's own 5 %, 50 % and 95 % points.
// There are 4 posteriors of at most 3 coordinates, 13 proposals with their shapes and 2 backends: at most
// 1,560 comparisons, each within kBound = 6.2 Monte Carlo standard errors (5.7e-10 for a normal one), so a
// false alarm in less than 1e-6 of all seeds.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/inverse_gamma.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "emomc/sampler/diagnostics.hpp"
#include "keeper.hpp"
#include "liblikelihood/random_mixture.hpp"
#include "mixture_target.hpp"

namespace emomc {
namespace {

using testing::Keeper;
using testing::number;
constexpr double kBound = 6.2;
constexpr std::size_t kDraws = 4000, kChains = 8;

struct Expected {
  std::string name;
  int element;  ///< of theta
  double mean, sd;
  std::vector<double> quantiles;  ///< at 5 %, 50 % and 95 %
};

template <class Distribution>
std::vector<double> quantiles_of(const Distribution& d) {
  return {quantile(d, 0.05), quantile(d, 0.5), quantile(d, 0.95)};
}

class Conjugate : public ::testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    if (GetParam() == Backend::cuda && !testing::has_gpu()) GTEST_SKIP() << "no GPU";
  }

  /// Runs every proposal from `starts` (of kChains chains) and compares.
  void compare(const ModelSpec& model, const DataSet& data, const Target& target,
               const std::vector<double>& starts, const std::vector<Expected>& expected) const {
    for (const std::string& kind : proposal_names())
      for (const auto shape : {ProposalShape::diagonal, ProposalShape::isotropic, ProposalShape::dense}) {
        const ProposalUse use = proposal_use(kind);
        if ((shape != ProposalShape::diagonal && !use.shape) || use.mixtures_only) continue;
        std::vector<ChainPlan> plans;
        for (std::uint64_t c = 0; c < kChains; ++c) plans.push_back({c, {0}, 1.0, 0});
        RunOptions options;
        options.warmup = 1000;
        options.draws = kDraws;
        options.thin = 4;
        options.seed = 99;
        const auto device = make_device(GetParam());
        const auto engine = make_engine(GetParam(), model, Precision::mixed, data, *device);
        Keeper keeper;
        run_chains(*engine, target, {kind, shape, 0.234}, plans, options, starts, keeper);
        for (const Expected& e : expected) {
          SCOPED_TRACE(kind + ", shape " + std::to_string(static_cast<int>(shape)) + ", " + e.name);
          const auto dim = static_cast<std::ptrdiff_t>(target.dim());
          compare_one(e, {keeper.theta.data() + e.element, kDraws, kChains,
                          static_cast<std::ptrdiff_t>(kChains) * dim, dim,
                          proposal_use(kind).other_chains ? kChains : 1});
        }
      }
  }

 private:
  static void compare_one(const Expected& e, const DrawsView& view) {
    EXPECT_LT(std::abs(draws_mean(view) - e.mean), kBound * mcse_mean(view))
        << draws_mean(view) << " for " << e.mean;
    EXPECT_LT(std::abs(draws_sd(view) - e.sd), kBound * mcse_sd(view)) << draws_sd(view) << " for " << e.sd;
    EXPECT_LT(mcse_mean(view), 0.1 * e.sd);  // the comparisons say something
    for (const auto& [p, point] :
         {std::pair{0.05, e.quantiles[0]}, {0.5, e.quantiles[1]}, {0.95, e.quantiles[2]}}) {
      std::vector<double> below;
      for (std::size_t i = 0; i < kDraws; ++i)
        for (std::size_t c = 0; c < kChains; ++c) below.push_back(view(i, c) <= point ? 1.0 : 0.0);
      const DrawsView indicator{below.data(), kDraws, kChains, kChains, 1, view.chains_per_ensemble};
      EXPECT_LT(std::abs(draws_mean(indicator) - p), kBound * std::sqrt(p * (1 - p) / ess_mean(indicator)))
          << "below the " << p;
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Backends, Conjugate, ::testing::Values(Backend::cpu, Backend::cuda),
                         [](const auto& backend) {
                           return std::string(backend.param == Backend::cpu ? "cpu" : "cuda");
                         });

// kChains copies of `start`, element i moved by a few times step[i].
std::vector<double> spread_starts(const std::vector<double>& start, const std::vector<double>& step) {
  std::vector<double> starts;
  const device::RandomSource random{17, 0, 0};
  for (std::size_t c = 0; c < kChains; ++c)
    for (std::size_t i = 0; i < start.size(); ++i)
      starts.push_back(start[i] + step[i] * random.normal(device::Purpose::start,
                                                          static_cast<device::u32>(c * start.size() + i)));
  return starts;
}

Expected normal(const std::string& name, int element, double mean, double sd) {
  return {name, element, mean, sd, quantiles_of(boost::math::normal(mean, sd))};
}

// Scales s_j known, normal(m, t) priors: the posterior of mean j is normal with precision 1/t^2 + N/s_j^2.
TEST_P(Conjugate, MeansWithKnownScales) {
  constexpr int d = 3;
  constexpr std::size_t rows = 400;
  const auto mixture = testing::random_problem(1, d, rows, 33);
  const double scale[d] = {0.7, 1.3, 2.0}, prior_mean = 0.5, prior_sd = 0.3;
  PriorSet prior = testing::mixture_prior();
  prior.blocks["weights"] = {PriorFamily::fixed, {number(1.0)}};
  prior.blocks["means"] = {PriorFamily::normal, {number(prior_mean), number(prior_sd)}};
  prior.blocks["scales"] = {PriorFamily::fixed, {{{d}, {scale[0], scale[1], scale[2]}}}};
  std::vector<Expected> expected;
  for (int j = 0; j < d; ++j) {
    double sum = 0;
    for (std::size_t i = 0; i < rows; ++i) sum += mixture.data.values[i * d + static_cast<std::size_t>(j)];
    const double precision = 1 / (prior_sd * prior_sd) + rows / (scale[j] * scale[j]);
    const double mean = (prior_mean / (prior_sd * prior_sd) + sum / (scale[j] * scale[j])) / precision;
    expected.push_back(normal("mean " + std::to_string(j), 1 + j, mean, 1 / std::sqrt(precision)));
  }
  compare({"gaussian_mixture", 1}, mixture.data,
          Target(testing::mixture_layout(1, d), prior, std::vector<double>(d, 1.0)),
          spread_starts({1, 0, 0, 0, scale[0], scale[1], scale[2]}, {0, 0.1, 0.1, 0.1, 0, 0, 0}), expected);
}

// Flat priors on mean and sd of N numbers: sd^2 is inverse gamma((N - 2) / 2, S / 2), S the sum of squares
// about their mean, and the mean has a t distribution with N - 2 degrees of freedom.
TEST_P(Conjugate, MeanAndScaleTogether) {
  constexpr std::size_t rows = 60;
  const auto mixture = testing::random_problem(1, 1, rows, 34);
  PriorSet prior = testing::mixture_prior();
  prior.scale_floor = 0;
  prior.blocks["weights"] = {PriorFamily::fixed, {number(1.0)}};
  prior.blocks["means"] = {PriorFamily::uniform, {number(-1000), number(1000)}};
  prior.blocks["scales"] = {PriorFamily::uniform, {number(0), number(1000)}};
  double mean = 0, squares = 0;
  for (double x : mixture.data.values) mean += x / rows;
  for (double x : mixture.data.values) squares += (x - mean) * (x - mean);
  const double degrees = rows - 2, unit = std::sqrt(squares / (degrees * rows));
  const boost::math::students_t t(degrees);
  const boost::math::inverse_gamma variance(degrees / 2, squares / 2);
  const double mean_scale =
      std::sqrt(squares / 2) * std::exp(std::lgamma((degrees - 1) / 2) - std::lgamma(degrees / 2));
  Expected location{"mean", 1, mean, unit * std::sqrt(degrees / (degrees - 2)), quantiles_of(t)};
  for (double& q : location.quantiles) q = mean + unit * q;
  Expected scale{"scale", 2, mean_scale, std::sqrt(boost::math::mean(variance) - mean_scale * mean_scale),
                 quantiles_of(variance)};
  for (double& q : scale.quantiles) q = std::sqrt(q);
  compare({"gaussian_mixture", 1}, mixture.data,
          Target(testing::mixture_layout(1, 1), prior, std::vector<double>(1, 1.0)),
          spread_starts({1, mean, mean_scale}, {0, unit, 0.1 * unit}), {location, scale});
}

// One component with a known full covariance S and normal(m, t) priors: precision I/t^2 + N S^-1.
TEST_P(Conjugate, MeansWithAKnownFullCovariance) {
  constexpr int d = 3;
  constexpr std::size_t rows = 300;
  const std::vector<double> scale{0.7, 1.3, 2.0}, correlation{1, 0.6, -0.3, 0.6, 1, 0.2, -0.3, 0.2, 1};
  Eigen::Matrix3d covariance;
  for (int i = 0; i < d; ++i)
    for (int j = 0; j < d; ++j)
      covariance(i, j) = scale[static_cast<std::size_t>(i)] * scale[static_cast<std::size_t>(j)] *
                         correlation[static_cast<std::size_t>(3 * i + j)];
  const Eigen::Matrix3d factor = covariance.llt().matrixL();
  const double prior_mean = 0.5, prior_sd = 0.3;
  PriorSet prior = testing::mixture_prior();
  prior.blocks["weights"] = {PriorFamily::fixed, {number(1.0)}};
  prior.blocks["means"] = {PriorFamily::normal, {number(prior_mean), number(prior_sd)}};
  prior.blocks["scales"] = {PriorFamily::fixed, {{{d}, scale}}};
  prior.blocks["correlations"] = {PriorFamily::fixed, {{{d, d}, correlation}}};
  const ModelSpec model{"gaussian_mixture", 1, "full"};
  std::vector<double> theta{1, 0.2, 0.4, 0.6};
  for (int i = 0; i < d; ++i)
    for (int j = 0; j <= i; ++j) theta.push_back(factor(i, j));
  const auto data = DataSet::single_segment(d, simulate_rows(model, d, theta, rows, 7));
  Eigen::Vector3d sum = Eigen::Vector3d::Zero();
  for (std::size_t i = 0; i < rows; ++i) sum += Eigen::Map<const Eigen::Vector3d>(data.values.data() + 3 * i);
  const Eigen::Matrix3d inverse = covariance.inverse();
  const Eigen::Matrix3d posterior =
      (Eigen::Matrix3d::Identity() / (prior_sd * prior_sd) + rows * inverse).inverse();
  const Eigen::Vector3d mean =
      posterior * (Eigen::Vector3d::Constant(prior_mean / (prior_sd * prior_sd)) + inverse * sum);
  std::vector<Expected> expected;
  for (int j = 0; j < d; ++j)
    expected.push_back(normal("mean " + std::to_string(j), 1 + j, mean[j], std::sqrt(posterior(j, j))));
  std::vector<double> step(theta.size(), 0.0);
  step[1] = step[2] = step[3] = 0.1;
  compare(model, data, Target(model_layout(model, d), prior, std::vector<double>(d, 1.0)),
          spread_starts(theta, step), expected);
}

// Components so far apart that each row's is known: the weights are Dirichlet with the counts added.
TEST_P(Conjugate, WeightsOfSeparatedComponents) {
  constexpr int K = 3;
  const std::vector<double> counts{12, 30, 5};
  const double alpha = 1.5;
  PriorSet prior = testing::mixture_prior();
  prior.blocks["weights"] = {PriorFamily::dirichlet, {number(alpha)}};
  prior.blocks["means"] = {PriorFamily::fixed, {{{K, 1}, {-100, 0, 100}}}};
  prior.blocks["scales"] = {PriorFamily::fixed, {number(1)}};
  std::vector<double> values;
  for (int k = 0; k < K; ++k)
    for (int i = 0; i < counts[static_cast<std::size_t>(k)]; ++i)
      values.push_back(100.0 * (k - 1) + 0.1 * (i % 7));
  std::vector<Expected> expected;
  const double total = 47 + K * alpha;
  for (int k = 0; k < K; ++k) {
    const double a = counts[static_cast<std::size_t>(k)] + alpha;
    const boost::math::beta_distribution<> marginal(a, total - a);
    expected.push_back({"weight " + std::to_string(k), k, boost::math::mean(marginal),
                        boost::math::standard_deviation(marginal), quantiles_of(marginal)});
  }
  std::vector<double> starts;
  for (std::size_t c = 0; c < kChains; ++c) {
    const double first = 0.2 + 0.03 * static_cast<double>(c),
                 second = 0.5 - 0.02 * static_cast<double>(c * c % 5);
    starts.insert(starts.end(), {first, second, 1 - first - second, -100, 0, 100, 1, 1, 1});
  }
  compare({"gaussian_mixture", K}, DataSet::single_segment(1, values),
          Target(testing::mixture_layout(K, 1), prior, std::vector<double>(1, 1.0)), starts, expected);
}

}  // namespace
}  // namespace emomc
