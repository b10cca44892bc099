#include "emomc/likelihood/mixture_start.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "random_mixture.hpp"

namespace emomc {
namespace {

double log_likelihood(const testing::MixtureProblem& p, const std::vector<double>& theta) {
  return testing::Evaluator(Backend::cpu, {"gaussian_mixture", p.K}, Precision::float64, p.data)(theta)[0];
}

TEST(MixturePool, EmReachesTheTruthsLikelihood) {
  const auto p = testing::random_problem(4, 3, 4000, 51, 6);
  const MixturePool pool(p.data, {"gaussian_mixture", 4}, {.seed = 7});
  const double truth = log_likelihood(p, p.theta);
  const ShortFit& best = pool.fits().at(pool.best());
  EXPECT_NEAR(log_likelihood(p, best.theta), best.log_likelihood, 1e-9 * std::abs(truth));
  EXPECT_GT(best.log_likelihood, log_likelihood(p, best.origin));
  // The maximum is expected above the truth by about half of the number of parameters.
  EXPECT_GT(best.log_likelihood, truth);
  EXPECT_LT(best.log_likelihood, truth + 4 * 28);
}

TEST(MixturePool, IsAFunctionOfTheSeedAndNotOfTheThreads) {
  const auto p = testing::random_problem(3, 2, 500, 52);
  const ModelSpec model{"gaussian_mixture", 3};
  const MixturePool a(p.data, model, {.seed = 7, .num_threads = 1}),
      b(p.data, model, {.seed = 7, .num_threads = 3}), c(p.data, model, {.seed = 8, .num_threads = 1});
  ASSERT_EQ(a.fits().size(), static_cast<std::size_t>(MixturePool::kSeeded));
  ASSERT_EQ(b.fits().size(), a.fits().size());
  int different = 0;
  for (std::size_t i = 0; i < a.fits().size(); ++i) {
    EXPECT_EQ(a.fits()[i].theta, b.fits()[i].theta);
    different += a.fits()[i].origin != c.fits()[i].origin;
  }
  EXPECT_GT(different, MixturePool::kSeeded / 2);
}

TEST(MixturePartitions, AreWhereThePoolsFitsBeginAndDifferByIndex) {
  const auto p = testing::random_problem(3, 2, 500, 52);
  for (const char* covariance : {"diagonal", "full", "tied", "spherical"}) {
    const ModelSpec model{"gaussian_mixture", 3, covariance};
    const MixturePool pool(p.data, model, {.seed = 7});
    const MixturePartitions partitions(p.data, model);
    EXPECT_EQ(partitions.fitted(), model);
    ASSERT_EQ(pool.fits().size(), static_cast<std::size_t>(MixturePool::kSeeded));
    for (std::size_t i = 0; i < pool.fits().size(); ++i)
      EXPECT_EQ(partitions.start(pool.fits()[i].seeding, 7, static_cast<std::uint32_t>(i)),
                pool.fits()[i].origin)
          << covariance << ", fit " << i;
    EXPECT_NE(partitions.start(Seeding::kmeans, 7, 0), partitions.start(Seeding::kmeans, 7, 1));
    EXPECT_NE(partitions.start(Seeding::kmeans, 7, 0), partitions.start(Seeding::kmeans, 8, 0));
  }
  const MixturePartitions stand_in(p.data, {"student_t_mixture", 3});
  EXPECT_EQ(stand_in.fitted().name, "gaussian_mixture");
}

TEST(MixturePool, CopesWithFewAndEqualRows) {
  const DataSet data = DataSet::single_segment(1, {1, 1, 1, 1, 2});
  const MixturePool pool(data, {"gaussian_mixture", 4}, {.seed = 1});
  ASSERT_FALSE(pool.fits().empty());
  for (const ShortFit& fit : pool.fits()) {
    double sum = 0;
    for (std::size_t k = 0; k < 4; ++k) sum += fit.origin[k];
    EXPECT_NEAR(sum, 1, 1e-12);
    for (const double x : fit.theta) EXPECT_TRUE(std::isfinite(x));
    for (std::size_t i = 8; i < 12; ++i) EXPECT_GT(fit.theta[i], 0);
  }
}

// Two groups of 40 rows with sd 0.01 and a distance of 1.2 are among 200 rows with sd 20. k-means joins the
// two groups (with the seed of this test; with all 64 fits from k-means++ the best is 137 lower).
TEST(MixturePool, FindsTightGroupsInAWideOne) {
  const device::RandomSource random{5, 0, 0};
  std::vector<double> x;
  for (std::uint32_t i = 0; i < 280; ++i) {
    const double z = random.normal(device::Purpose::simulation, i);
    x.push_back(i < 40 ? 0.01 * z : i < 80 ? 1.2 + 0.01 * z : 20 * z);
  }
  const DataSet data = DataSet::single_segment(1, x);
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const MixturePool pool(data, {"gaussian_mixture", 3}, {.seed = seed});
    double by_kmeans = -1e300;
    for (const ShortFit& fit : pool.fits())
      if (fit.seeding == Seeding::kmeans) by_kmeans = std::max(by_kmeans, fit.log_likelihood);
    EXPECT_GT(pool.fits()[pool.best()].log_likelihood, by_kmeans + 50) << seed;
  }
}

// With an offset of 1e6 sds the columns must be centred before squares are computed.
TEST(MixturePool, FitsRowsFarFromTheOrigin) {
  const auto p = testing::random_problem(2, 2, 400, 54, 6);
  DataSet far = p.data;
  for (double& x : far.values) x += 1e6;
  const ModelSpec model{"gaussian_mixture", 2};
  const MixturePool here(p.data, model, {.seed = 1}), there(far, model, {.seed = 1});
  EXPECT_NEAR(there.fits()[there.best()].log_likelihood, here.fits()[here.best()].log_likelihood, 0.01);
}

// There are 9,000 rows, of which a pool uses 8,000.
TEST(MixturePool, RefinesOnAllRows) {
  const auto p = testing::random_problem(2, 1, 9000, 55, 6);
  const MixturePool pool(p.data, {"gaussian_mixture", 2}, {.seed = 1});
  EXPECT_EQ(pool.rows().num_rows, 8000u);
  const ShortFit refined = pool.refined(pool.fits()[pool.best()]).value();
  EXPECT_GT(refined.log_likelihood, log_likelihood(p, pool.fits()[pool.best()].theta));
  EXPECT_NEAR(refined.log_likelihood, log_likelihood(p, refined.theta),
              1e-6 * std::abs(refined.log_likelihood));
}

// A row that the pool does not use has density zero at the pool's fits.
TEST(MixturePool, AFitThatCannotBeRefinedOnAllRowsHasNoLogLikelihoodOfThem) {
  auto p = testing::random_problem(2, 1, 9000, 55, 6);
  const MixturePool before(p.data, {"gaussian_mixture", 2}, {.seed = 1});
  const auto& used = before.rows().values;
  std::size_t at = 0;
  while (std::find(used.begin(), used.end(), p.data.values[at]) != used.end()) ++at;
  p.data.values[at] = 1e200;
  const MixturePool pool(p.data, {"gaussian_mixture", 2}, {.seed = 1});
  ASSERT_EQ(pool.rows().values, used);
  EXPECT_FALSE(pool.refined(pool.fits()[pool.best()]).has_value());
}

// The mixture has two components in two columns with scales (1, 2) and (3, 4), and weights 1/4 and 3/4.
TEST(MixturePool, ADiagonalMixtureFitsInEveryLayout) {
  const std::vector<double> diagonal{0.25, 0.75, 0, 1, 2, 3, 1, 2, 3, 4};
  const auto converted = [&](const char* covariance) {
    return in_layout(model_layout({"gaussian_mixture", 2, covariance}, 2), diagonal);
  };
  const auto tail = [](const std::vector<double>& theta) {
    return std::vector<double>(theta.begin() + 6, theta.end());
  };
  EXPECT_EQ(converted("diagonal"), diagonal);
  EXPECT_EQ(tail(converted("spherical")), (std::vector<double>{std::sqrt(2.5), std::sqrt(12.5)}));
  EXPECT_EQ(tail(converted("full")), (std::vector<double>{1, 0, 2, 3, 0, 4}));
  EXPECT_EQ(tail(converted("tied")),
            (std::vector<double>{std::sqrt(0.25 + 0.75 * 9), 0, std::sqrt(1 + 0.75 * 16)}));
}

}  // namespace
}  // namespace emomc
