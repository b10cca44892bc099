// Exact rank tests of every proposal (Gandy and Scott 2020, "Unit testing for MCMC and other Monte Carlo
// methods", arXiv:2001.06465). theta comes from the prior and y from the model. theta is put at a random
// position M of a chain of L points given y; the points after it come from the kernel, and those before it
// from the reversed kernel. The rank of any function at position M among all L points is then uniform,
// however slowly the chain mixes.
//
// A sweep is a product of reversible kernels, one for each block, and its reverse is the sweep with the
// blocks in reverse order; the halves of an ensemble are such blocks. The two tries of delayed rejection are
// one reversible kernel. An ensemble has one rank, that of the sum of a function over its chains, each with
// its own data (joint_test.cpp gives the reason). If a step's kernel depends on its number (chees), the steps
// before the position are made in reverse order.
//
// The chi-square statistic of each function's ranks has a bound that it exceeds with probability 1e-10, and a
// run of the whole suite has fewer than 1,000 such statistics. This gives a rate of false alarms of 1e-7,
// with an expected count of 100 or more in each bin.
#include <gtest/gtest.h>

#include <boost/math/distributions/chi_squared.hpp>
#include <iostream>
#include <optional>

#include "joint_tests.hpp"

namespace emomc {
namespace {

using namespace testing;

constexpr double kFalseAlarm = 1e-10;
constexpr int kPlaces = 10;
constexpr std::int64_t kStepsBetween = 4;

constexpr int kReplicas = 1000, kReplicasAtOnce = 2000, kReplicasLong = 20000;

class Ranks {
 public:
  Ranks(const JointTest& test, Backend backend)
      : test_(test), backend_(backend), functions_(test.joint, test.joint.target()) {
    counts_.assign(functions_.names().size(), std::vector<double>(kPlaces));
  }

  /// Adds the `num_replicas` ranks of the chains first_chain, first_chain + 1, ...
  void add(int num_replicas, std::uint32_t first_chain, ComponentCaches caches) {
    if (traits_of_kind(test_.proposal.kind).length() != device::TrajectoryLength::learnt)
      return add_at(std::nullopt, num_replicas, first_chain, caches);
    // The kernel of a step depends on its number, so that replicas at the same position make the same steps.
    const int of_a_place = num_replicas / kPlaces;
    for (int place = 0; place < kPlaces; ++place)
      add_at(place, of_a_place, first_chain + static_cast<std::uint32_t>(place * of_a_place), caches);
  }

  /// Adds ranks of replicas that are all at position `given_place`, if it is given.
  void add_at(std::optional<int> given_place, int num_replicas, std::uint32_t first_chain,
              ComponentCaches caches) {
    const int together = test_.chains_per_replica(), num_chains = num_replicas * together;
    JointChains forth(test_, backend_, num_chains, 11, Sweep::forth, caches, first_chain);
    JointChains back(test_, backend_, num_chains, 12, Sweep::back, caches, first_chain);
    const auto thetas = draw_parameters(forth.target(), num_chains, 13, first_chain);
    const auto data = draw_data(test_.joint, forth.target(), thetas, 13, first_chain);
    forth.begin(thetas, data);
    back.begin(thetas, data);
    if (given_place) {
      forth.walk_from(*given_place * kStepsBetween, Sweep::forth);
      back.walk_from(*given_place * kStepsBetween, Sweep::back);
    }
    const auto here = sums(forth.pairs());
    std::vector<std::vector<double>> after, before;
    const int num_before = given_place.value_or(kPlaces - 1);
    const int num_after = given_place ? kPlaces - 1 - num_before : kPlaces - 1;
    for (const auto& pairs : forth.run(num_after, kStepsBetween)) after.push_back(sums(pairs));
    for (const auto& pairs : back.run(num_before, kStepsBetween)) before.push_back(sums(pairs));
    for (int r = 0; r < num_replicas; ++r) {
      const device::RandomSource random{14, 0, first_chain + static_cast<std::uint32_t>(r)};
      const int place =
          given_place.value_or(static_cast<int>(kPlaces * random.uniform(device::Purpose::simulation, 0)));
      for (std::size_t f = 0; f < counts_.size(); ++f) {
        const std::size_t at = static_cast<std::size_t>(r) * counts_.size() + f;
        int below = 0, equal = 0;
        const auto compare = [&](double other) {
          below += other < here[at];
          equal += other == here[at];
        };
        for (int i = 0; i < kPlaces - 1 - place; ++i) compare(after[static_cast<std::size_t>(i)][at]);
        for (int i = 0; i < place; ++i) compare(before[static_cast<std::size_t>(i)][at]);
        // Ties, which rejections cause, are broken at random.
        const double tie = random.uniform(device::Purpose::simulation, 1 + static_cast<std::uint32_t>(f));
        counts_[f][static_cast<std::size_t>(below + static_cast<int>(tie * (equal + 1)))] += 1;
      }
    }
    if (num_after > 0) acceptance_ = forth.acceptance();
  }

  void expect_uniform() const {
    const boost::math::chi_squared distribution(kPlaces - 1);
    const double bound = quantile(complement(distribution, kFalseAlarm));
    double worst = 0;
    for (std::size_t f = 0; f < counts_.size(); ++f) {
      double total = 0, chi_square = 0;
      for (const double count : counts_[f]) total += count;
      const double expected = total / kPlaces;
      ASSERT_GE(expected, 100);
      for (const double count : counts_[f]) chi_square += (count - expected) * (count - expected) / expected;
      EXPECT_LT(chi_square, bound) << functions_.names()[f];
      worst = std::max(worst, chi_square);
    }
    std::cout << "largest chi-square " << worst << ", bound " << bound << ", acceptance";
    for (const double rate : acceptance_) {
      std::cout << ' ' << rate;
      EXPECT_GT(rate, 0.01);
    }
    std::cout << '\n';
  }

 private:
  // Returns the sums of each function over a replica's chains, one replica after another.
  std::vector<double> sums(const JointPairs& pairs) const {
    const auto together = static_cast<std::size_t>(test_.chains_per_replica());
    std::vector<double> sums(pairs.log_prior.size() / together * counts_.size());
    for (std::size_t c = 0; c < pairs.log_prior.size(); ++c) {
      const auto values = functions_(pairs, c);
      for (std::size_t f = 0; f < values.size(); ++f) sums[c / together * counts_.size() + f] += values[f];
    }
    return sums;
  }

  JointTest test_;
  Backend backend_;
  JointFunctions functions_;
  std::vector<std::vector<double>> counts_;  ///< for each function, counts of each rank
  std::vector<double> acceptance_;
};

using Rank = OnJointTest;
using RankLong = OnJointTest;
INSTANTIATE_TEST_SUITE_P(Proposals, Rank, kJointTests, name_of_joint_test);
INSTANTIATE_TEST_SUITE_P(Proposals, RankLong, kJointTests, name_of_joint_test);

TEST_P(Rank, OfAPointInAChainThroughItIsUniform) {
  Ranks ranks(test(), backend());
  ranks.add(kReplicas, 0, ComponentCaches::off);
  ranks.expect_uniform();
}

TEST_P(RankLong, OfAPointInAChainThroughItIsUniform) {
  Ranks ranks(test(), backend());
  for (int done = 0; done < kReplicasLong; done += kReplicasAtOnce)
    ranks.add(kReplicasAtOnce, static_cast<std::uint32_t>(done * test().chains_per_replica()),
              ComponentCaches::off);
  ranks.expect_uniform();
}

// The caches of many chains with separate data take too much memory, so that the ranks are computed in small
// parts.
class RankWithCaches : public ::testing::TestWithParam<Backend> {};
INSTANTIATE_TEST_SUITE_P(Backends, RankWithCaches, ::testing::Values(Backend::cpu, Backend::cuda),
                         [](const auto& backend) {
                           return std::string(backend.param == Backend::cpu ? "cpu" : "cuda");
                         });

TEST_P(RankWithCaches, OfAPointInAComponentWiseChainIsUniform) {
  if (GetParam() == Backend::cuda && !has_gpu()) GTEST_SKIP() << "no GPU";
  Ranks ranks({mixture_in_one_column(2), {"component_wise", ProposalShape::diagonal, 0.234}}, GetParam());
  constexpr std::uint32_t kPart = 40;
  for (std::uint32_t first = 0; first < static_cast<std::uint32_t>(kReplicas); first += kPart)
    ranks.add(kPart, first, ComponentCaches::on);
  ranks.expect_uniform();
}

}  // namespace
}  // namespace emomc
