// Tests findings of diagnose() on draws that are made here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "emomc/device/random.hpp"
#include "emomc/posterior/diagnose.hpp"

namespace emomc {
namespace {

constexpr std::size_t kChains = 4;

double normal(std::size_t draw, std::size_t chain, std::uint32_t index, std::uint64_t seed = 5) {
  return device::RandomSource{seed, draw, static_cast<std::uint32_t>(chain)}.normal(
      device::Purpose::simulation, index);
}

/// Returns independent draws of a log density and two parameters, of a gradient sampler without divergences.
DrawSet independent_draws(std::size_t num_draws, std::uint64_t seed = 5) {
  DrawSet set;
  set.program = "emomc";
  set.num_draws = num_draws;
  for (std::size_t c = 0; c < kChains; ++c) set.chains.push_back(std::to_string(c));
  std::uint32_t index = 0;
  for (const char* name : {"log_density", "mu", "tau"}) {
    double* x = set.add(name);
    for (std::size_t c = 0; c < kChains; ++c)
      for (std::size_t i = 0; i < num_draws; ++i) *x++ = normal(i, c, index, seed);
    ++index;
  }
  set.num_log_densities = 1;
  for (const char* name : {"mu", "tau"}) {
    ParameterBlock block;
    block.name = name;
    set.layout.blocks.push_back(block);
  }
  set.divergences.assign(kChains, 0);
  set.statistics.assign(kChains * num_draws, DrawStatistics{0.5, 0.8, 0, 3, 7, 0, 0});
  for (std::size_t i = 0; i < set.statistics.size(); ++i) set.statistics[i].energy = normal(i, 0, 9, seed);
  return set;
}

/// Makes the draws divergent for which `is_divergent` is true of tau.
void mark_divergent(DrawSet& set, const std::function<bool(double tau, std::size_t draw)>& is_divergent) {
  const std::span<double> tau = set.quantity(2);
  for (std::size_t c = 0; c < kChains; ++c)
    for (std::size_t i = 0; i < set.num_draws; ++i) {
      const std::size_t at = c * set.num_draws + i;
      if (!is_divergent(tau[at], at)) continue;
      set.statistics[at].divergent = 1;
      ++set.divergences[c];
    }
}

std::vector<Finding> findings_of(const DrawSet& draws, bool chose_length = false,
                                 const std::string& status = "finished") {
  RunFacts facts;
  facts.status = status;
  facts.chose_length = chose_length;
  return diagnose(inspect_draws(draws, facts, Numbering::mended));
}

const Finding* finding(const std::vector<Finding>& findings, const std::string& check) {
  const auto at =
      std::find_if(findings.begin(), findings.end(), [&](const Finding& one) { return one.check == check; });
  return at == findings.end() ? nullptr : &*at;
}

TEST(Findings, ARunThatChoseItsLengthMustHaveReachedItsBounds) {
  const DrawSet few = independent_draws(100);  // 400 draws, whose tail ESS is estimated below 400
  for (const bool chose_length : {false, true})
    for (const std::string status : {"finished", "interrupted", "running"}) {
      SCOPED_TRACE(status + std::to_string(chose_length));
      const std::vector<Finding> found = findings_of(few, chose_length, status);
      const Finding* ess = finding(found, "ess");
      ASSERT_NE(ess, nullptr);
      const bool fell_short = chose_length && status == "finished";
      EXPECT_EQ(ess->severity, fell_short ? Severity::problem : Severity::warning);
      EXPECT_EQ(is_trusted(found), !fell_short);
    }
  EXPECT_TRUE(findings_of(independent_draws(1000), true).empty());
}

TEST(Findings, DivergencesThatLieInOneRegionAreAProblem) {
  DrawSet set = independent_draws(4000);
  mark_divergent(set, [](double tau, std::size_t) { return tau < -2.8; });  // 0.26 % of the draws
  const std::vector<Finding> found = findings_of(set);
  const Finding* region = finding(found, "divergences");
  ASSERT_NE(region, nullptr);
  EXPECT_EQ(region->severity, Severity::problem);
  EXPECT_NE(region->text.find("where tau is small"), std::string::npos) << region->text;

  DrawSet other = independent_draws(4000);
  mark_divergent(other, [](double tau, std::size_t) { return tau > 2.8; });
  const std::vector<Finding> found_above = findings_of(other);
  EXPECT_NE(finding(found_above, "divergences")->text.find("where tau is large"), std::string::npos);
}

// The threshold lets one of 1,000 runs pass for one with a region; none of 40 runs does with a probability of
// 0.96, and with these seeds.
TEST(Findings, DivergencesEverywhereAreNoRegion) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    DrawSet set = independent_draws(1000, seed);
    mark_divergent(set, [&](double, std::size_t at) { return (at * 7 + seed) % 211 == 0; });  // 0.47 %
    const std::vector<Finding> found = findings_of(set);
    ASSERT_NE(finding(found, "divergences"), nullptr);
    EXPECT_EQ(finding(found, "divergences")->severity, Severity::warning) << seed;
  }
}

// Divergences at all values of tau, but more often at small ones, do not mean that a part is out of reach.
// Chance does not explain the mean rank of 1/3, but it is not at an end.
TEST(Findings, ASlightTendencyIsNoRegion) {
  DrawSet set = independent_draws(16000);
  mark_divergent(set, [](double tau, std::size_t at) { return at % (tau < 0 ? 400 : 2000) == 0; });  // 0.15 %
  const std::vector<Finding> found = findings_of(set);
  EXPECT_EQ(finding(found, "divergences")->severity, Severity::warning);
}

// The rank of equal values is that of their middle: three fifths of the draws are no end of the posterior.
TEST(Findings, TheMiddleOfEqualValuesIsTheirRank) {
  for (const double sign : {1.0, -1.0}) {
    DrawSet set = independent_draws(4000);
    for (double& tau : set.quantity(2)) tau = tau > -0.2533 ? sign : 0.0;
    mark_divergent(set, [&](double tau, std::size_t at) { return tau == sign && at % 250 == 0; });
    const std::vector<Finding> found = findings_of(set);
    EXPECT_EQ(finding(found, "divergences")->severity, Severity::warning)
        << finding(found, "divergences")->text;
  }
}

// One visit of a chain to the edge is one event, however many of its draws diverge.
TEST(Findings, NeighbouringDivergencesCountOnce) {
  DrawSet set = independent_draws(4000);
  const std::span<double> tau = set.quantity(2);
  const double step = 0.05;  // the autocorrelation time is about 40 draws
  for (std::size_t c = 0; c < kChains; ++c)
    for (std::size_t i = 1; i < set.num_draws; ++i) {
      double& x = tau[c * set.num_draws + i];
      x = (1 - step) * tau[c * set.num_draws + i - 1] + std::sqrt(step * (2 - step)) * x;
    }
  // All divergences are in one stretch of 30 draws, about the lowest value of chain 0.
  const auto lowest =
      static_cast<std::size_t>(std::min_element(tau.begin() + 15, tau.begin() + 3985) - tau.begin());
  mark_divergent(set, [&](double, std::size_t at) { return at + 15 > lowest && at < lowest + 15; });
  const std::vector<Finding> found = findings_of(set);
  EXPECT_EQ(finding(found, "divergences")->severity, Severity::warning);
}

}  // namespace
}  // namespace emomc
