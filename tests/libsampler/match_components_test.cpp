// Tests the matching of components over draws: results that must not depend on labels, how well the result is
// determined, and when two components are indistinguishable.
#include <gtest/gtest.h>

#include "emomc/sampler/convergence.hpp"
#include "posterior_draws.hpp"

namespace emomc {
namespace {

using testing::MixturePosterior;
using testing::Permuted;
using testing::Shape;

// Returns posteriors whose components are separated, overlapping, indistinguishable, with full covariances,
// or nearly empty, and one of two Gaussians with a common mean.
std::vector<MixturePosterior> posteriors() {
  return {{Shape::diagonal, {0.5, 0.3, 0.2}, {{0, -3}, {0, 3}, {8, 0}}},
          {Shape::diagonal, {0.3, 0.4, 0.3}, {{0}, {1}, {2.2}}, 0.35, 0.2},
          {Shape::diagonal, {0.25, 0.25, 0.25, 0.25}, {{0}, {0}, {0}, {0}}, 0.3, 0.3},
          {Shape::full, {0.5, 0.3, 0.2}, {{0, 0}, {0.7, 0}, {2, 1}}, 0.2, 0.2},
          {Shape::diagonal, {0.7, 0.3, 1e-14}, {{0, 0}, {4, 0}, {1, 3}}, 0.5, 0.2},
          {Shape::pair, {0.6, 0.4}, {{0}, {0.4}}, 0.1, 0.2}};
}

std::vector<double> numbers_of(const QuantitySummary& s) {
  return {s.mean, s.sd, s.q5, s.q50, s.q95, s.mcse_mean, s.mcse_sd, s.ess_bulk, s.ess_tail, s.rhat};
}

DrawDiagnostics renumbered(const DrawSet& set, bool ordered_by_prior = false) {
  ThreadPool threads(2);
  return diagnose_draws(set, Numbering::mended, ordered_by_prior, threads);
}

// Expects equal draws, summaries and verdicts. They must be bitwise equal, except for rounding for two
// Gaussians, whose second weight is not stored.
void expect_same(const DrawDiagnostics& a, const DrawDiagnostics& b, double tolerance) {
  const auto near = [&](double x, double y) {
    return (std::isnan(x) && std::isnan(y)) || std::abs(x - y) <= tolerance * (1 + std::abs(x));
  };
  ASSERT_EQ(a.draws.values.size(), b.draws.values.size());
  std::size_t different = 0;
  for (std::size_t i = 0; i < a.draws.values.size(); ++i)
    different += !near(a.draws.values[i], b.draws.values[i]);
  EXPECT_EQ(different, 0u);
  for (std::size_t q = 0; q < a.summaries.size(); ++q) {
    const auto x = numbers_of(a.summaries[q]), y = numbers_of(b.summaries[q]);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_TRUE(near(x[i], y[i])) << a.draws.names[q] << " " << i;
  }
  EXPECT_EQ(a.labels, b.labels);
  EXPECT_TRUE(near(a.overlap.share, b.overlap.share));
  EXPECT_EQ(a.overlap.first, b.overlap.first);
  EXPECT_EQ(a.overlap.second, b.overlap.second);
  EXPECT_EQ(a.numbered_by, b.numbered_by);
  const ConvergenceVerdict u = judge_convergence(a), v = judge_convergence(b);
  EXPECT_EQ(u.converged(), v.converged());
  EXPECT_EQ(u.labels_unmended, v.labels_unmended);
  EXPECT_EQ(u.label_free.rhat, v.label_free.rhat);
  EXPECT_EQ(u.parameters.rhat, v.parameters.rhat);
  EXPECT_EQ(u.parameters.ess, v.parameters.ess);
}

TEST(MatchComponents, NothingDependsOnTheLabelsOfTheDraws) {
  std::size_t p = 0;
  for (const MixturePosterior& posterior : posteriors()) {
    SCOPED_TRACE(p++);
    const DrawSet set = testing::draws_of(posterior, 4, 300, 17);
    const DrawDiagnostics run = renumbered(set);
    EXPECT_NE(run.labels, Labels::as_sampled);
    const double tolerance = posterior.shape == Shape::pair ? 1e-12 : 0;
    for (const Permuted how : {Permuted::by_chain, Permuted::by_draw})
      for (const std::uint64_t seed : {1, 2}) {
        const DrawSet other = testing::with_permuted_labels(set, how, seed);
        ASSERT_NE(other.values, set.values);
        expect_same(run, renumbered(other), tolerance);
      }
  }
}

// Labels that change at every draw give all weights a mean of 1 / K; no diagnostic shows a fault.
TEST(MatchComponents, LabelsThatSwitchAtEveryDrawGiveProperComponents) {
  const MixturePosterior posterior{Shape::diagonal, {0.4, 0.3, 0.2, 0.1}, {{-4, 0}, {0, 0}, {0, 5}, {6, 1}}};
  const DrawSet set =
      testing::with_permuted_labels(testing::draws_of(posterior, 4, 500, 3), Permuted::by_draw, 9);
  EXPECT_NEAR(draws_mean(set.view(1)), 0.25, 0.02);
  const DrawDiagnostics run = renumbered(set);
  EXPECT_EQ(run.labels, Labels::relabelled);
  EXPECT_LT(run.overlap.share, 0.002);
  EXPECT_TRUE(judge_convergence(run).converged());
  // The second and third component have the same mean in the first column, so that their order is arbitrary.
  const std::size_t second = run.summaries[7].mean < 2.5 ? 1 : 2;
  const std::size_t numbers[] = {0, second, 3 - second, 3};
  for (std::size_t k = 0; k < 4; ++k) {
    const QuantitySummary& weight = run.summaries[1 + numbers[k]];
    EXPECT_NEAR(weight.mean, posterior.weights[k], 0.01);
    for (std::size_t j = 0; j < 2; ++j) {
      const QuantitySummary& mean = run.summaries[5 + 2 * numbers[k] + j];
      // The probability of a false alarm is 4e-8 for each comparison.
      EXPECT_NEAR(mean.mean, posterior.means[k][j], 5.5 * mean.mcse_mean);
      EXPECT_NEAR(mean.sd, posterior.sd_of_means, 5.5 * mean.mcse_sd);
    }
  }
}

// The first draws, with which the starts begin and by which they are compared, must not matter. The test
// rotates the draws of each chain.
TEST(MatchComponents, TheChoiceOfDrawsToLearnFromMattersLessThanHalfTheMcse) {
  std::size_t p = 0;
  for (const MixturePosterior& posterior : posteriors()) {
    SCOPED_TRACE(p++);
    if (p == 3) continue;  // equal components
    const DrawSet set = testing::draws_of(posterior, 4, 3000, 23);
    const DrawDiagnostics run = renumbered(set);
    for (const std::size_t shift : {1, 1234}) {
      DrawSet other = set;
      for (auto chain = other.values.begin(); chain != other.values.end();
           chain += static_cast<std::ptrdiff_t>(set.num_draws))
        std::rotate(chain, chain + static_cast<std::ptrdiff_t>(shift),
                    chain + static_cast<std::ptrdiff_t>(set.num_draws));
      const DrawDiagnostics rotated = renumbered(other);
      for (std::size_t q = 1; q < run.first_label_free; ++q)
        EXPECT_LT(std::abs(run.summaries[q].mean - rotated.summaries[q].mean),
                  0.5 * run.summaries[q].mcse_mean)
            << run.draws.names[q];
    }
  }
}

// The means of two components are wide and equal in the first column, and narrow and separated in the second.
// In the order of the first column, where the draws of the means differ most, both have the same means in the
// second, and no change of a single draw improves the matching: a local minimum, with V = 3.7 x 2 instead of
// 5 x 1.
TEST(MatchComponents, TheBestOfSeveralStartsIsTaken) {
  DrawSet set = testing::draws_of({Shape::diagonal, {0.5, 0.5}, {{0, -1}, {0, 1}}, 0.05, 0.05}, 4, 500, 11);
  ASSERT_EQ(set.names[3], "means[0,0]");
  ASSERT_EQ(set.names[5], "means[1,0]");
  for (const std::size_t q : {3, 5})
    for (double& mean : set.quantity(q)) mean *= 40;  // an sd of 2
  const DrawDiagnostics run = renumbered(testing::with_permuted_labels(set, Permuted::by_draw, 4));
  const double lower = std::min(run.summaries[4].mean, run.summaries[6].mean),
               upper = std::max(run.summaries[4].mean, run.summaries[6].mean);
  EXPECT_NEAR(lower, -1, 0.01);
  EXPECT_NEAR(upper, 1, 0.01);
  EXPECT_NEAR(run.summaries[4].sd, 0.05, 0.01);
  EXPECT_LT(run.overlap.share, 0.001);
}

// The MCSE of a renumbered mean ignores the uncertainty of the matching, which is learnt from the same draws.
// Over 40 runs the spread of the means of overlapping components is 1.1 to 1.2 times as large. The bound is
// 1.3 times the 1 - 1e-6 quantile of sqrt(chi-square(39) / 39), 1.59.
TEST(MatchComponents, MeansOfOverlappingComponentsSpreadOverRunsAsTheirMcseSays) {
  constexpr std::size_t kRuns = 40;
  const MixturePosterior posterior = posteriors()[1];
  std::vector<std::vector<double>> means;
  std::vector<double> mcse;
  for (std::size_t r = 0; r < kRuns; ++r) {
    const DrawDiagnostics run = renumbered(
        testing::with_permuted_labels(testing::draws_of(posterior, 4, 500, 100 + r), Permuted::by_draw, r));
    means.emplace_back();
    mcse.resize(run.first_label_free, 0.0);
    for (std::size_t q = 1; q < run.first_label_free; ++q) {
      means.back().push_back(run.summaries[q].mean);
      mcse[q] += run.summaries[q].mcse_mean / kRuns;
    }
  }
  for (std::size_t q = 1; q < mcse.size(); ++q) {
    double mean = 0, square = 0;
    for (const auto& run : means) mean += run[q - 1] / kRuns;
    for (const auto& run : means) square += (run[q - 1] - mean) * (run[q - 1] - mean);
    EXPECT_LT(std::sqrt(square / (kRuns - 1)), 1.3 * 1.59 * mcse[q]) << q;
  }
}

// The distance of two means is a multiple of the sd of their difference.
TEST(MatchComponents, OverlapSaysHowFarComponentsCannotBeToldApart) {
  const auto overlap = [](double distance) {
    const MixturePosterior posterior{Shape::diagonal, {0.5, 0.5}, {{0}, {distance}}, std::sqrt(0.5), 0.001};
    return renumbered(
        testing::with_permuted_labels(testing::draws_of(posterior, 4, 2000, 31), Permuted::by_draw, 2));
  };
  // The share is P(|z| < a tenth of the median |z|) with z ~ N(distance, 1), within 5 standard errors of
  // 8,000 draws.
  for (const auto& [distance, share] :
       {std::pair{0.0, 0.0538}, {1.0, 0.0501}, {2.0, 0.0214}, {3.0, 0.0031}}) {
    const DrawDiagnostics run = overlap(distance);
    EXPECT_NEAR(run.overlap.share, share, 5 * std::sqrt(share / 8000)) << distance;
    EXPECT_EQ(run.overlap.first, 0);
    EXPECT_EQ(run.overlap.second, 1);
  }
  EXPECT_EQ(overlap(1).labels, Labels::unmended);
  EXPECT_TRUE(judge_convergence(overlap(1)).labels_unmended);
  EXPECT_TRUE(judge_convergence(overlap(1)).converged());  // the draws represent the posterior correctly
  EXPECT_EQ(overlap(3).labels, Labels::relabelled);
  EXPECT_LT(overlap(4.5).overlap.share, 0.001);
}

// One mean ends with an R-hat of 1.013. This is a fault of this mean, and not of the labels.
TEST(MatchComponents, OneRhatAboveItsBoundIsOfThatParameter) {
  const MixturePosterior posterior{Shape::diagonal, {0.5, 0.3, 0.2}, {{0, -3}, {0, 3}, {8, 0}}};
  DrawSet set = testing::draws_of(posterior, 4, 1000, 41);
  const std::size_t shifted = 1 + 3 + 2 * 2 + 1, q = 1 + 3 + 2 * 1 + 1;
  ASSERT_EQ(set.names[shifted], "means[2,1]");
  // Two chains are 0.29 sds away from the two others.
  for (std::size_t c = 0; c < 4; ++c)
    for (std::size_t i = 0; i < set.num_draws; ++i)
      set.quantity(shifted)[c * set.num_draws + i] += (c % 2 ? 0.145 : -0.145) * posterior.sd_of_means;
  const DrawDiagnostics run = renumbered(with_permuted_labels(set, Permuted::by_chain, 3));
  EXPECT_EQ(run.labels, Labels::relabelled);
  EXPECT_EQ(run.numbered_by, "means[k,1]");  // the third component becomes number 1
  EXPECT_NEAR(run.summaries[q].rhat, 1.0135, 0.004);
  const ConvergenceVerdict verdict = judge_convergence(run);
  EXPECT_FALSE(verdict.labels_unmended);
  for (std::size_t other = 1; other < run.first_label_free; ++other)
    EXPECT_TRUE(other == q || run.summaries[other].rhat < 1.01) << run.draws.names[other];
}

// Another run of the same posterior gets the same numbers, which follow from the parameter that distinguishes
// the components.
TEST(MatchComponents, NumbersGoByWhatTellsTheComponentsApart) {
  struct Case {
    MixturePosterior posterior;
    const char* key;
    std::size_t quantity;  // for component number 0
    double mean;
  };
  const Case cases[] = {
      {{Shape::diagonal, {0.2, 0.8}, {{3, 0}, {0, 0}}}, "means[k,0]", 3, 0},
      {{Shape::diagonal, {0.2, 0.8}, {{0, 2}, {0, -2}}}, "means[k,1]", 4, -2},
      {{Shape::diagonal, {0.05, 0.95}, {{0, 0}, {0, 0}}, 0.5}, "weights[k]", 1, 0.95},
      {{Shape::pair, {0.4, 0.6}, {{1}, {0}}}, "sigma[k]", 3, 1},
  };
  for (const Case& c : cases)
    for (const std::uint64_t seed : {1, 2, 3, 4}) {
      const DrawDiagnostics run = renumbered(testing::with_permuted_labels(
          testing::draws_of(c.posterior, 4, 300, seed), Permuted::by_draw, seed));
      EXPECT_EQ(run.numbered_by, c.key);
      EXPECT_NEAR(run.summaries[c.quantity].mean, c.mean, 0.06) << c.key;
    }
}

TEST(MatchComponents, WhatThePriorNumbersStaysAsItIs) {
  const DrawSet set =
      testing::with_permuted_labels(testing::draws_of(posteriors()[0], 4, 200, 5), Permuted::by_draw, 1);
  const DrawDiagnostics run = renumbered(set, true);
  EXPECT_EQ(run.labels, Labels::as_sampled);
  for (std::size_t i = 0; i < set.values.size(); ++i) ASSERT_EQ(run.draws.values[i], set.values[i]);
  // Quantities that do not depend on labels are bitwise equal for all numberings.
  const DrawDiagnostics other = renumbered(set);
  for (std::size_t q = run.first_label_free; q < run.summaries.size(); ++q)
    EXPECT_EQ(run.summaries[q].mean, other.summaries[q].mean);
}

TEST(MatchComponents, DrawsThatAreNotFiniteStayOutOfIt) {
  DrawSet set = testing::draws_of(posteriors()[0], 2, 100, 5);
  ThreadPool threads(2);
  apply(relabel_by_order(set, *find_mixture(set)), set);
  DrawSet broken = set;
  broken.quantity(5)[17] = std::nan("");
  broken.quantity(8)[117] = INFINITY;
  const auto whole = match_components(set, *find_mixture(set), threads);
  const auto with_holes = match_components(broken, *find_mixture(set), threads);
  for (std::size_t i = 0; i < 200; ++i)
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_TRUE(i == 17 || i == 117 ||
                  whole.relabelling.permutation[3 * i + k] == with_holes.relabelling.permutation[3 * i + k])
          << i;
  for (double& x : broken.values) x = std::nan("");
  EXPECT_TRUE(match_components(broken, *find_mixture(set), threads).relabelling.changes_nothing());
}

// The units are 2^660 and 2^-660, whose squares overflow or underflow a double.
TEST(MatchComponents, ResultsDoNotDependOnTheUnitsOfTheColumns) {
  for (const std::size_t p : {0, 1, 3}) {
    SCOPED_TRACE(p);
    const DrawSet set = testing::draws_of(posteriors()[p], 4, 200, 19);
    const auto mixture = find_mixture(set);
    ThreadPool threads(2);
    const auto matched = match_components(set, *mixture, threads);
    EXPECT_FALSE(matched.relabelling.changes_nothing());
    const std::size_t K = static_cast<std::size_t>(mixture->num_components),
                      d = static_cast<std::size_t>(mixture->num_columns);
    for (const int power : {660, -660}) {
      // Covariances have squared units, so that only half of these exponents can be represented.
      const double unit = std::ldexp(1.0, posteriors()[p].shape == Shape::full ? power / 2 : power);
      DrawSet other = set;
      for (std::size_t q = mixture->means; q < mixture->means + K * d; ++q)
        for (double& x : other.quantity(q)) x *= unit;
      for (std::size_t q = mixture->scales; q < other.num_quantities(); ++q)
        for (double& x : other.quantity(q)) x *= posteriors()[p].shape == Shape::full ? unit * unit : unit;
      const auto in_units = match_components(other, *mixture, threads);
      EXPECT_EQ(in_units.relabelling.permutation, matched.relabelling.permutation);
      EXPECT_EQ(in_units.overlap, matched.overlap);
    }
  }
}

// 400 components are sorted by their means.
TEST(MatchComponents, OfHugeModelsEveryDrawIsSorted) {
  MixturePosterior posterior{Shape::diagonal, {}, {}};
  for (int k = 0; k < 400; ++k) {
    posterior.weights.push_back(1.0 / 400);
    posterior.means.push_back({k / 10.0});
  }
  const DrawSet set = testing::draws_of(posterior, 2, 300, 19);
  const DrawDiagnostics run = renumbered(set);
  expect_same(run, renumbered(testing::with_permuted_labels(set, Permuted::by_draw, 1)), 0);
  EXPECT_EQ(run.numbered_by, "the first column's mean in each draw");
  for (std::size_t k = 1; k < 400; ++k)
    EXPECT_LT(run.summaries[401 + k - 1].mean, run.summaries[401 + k].mean);
}

TEST(MatchComponents, ResultsDoNotDependOnTheNumberOfThreads) {
  DrawSet set = testing::draws_of(posteriors()[1], 4, 1000, 7);
  apply(relabel_by_order(set, *find_mixture(set)), set);
  ThreadPool one(1), three(3);
  const auto a = match_components(set, *find_mixture(set), one),
             b = match_components(set, *find_mixture(set), three);
  EXPECT_EQ(a.relabelling.permutation, b.relabelling.permutation);
  EXPECT_EQ(a.overlap, b.overlap);
}

}  // namespace
}  // namespace emomc
