// Tests draws of known mixtures whose components are renumbered at random: the results that must not change,
// and the numbering that must be restored.
#include "emomc/sampler/mixture_labels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "emomc/device/random.hpp"

namespace emomc {
namespace {

constexpr std::size_t kChains = 3, kDraws = 60;

double normal(std::uint64_t step, std::uint32_t chain, std::uint32_t index) {
  return device::RandomSource{11, step, chain}.normal(device::Purpose::simulation, index);
}

// Returns draws of three components in two columns. The first two have the same mean in the first column, so
// that an order by this column is arbitrary; the third is separated.
DrawSet draws_of(MixtureNames::Spread spread) {
  constexpr int K = 3, d = 2;
  DrawSet set;
  set.program = "emomc";
  for (std::size_t c = 0; c < kChains; ++c) set.chains.push_back(std::to_string(c));
  set.num_draws = kDraws;
  auto& blocks = set.layout.blocks;
  blocks.push_back({"weights", {K}, Support::simplex, DataUnit::none, Influence::weights, 0, -1});
  blocks.push_back({"means", {K, d}, Support::real, DataUnit::location, Influence::component, 0, 1});
  const std::vector<int> shape = spread == MixtureNames::Spread::scales      ? std::vector<int>{K, d}
                                 : spread == MixtureNames::Spread::spherical ? std::vector<int>{K}
                                 : spread == MixtureNames::Spread::tied      ? std::vector<int>{d, d}
                                                                             : std::vector<int>{K, d, d};
  const bool full = spread == MixtureNames::Spread::full, tied = spread == MixtureNames::Spread::tied;
  blocks.push_back({full   ? "covariances"
                    : tied ? "covariance"
                           : "scales",
                    shape, full || tied ? Support::covariance : Support::positive, DataUnit::scale,
                    Influence::component, tied ? -1 : 0, -1});
  for (const char* name : {"log_density", "log_likelihood", "log_prior"}) set.add(name);
  set.num_log_densities = 3;
  for (const auto& name : element_names(set.layout)) set.add(name);
  const double means[K][d] = {{0, -3}, {0, 3}, {8, 0}}, weights[K] = {0.5, 0.3, 0.2};
  for (std::uint32_t c = 0; c < kChains; ++c)
    for (std::size_t i = 0; i < kDraws; ++i) {
      std::uint32_t index = 0;
      const auto noise = [&] { return 0.05 * normal(i, c, index++); };
      std::vector<double> x{noise(), noise(), noise()};  // log densities
      double w[K], sum = 0;
      for (int k = 0; k < K; ++k) sum += w[k] = weights[k] * std::exp(noise());
      for (double value : w) x.push_back(value / sum);
      for (const auto& mean : means)
        for (double value : mean) x.push_back(value + noise());
      const int spreads = blocks[2].size();
      for (int s = 0; s < spreads; ++s) {
        const bool off_diagonal = (full || tied) && s % 3 == 1;
        x.push_back(off_diagonal ? 0.3 + noise() : std::exp(noise()));
      }
      for (std::size_t q = 0; q < x.size(); ++q) set.values[(q * kChains + c) * kDraws + i] = x[q];
    }
  return set;
}

// Permutes the labels separately for each draw, or for each chain.
DrawSet shuffled(DrawSet set, bool every_draw) {
  Relabelling shuffle{3, {}};
  for (std::uint32_t c = 0; c < kChains; ++c)
    for (std::size_t i = 0; i < kDraws; ++i) {
      std::vector<int> order{0, 1, 2};
      const device::RandomSource random{5, every_draw ? i : 0, c};
      for (std::uint32_t k = 3; k > 1; --k)
        std::swap(order[k - 1],
                  order[static_cast<std::size_t>(random.uniform(device::Purpose::choice, k) * k)]);
      shuffle.permutation.insert(shuffle.permutation.end(), order.begin(), order.end());
    }
  apply(shuffle, set);
  return set;
}

void renumber(DrawSet& set, ThreadPool& threads) {
  const auto mixture = find_mixture(set);
  apply(relabel_by_order(set, *mixture), set);
  apply(match_components(set, *mixture, threads).relabelling, set);
}

const MixtureNames::Spread kSpreads[] = {MixtureNames::Spread::scales, MixtureNames::Spread::spherical,
                                         MixtureNames::Spread::tied, MixtureNames::Spread::full};

TEST(MixtureLabels, MatchingBringsTheComponentsBack) {
  ThreadPool threads(2);
  for (const auto spread : kSpreads)
    for (const bool every_draw : {false, true}) {
      const DrawSet truth = draws_of(spread);
      DrawSet set = shuffled(truth, every_draw);
      ASSERT_NE(set.values, truth.values);
      const auto mixture = find_mixture(set);
      ASSERT_TRUE(mixture);
      EXPECT_EQ(mixture->spread, spread);
      renumber(set, threads);
      // The second column separates all components, whose means are -3, 0 and 3.
      DrawSet ordered = truth;
      Relabelling order{3, {}};
      for (std::size_t i = 0; i < kChains * kDraws; ++i)
        order.permutation.insert(order.permutation.end(), {0, 2, 1});
      apply(order, ordered);
      EXPECT_EQ(set.values, ordered.values) << static_cast<int>(spread);
    }
}

TEST(MixtureLabels, AnOrderByOneColumnCannotTellSuchComponentsApart) {
  const DrawSet truth = draws_of(MixtureNames::Spread::scales);
  DrawSet set = truth;
  const Relabelling order = relabel_by_order(set, *find_mixture(set));
  EXPECT_FALSE(order.changes_nothing());
  apply(order, set);
  const std::size_t first = set.num_log_densities + 3;
  for (std::size_t i = 0; i < kChains * kDraws; ++i)
    for (std::size_t k = 1; k < 3; ++k)
      EXPECT_LE(set.quantity(first + 2 * (k - 1))[i], set.quantity(first + 2 * k)[i]);
  EXPECT_GT(draws_sd(set.view(first + 1)), 1);  // means of -3 and 3 mixed
}

// Three overlapping neighbours have another numbering in each draw, and the middle one is closer to one or
// the other side in turn. Any matching that is the same for all draws is as good as the best one, as for
// components that stay in place.
TEST(MixtureLabels, OverlappingComponentsComeBackToo) {
  constexpr int K = 3;
  DrawSet truth;
  truth.chains = {"0"};
  truth.num_draws = 100;
  truth.layout.blocks = {{"weights", {K}, Support::simplex, DataUnit::none, Influence::weights, 0, -1},
                         {"means", {K, 1}, Support::real, DataUnit::location, Influence::component, 0, 1},
                         {"scales", {K, 1}, Support::positive, DataUnit::scale, Influence::component, 0, 1}};
  truth.add("log_density");
  truth.num_log_densities = 1;
  for (const auto& name : element_names(truth.layout)) truth.add(name);
  Relabelling shuffle{K, {}};
  for (std::size_t i = 0; i < truth.num_draws; ++i) {
    const double means[K] = {0, i % 2 == 0 ? 1.5 : 4.5, 6};
    for (std::size_t k = 0; k < K; ++k) {
      truth.quantity(1 + k)[i] = 1.0 / K;
      truth.quantity(1 + K + k)[i] = means[k] + 0.1 * normal(i, 0, static_cast<std::uint32_t>(k));
      truth.quantity(1 + 2 * K + k)[i] = 1;
    }
    std::vector<int> order{0, 1, 2};
    for (std::uint32_t k = K; k > 1; --k)
      std::swap(order[k - 1], order[static_cast<std::size_t>(
                                  device::RandomSource{6, i, 0}.uniform(device::Purpose::choice, k) * k)]);
    shuffle.permutation.insert(shuffle.permutation.end(), order.begin(), order.end());
  }
  DrawSet set = truth;
  apply(shuffle, set);
  ASSERT_NE(set.values, truth.values);
  ThreadPool threads(2);
  renumber(set, threads);
  EXPECT_EQ(set.values, truth.values);
}

TEST(MixtureLabels, LabelFreeQuantitiesDoNotChange) {
  for (const auto spread : kSpreads) {
    DrawSet set = draws_of(spread), other = shuffled(set, true);
    const auto mixture = find_mixture(set);
    const std::size_t first = append_label_free(set, *mixture);
    EXPECT_EQ(append_label_free(other, *mixture), first);
    EXPECT_EQ(set.names[first], "sorted_weights[0]");
    EXPECT_EQ(set.num_quantities(), first + 3 + 2 + 2 + 2 * 5);
    for (std::size_t q = first; q < set.num_quantities(); ++q)
      for (std::size_t i = 0; i < kChains * kDraws; ++i)
        EXPECT_NEAR(set.quantity(q)[i], other.quantity(q)[i], 1e-13 * (1 + std::abs(set.quantity(q)[i])))
            << set.names[q];
  }
}

TEST(MixtureLabels, PointsHaveTheValuesOfDrawSets) {
  for (const auto spread : kSpreads) {
    DrawSet set = draws_of(spread);
    LabelFreePoint point(set.layout);
    ASSERT_EQ(point.size(), 3u + 2u + 2u);
    const std::size_t first = append_label_free(set, *find_mixture(set));
    std::vector<double> theta, values(point.size());
    for (std::size_t q = 3; q < first; ++q) theta.push_back(set.quantity(q)[17]);
    point.compute(theta, values.data());
    for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], set.quantity(first + i)[17]) << i;
  }
  EXPECT_EQ(LabelFreePoint(ParameterLayout{}).size(), 0u);
}

// The moments of one draw, computed by hand: weights 0.5, 0.3, 0.2, means 0, 0, 8 and sds 1 give the mean 1.6
// and the variance 1 + 0.2 * 64 - 2.56.
TEST(MixtureLabels, MomentsAreThoseOfTheMixture) {
  DrawSet set = draws_of(MixtureNames::Spread::spherical);
  const std::vector<double> draw{0.5, 0.3, 0.2, 0, -3, 0, 3, 8, 0, 1, 1, 1};
  for (std::size_t q = 0; q < draw.size(); ++q)
    for (double& x : set.quantity(3 + q)) x = draw[q];
  const std::size_t first = append_label_free(set, *find_mixture(set));
  EXPECT_NEAR(set.quantity(first + 3)[0], 1.6, 1e-14);
  EXPECT_NEAR(set.quantity(first + 5)[0], std::sqrt(1 + 0.2 * 64 - 2.56), 1e-14);
  EXPECT_NEAR(set.quantity(first + 4)[0], -0.6, 1e-14);
  EXPECT_NEAR(set.quantity(first + 6)[0], std::sqrt(1 + 0.8 * 9 - 0.36), 1e-14);
  // The sd of 3.35 gives points at a distance of 4, and 0 is the point nearest to the mean.
  const auto density = [](double x) { return std::exp(-0.5 * x * x) / std::sqrt(2 * M_PI); };
  EXPECT_NEAR(set.quantity(first + 7 + 2)[0], 0.8 * density(0) + 0.2 * density(8), 1e-14);
  EXPECT_NEAR(set.quantity(first + 7 + 3)[0], 0.8 * density(4) + 0.2 * density(4), 1e-14);
}

TEST(MixtureLabels, DensitiesOfTwoRunsAreAtTheSamePoints) {
  using Points = std::array<double, 5>;
  EXPECT_EQ(density_grid(1.6, 3.35), (Points{-8, -4, 0, 4, 8}));
  EXPECT_EQ(density_grid(1.63, 3.31), density_grid(1.6, 3.35));
  EXPECT_EQ(density_grid(-1e6 + 0.3, 0.9), (Points{-1e6 - 2, -1e6 - 1, -1e6, -1e6 + 1, -1e6 + 2}));
  EXPECT_EQ(density_grid(2.5, 0), (Points{2.5, 2.5, 2.5, 2.5, 2.5}));
  EXPECT_EQ(density_grid(2.5, std::nan("")), (Points{2.5, 2.5, 2.5, 2.5, 2.5}));
}

TEST(MixtureLabels, AssignmentsCostLeast) {
  for (std::uint32_t trial = 0; trial < 50; ++trial) {
    const int K = 1 + static_cast<int>(trial % 6);
    std::vector<double> cost;
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(K * K); ++i)
      cost.push_back(trial % 3 == 0 ? std::round(2 * normal(0, trial, i))
                                    : normal(0, trial, i));  // with ties
    const auto total = [&](const std::vector<int>& column) {
      double sum = 0;
      for (int row = 0; row < K; ++row)
        sum += cost[static_cast<std::size_t>(row * K + column[static_cast<std::size_t>(row)])];
      return sum;
    };
    std::vector<int> order(static_cast<std::size_t>(K));
    std::iota(order.begin(), order.end(), 0);
    double best = total(order);
    while (std::next_permutation(order.begin(), order.end())) best = std::min(best, total(order));
    auto found = least_cost_assignment(cost, K);
    EXPECT_NEAR(total(found), best, 1e-12);
    std::sort(found.begin(), found.end());
    std::iota(order.begin(), order.end(), 0);
    EXPECT_EQ(found, order);
  }
}

}  // namespace
}  // namespace emomc
