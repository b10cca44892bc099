// Tests every kind of proposal on posteriors that are known in closed form.
//
// For each quantity the tests compare the mean, the sd, and the probability below 11 of the posterior's own
// quantiles, 5 % to 95 %. There are 8 posteriors with 28 quantities in all, 13 proposals with their shapes
// and 2 backends: at most 9,464 comparisons, each within kBound = 6.5 Monte Carlo standard errors (8.1e-11
// for a normal error), so that a false alarm occurs for less than 1e-6 of all seeds.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/inverse_gamma.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <functional>

#include "closed_form.hpp"
#include "keeper.hpp"
#include "liblikelihood/random_mixture.hpp"
#include "mixture_target.hpp"

namespace emomc {
namespace {

using testing::Expected;
using testing::Keeper;
using testing::number;
using testing::quantiles_of;
constexpr std::size_t kDraws = 3200, kChains = 10;

std::function<double(const double*)> element(int i) {
  return [i](const double* theta) { return theta[i]; };
}

class Conjugate : public ::testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    if (GetParam() == Backend::cuda && !testing::has_gpu()) GTEST_SKIP() << "no GPU";
  }

  /// Runs every proposal from `starts` (for kChains chains) and compares the draws with `expected`.
  void compare(const ModelSpec& model, const DataSet& data, const Target& target,
               const std::vector<double>& starts, const std::vector<Expected>& expected) const {
    for (const std::string& kind : proposal_names())
      for (const auto shape : {ProposalShape::diagonal, ProposalShape::isotropic, ProposalShape::dense}) {
        const ProposalUse use = proposal_use(kind);
        if ((shape != ProposalShape::diagonal && !use.shape) || use.mixtures_only) continue;
        std::vector<ChainPlan> plans;
        for (std::uint64_t c = 0; c < kChains; ++c) plans.push_back({c, {0}, 1.0, 0});
        RunOptions options;
        // A draw at the end of a trajectory depends little on its beginning.
        options.warmup = use.gradient ? 400 : 1000;
        options.thin = use.gradient ? 1 : 4;
        options.draws = kDraws;
        options.seed = 99;
        const auto device = make_device(GetParam());
        const auto engine = make_engine(GetParam(), model, Precision::mixed, data, *device);
        if (!testing::runs_on(*engine, kind)) continue;
        Keeper keeper;
        run_chains(*engine, target, {kind, shape}, plans, options, starts, keeper);
        for (const Expected& e : expected) {
          SCOPED_TRACE(kind + ", shape " + std::to_string(static_cast<int>(shape)) + ", " + e.name);
          std::vector<double> values;
          for (std::size_t i = 0; i < kDraws * kChains; ++i)
            values.push_back(e.value(keeper.theta.data() + i * static_cast<std::size_t>(target.dim())));
          testing::compare_with_closed_form(
              e, {values.data(), kDraws, kChains, kChains, 1, use.other_chains ? kChains : 1});
        }
      }
  }
};

INSTANTIATE_TEST_SUITE_P(Backends, Conjugate, ::testing::Values(Backend::cpu, Backend::cuda),
                         [](const auto& backend) {
                           return std::string(backend.param == Backend::cpu ? "cpu" : "cuda");
                         });

// Returns kChains copies of `start` whose elements i are moved by a few times step[i].
std::vector<double> spread_starts(const std::vector<double>& start, const std::vector<double>& step) {
  std::vector<double> starts;
  const device::RandomSource random{17, 0, 0};
  for (std::size_t c = 0; c < kChains; ++c)
    for (std::size_t i = 0; i < start.size(); ++i)
      starts.push_back(start[i] + step[i] * random.normal(device::Purpose::start,
                                                          static_cast<device::u32>(c * start.size() + i)));
  return starts;
}

Expected normal(const std::string& name, int i, double mean, double sd) {
  return {name, element(i), mean, sd, quantiles_of(boost::math::normal(mean, sd))};
}

Expected student_t(const std::string& name, const std::function<double(const double*)>& value, double degrees,
                   double location, double scale) {
  Expected expected{name, value, location, scale * std::sqrt(degrees / (degrees - 2)),
                    quantiles_of(boost::math::students_t(degrees))};
  for (double& q : expected.quantiles) q = location + scale * q;
  return expected;
}

// Returns the distribution of the square root of an inverse gamma(a, b) variable.
Expected root_of_inverse_gamma(const std::string& name, int i, double a, double b) {
  const double mean = std::sqrt(b) * std::exp(std::lgamma(a - 0.5) - std::lgamma(a));
  Expected expected{name, element(i), mean, std::sqrt(b / (a - 1) - mean * mean),
                    quantiles_of(boost::math::inverse_gamma(a, b))};
  for (double& q : expected.quantiles) q = std::sqrt(q);
  return expected;
}

// With known scales s_j and normal(m, t) priors, the posterior of mean j is normal with precision 1/t^2 +
// N/s_j^2.
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

// With flat priors on mean and sd of N numbers, sd^2 is inverse gamma((N - 2) / 2, S / 2), where S is the sum
// of squares about their mean, and the mean has a t distribution with N - 2 degrees of freedom.
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
  const Expected scale = root_of_inverse_gamma("scale", 2, degrees / 2, squares / 2);
  compare({"gaussian_mixture", 1}, mixture.data,
          Target(testing::mixture_layout(1, 1), prior, std::vector<double>(1, 1.0)),
          spread_starts({1, mean, scale.mean}, {0, unit, 0.1 * unit}),
          {student_t("mean", element(1), degrees, mean, unit), scale});
}

// With one component, a known full covariance S and normal(m, t) priors, the precision is I/t^2 + N S^-1.
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

/// Rows of two correlated columns, with their mean and the sums of squares and products about it.
struct Sample {
  static constexpr std::size_t rows = 40;
  DataSet data;
  Eigen::Vector2d mean = Eigen::Vector2d::Zero();
  Eigen::Matrix2d squares = Eigen::Matrix2d::Zero();

  Sample()
      : data(DataSet::single_segment(
            2, simulate_rows({"gaussian_mixture", 1, "full"}, 2,
                             std::vector<double>{1, 0.5, -1, 1.2, 0.5, 0.6}, rows, 8))) {
    const auto row = [&](std::size_t i) { return Eigen::Map<const Eigen::Vector2d>(&data.values[2 * i]); };
    for (std::size_t i = 0; i < rows; ++i) mean += row(i) / rows;
    for (std::size_t i = 0; i < rows; ++i) squares += (row(i) - mean) * (row(i) - mean).transpose();
  }
};

PriorSet flat_prior() {
  PriorSet prior;
  prior.scale_floor = 0;
  prior.blocks["weights"] = {PriorFamily::fixed, {number(1.0)}};
  prior.blocks["means"] = {PriorFamily::uniform, {number(-1000), number(1000)}};
  prior.blocks["scales"] = {PriorFamily::uniform, {number(0), number(1000)}};
  return prior;
}

// Priors are flat, and each column has the posterior of MeanAndScaleTogether.
TEST_P(Conjugate, MeansAndScalesOfTwoColumns) {
  const Sample sample;
  const double degrees = Sample::rows - 2;
  std::vector<Expected> expected;
  std::vector<double> start{1, sample.mean[0], sample.mean[1]};
  for (int j = 0; j < 2; ++j) {
    const double squares = sample.squares(j, j);
    expected.push_back(student_t("mean " + std::to_string(j), element(1 + j), degrees, sample.mean[j],
                                 std::sqrt(squares / (degrees * Sample::rows))));
    expected.push_back(root_of_inverse_gamma("scale " + std::to_string(j), 3 + j, degrees / 2, squares / 2));
    start.push_back(expected.back().mean);
  }
  compare({"gaussian_mixture", 1}, sample.data,
          Target(testing::mixture_layout(1, 2), flat_prior(), std::vector<double>(2, 1.0)),
          spread_starts(start, {0, 0.2, 0.2, 0.05, 0.05}), expected);
}

// With one scale for d columns and flat priors, s^2 is inverse gamma((d (N - 1) - 1) / 2, trace(S) / 2) if
// the means are integrated out.
TEST_P(Conjugate, MeansAndTheScaleOfASphericalComponent) {
  const Sample sample;
  const double a = 0.5 * (2.0 * (Sample::rows - 1) - 1), b = 0.5 * sample.squares.trace();
  std::vector<Expected> expected{root_of_inverse_gamma("scale", 3, a, b)};
  for (int j = 0; j < 2; ++j)
    expected.push_back(student_t("mean " + std::to_string(j), element(1 + j), 2 * a, sample.mean[j],
                                 std::sqrt(b / (a * Sample::rows))));
  const ModelSpec model{"gaussian_mixture", 1, "spherical"};
  compare(model, sample.data, Target(model_layout(model, 2), flat_prior(), std::vector<double>(2, 1.0)),
          spread_starts({1, sample.mean[0], sample.mean[1], expected[0].mean}, {0, 0.2, 0.2, 0.05}),
          expected);
}

// Compares the posterior of a covariance Sigma of d columns. |d Sigma / d (s, R)| is 2^d prod s^d, so that
// lkj(eta) and densities of s proportional to s^(d - 2 + 2 eta), gammas with a rate near 0, give a density of
// Sigma proportional to |Sigma|^(eta - 1). With flat means the posterior is inverse Wishart(S, nu) with nu =
// N - d - 2 eta. For its Cholesky factor, L00^2 is inverse gamma((nu - 1) / 2, S00 / 2), the slope L10 / L00
// is t(nu) about S01 / S00, and L11^2 is inverse gamma(nu / 2, (S11 - S01^2 / S00) / 2); a mean is t(nu - 1)
// (Gelman et al. 2013, "Bayesian data analysis", section 3.6).
void compare_inverse_wishart(const std::string& covariance, double eta, const auto& compare) {
  const Sample sample;
  const Eigen::Matrix2d& S = sample.squares;
  const double nu = Sample::rows - 2 - 2 * eta, rest = S(1, 1) - S(0, 1) * S(0, 1) / S(0, 0);
  PriorSet prior = flat_prior();
  prior.blocks["scales"] = {PriorFamily::gamma, {number(1 + 2 * eta), number(1e-9)}};
  prior.blocks["correlations"] = {PriorFamily::lkj, {number(eta)}};
  std::vector<Expected> expected{root_of_inverse_gamma("L00", 3, 0.5 * (nu - 1), 0.5 * S(0, 0)),
                                 root_of_inverse_gamma("L11", 5, 0.5 * nu, 0.5 * rest),
                                 student_t(
                                     "slope", [](const double* theta) { return theta[4] / theta[3]; }, nu,
                                     S(0, 1) / S(0, 0), std::sqrt(rest / (nu * S(0, 0))))};
  for (int j = 0; j < 2; ++j)
    expected.push_back(student_t("mean " + std::to_string(j), element(1 + j), nu - 1, sample.mean[j],
                                 std::sqrt(S(j, j) / ((nu - 1) * Sample::rows))));
  const ModelSpec model{"gaussian_mixture", 1, covariance};
  const std::vector<double> start{1,
                                  sample.mean[0],
                                  sample.mean[1],
                                  expected[0].mean,
                                  expected[0].mean * expected[2].mean,
                                  expected[1].mean};
  compare(model, sample.data, Target(model_layout(model, 2), prior, std::vector<double>(2, 1.0)),
          spread_starts(start, {0, 0.2, 0.2, 0.05, 0.05, 0.05}), expected);
}

TEST_P(Conjugate, MeansAndAFullCovariance) {
  compare_inverse_wishart("full", 1, [this](const auto&... all) { compare(all...); });
}

TEST_P(Conjugate, MeansAndATiedCovariance) {
  compare_inverse_wishart("tied", 2.5, [this](const auto&... all) { compare(all...); });
}

// The components are so far from each other that the component of each row is known. The posterior of the
// weights is therefore Dirichlet with the counts added.
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
    expected.push_back({"weight " + std::to_string(k), element(k), boost::math::mean(marginal),
                        boost::math::standard_deviation(marginal), quantiles_of(marginal)});
  }
  std::vector<double> starts;
  for (std::size_t c = 0; c < kChains; ++c) {
    const double first = 0.2 + 0.02 * static_cast<double>(c),
                 second = 0.5 - 0.02 * static_cast<double>(c * c % 5);
    starts.insert(starts.end(), {first, second, 1 - first - second, -100, 0, 100, 1, 1, 1});
  }
  compare({"gaussian_mixture", K}, DataSet::single_segment(1, values),
          Target(testing::mixture_layout(K, 1), prior, std::vector<double>(1, 1.0)), starts, expected);
}

}  // namespace
}  // namespace emomc
