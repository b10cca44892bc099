// Geweke's joint test (2004) of every proposal. Pairs (theta, y) from the prior and the model must have the
// same distribution as such pairs after many cycles in which chains move theta given y and the model draws y
// anew. Any error in priors, transforms, Jacobians, likelihoods, ratios or random numbers makes the two
// distributions differ.
//
// Each chain has its own data and starts at a pair that is exactly from the joint distribution. For a correct
// sampler all later pairs therefore are too, and the replicas, which are independent, give the standard error
// of a mean over time without warm-up or batches. The chains of an ensemble also have their own data: an
// update of one half by the other leaves any product of distributions with a factor for each chain invariant,
// whereas chains that share data could not be drawn from their joint distribution. The ensemble is one
// replica.
//
// Each comparison has a bound that a t variable exceeds with probability 1e-10, and a run of the whole suite
// has fewer than 1,000 comparisons. This gives a rate of false alarms of 1e-7 and leaves a factor of ten for
// the effect of skewness on means of 1,000 values.
#include <gtest/gtest.h>

#include <boost/math/distributions/students_t.hpp>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "joint_tests.hpp"

namespace emomc {
namespace {

using namespace testing;

constexpr double kFalseAlarm = 1e-10;

struct Effort {
  int chains, iterations;
};
constexpr Effort kShort{1200, 24}, kLong{6000, 60};

// The sums over replicas, to which each replica contributes one number.
struct Moments {
  double count = 0, sum = 0, squares = 0;
  void add(double x) {
    count += 1;
    sum += x;
    squares += x * x;
  }
  double mean() const { return sum / count; }
  double squared_error() const { return std::max(0.0, squares / count - mean() * mean()) / (count - 1); }
};

// Returns the values of all functions, one chain after another.
std::vector<std::vector<double>> values_of(const JointFunctions& functions, const JointPairs& pairs) {
  std::vector<std::vector<double>> values;
  for (std::size_t c = 0; c < pairs.log_prior.size(); ++c) values.push_back(functions(pairs, c));
  return values;
}

// Writes the curves of docs/images/geweke.svg if EMOMC_JOINT_CSV names a file.
class ProbabilityCurves {
 public:
  ProbabilityCurves(const std::vector<std::vector<double>>& marginal) {
    for (std::size_t f = 0; f < marginal[0].size(); ++f) {
      std::vector<double> sorted;
      for (const auto& values : marginal) sorted.push_back(values[f]);
      std::sort(sorted.begin(), sorted.end());
      for (int j = 1; j < kPoints; ++j)
        thresholds_.push_back(sorted[sorted.size() * static_cast<std::size_t>(j) / kPoints]);
    }
    below_.resize(thresholds_.size());
  }
  void add(const std::vector<double>& values) {
    for (std::size_t i = 0; i < thresholds_.size(); ++i)
      below_[i] += values[i / (kPoints - 1)] <= thresholds_[i] ? 1 : 0;
    ++count_;
  }
  void write(std::ostream& out, const JointTest& test, int num_chains,
             const std::vector<std::string>& names) const {
    for (std::size_t i = 0; i < thresholds_.size(); ++i)
      out << test.name() << ',' << num_chains << ",\"" << names[i / (kPoints - 1)] << "\","
          << static_cast<double>(i % (kPoints - 1) + 1) / kPoints << ',' << below_[i] / count_ << '\n';
  }

 private:
  static constexpr int kPoints = 50;
  std::vector<double> thresholds_, below_;
  double count_ = 0;
};

void expect_one_distribution(const JointTest& test, Backend backend, Effort effort) {
  const int together = test.chains_per_replica();
  // An ensemble gives few replicas of many chains, so that four times as many chains are used.
  const int asked = together > 1 ? 4 * effort.chains : effort.chains;
  const int num_chains = (asked + together - 1) / together * together;
  JointChains chains(test, backend, num_chains, 1);
  const JointFunctions functions(test.joint, chains.target());
  const auto names = functions.names();

  // The marginal-conditional simulator makes independent pairs.
  std::vector<std::vector<double>> marginal;
  for (std::uint64_t batch = 0; batch < static_cast<std::uint64_t>(effort.iterations); ++batch) {
    auto thetas = draw_parameters(chains.target(), num_chains, 1000 + batch);
    auto data = draw_data(test.joint, chains.target(), thetas, 1000 + batch);
    chains.begin(std::move(thetas), std::move(data));
    for (auto& values : values_of(functions, chains.pairs())) marginal.push_back(std::move(values));
  }
  std::vector<Moments> expected(names.size());
  for (const auto& values : marginal)
    for (std::size_t f = 0; f < names.size(); ++f) expected[f].add(values[f]);

  // The successive-conditional simulator makes its own pairs.
  ProbabilityCurves curves(marginal);
  const char* csv = std::getenv("EMOMC_JOINT_CSV");
  constexpr std::uint64_t kSeed = 77;
  constexpr std::int64_t kStepsBetweenData = 3;
  auto thetas = draw_parameters(chains.target(), num_chains, kSeed);
  auto data = draw_data(test.joint, chains.target(), thetas, kSeed);
  chains.begin(std::move(thetas), std::move(data));
  const auto num_replicas = static_cast<std::size_t>(num_chains / together);
  std::vector<double> sums(num_replicas * names.size());
  for (int i = 0; i < effort.iterations; ++i) {
    chains.run(1, kStepsBetweenData);
    const auto all = values_of(functions, chains.pairs());
    for (std::size_t c = 0; c < all.size(); ++c) {
      if (csv) curves.add(all[c]);
      for (std::size_t f = 0; f < names.size(); ++f)
        sums[c / static_cast<std::size_t>(together) * names.size() + f] += all[c][f];
    }
    chains.exchange(
        draw_data(test.joint, chains.target(), chains.pairs().theta, 2000 + static_cast<std::uint64_t>(i)));
  }

  const boost::math::students_t t(static_cast<double>(num_replicas - 1));
  const double bound = quantile(complement(t, kFalseAlarm / 2));
  double worst = 0;
  for (std::size_t f = 0; f < names.size(); ++f) {
    Moments actual;
    for (std::size_t r = 0; r < num_replicas; ++r)
      actual.add(sums[r * names.size() + f] / (effort.iterations * together));
    const double error = std::sqrt(actual.squared_error() + expected[f].squared_error());
    const double difference = actual.mean() - expected[f].mean();
    const double size = std::abs(expected[f].mean());
    if (std::sqrt(expected[f].squared_error() * expected[f].count) < 1e-7 * size) {  // the quantity is fixed
      EXPECT_LT(std::abs(difference), 1e-9 * size) << names[f];
      continue;
    }
    EXPECT_LT(std::abs(difference), bound * error)
        << names[f] << ": " << actual.mean() << ", should be " << expected[f].mean();
    worst = std::max(worst, std::abs(difference) / error);
    // The comparison is strong enough: a difference of half of the sd over pairs would be detected.
    EXPECT_LT(bound * error, 0.5 * std::sqrt(expected[f].squared_error() * (expected[f].count - 1)))
        << names[f];
  }
  std::cout << "largest |z| " << worst << ", bound " << bound << ", acceptance";
  for (const double rate : chains.acceptance()) {
    std::cout << ' ' << rate;
    EXPECT_GT(rate, 0.01);
  }
  std::cout << '\n';
  if (csv) {
    std::ofstream out(csv, std::ios::app);
    curves.write(out, test, num_chains, names);
  }
}

using Joint = OnJointTest;
using JointLong = OnJointTest;

INSTANTIATE_TEST_SUITE_P(Proposals, Joint, kJointTests, name_of_joint_test);
INSTANTIATE_TEST_SUITE_P(Proposals, JointLong, kJointTests, name_of_joint_test);

TEST_P(Joint, SuccessivePairsAreDistributedAsIndependentOnes) {
  expect_one_distribution(test(), backend(), kShort);
}

TEST_P(JointLong, SuccessivePairsAreDistributedAsIndependentOnes) {
  expect_one_distribution(test(), backend(), kLong);
}

}  // namespace
}  // namespace emomc
