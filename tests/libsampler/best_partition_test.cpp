// Tests partitions of rows by probabilities of components: compares losses with their definition, and finds a
// known partition.
#include "emomc/sampler/best_partition.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>

#include "emomc/device/random.hpp"

namespace emomc {
namespace {

double uniform(std::uint64_t i, std::uint32_t stream) {
  return device::RandomSource{11, i, stream}.uniform(device::Purpose::simulation, 0);
}

struct Problem {
  std::size_t rows, K, draws, candidates;
  std::vector<double> probabilities;  ///< [draws x rows x K]
  std::vector<std::uint16_t> groups;  ///< [candidates x rows]
};

Problem random_problem() {
  Problem p{60, 3, 7, 5, {}, {}};
  for (std::size_t i = 0; i < p.draws * p.rows; ++i) {
    std::array<double, 3> r{};
    for (std::size_t k = 0; k < p.K; ++k) r[k] = std::pow(uniform(i * p.K + k, 0), 4);
    const double sum = std::accumulate(r.begin(), r.end(), 0.0);
    for (double x : r) p.probabilities.push_back(x / sum);
  }
  for (std::size_t i = 0; i < p.candidates * p.rows; ++i)
    p.groups.push_back(static_cast<std::uint16_t>(3 * uniform(i, 1)));
  return p;
}

/// Returns the losses, with rows added in blocks that end at `ends`.
std::vector<double> losses_of(const Problem& p, const std::vector<std::size_t>& ends, int num_threads) {
  PartitionSearch search(p.K, {p.candidates, p.draws});
  ThreadPool threads(num_threads);
  std::size_t first = 0;
  for (std::size_t end : ends) {
    std::vector<const double*> probabilities;
    for (std::size_t s = 0; s < p.draws; ++s)
      probabilities.push_back(p.probabilities.data() + (s * p.rows + first) * p.K);
    std::vector<std::uint16_t> groups;
    for (std::size_t c = 0; c < p.candidates; ++c)
      for (std::size_t i = first; i < end; ++i) groups.push_back(p.groups[c * p.rows + i]);
    search.add(end - first, probabilities, groups, threads);
    first = end;
  }
  return search.losses();
}

TEST(BestPartition, LossesAreExpectedShareOfPairsThatDiffer) {
  const Problem p = random_problem();
  const std::vector<double> losses = losses_of(p, {60}, 1);
  for (std::size_t c = 0; c < p.candidates; ++c) {
    double expected = 0;
    for (std::size_t i = 0; i < p.rows; ++i)
      for (std::size_t j = 0; j < i; ++j) {
        double together = 0;
        for (std::size_t s = 0; s < p.draws; ++s)
          for (std::size_t k = 0; k < p.K; ++k)
            together += p.probabilities[(s * p.rows + i) * p.K + k] *
                        p.probabilities[(s * p.rows + j) * p.K + k] / static_cast<double>(p.draws);
        expected += p.groups[c * p.rows + i] == p.groups[c * p.rows + j] ? 1 - together : together;
      }
    EXPECT_NEAR(losses[c], expected / (0.5 * 60 * 59), 1e-13) << c;
  }
  const std::vector<double> in_parts = losses_of(p, {1, 20, 60}, 2);
  for (std::size_t c = 0; c < p.candidates; ++c) EXPECT_NEAR(in_parts[c], losses[c], 1e-14);
  EXPECT_EQ(losses_of(p, {1, 20, 60}, 1), in_parts) << "threads";
}

TEST(BestPartition, LossesDoNotDependOnLabels) {
  const Problem p = random_problem();
  Problem permuted = p;
  for (std::size_t i = 0; i < p.draws * p.rows; ++i) {
    const std::size_t shift = i / p.rows % p.K;  // the shift differs between draws
    for (std::size_t k = 0; k < p.K; ++k)
      permuted.probabilities[i * p.K + (k + shift) % p.K] = p.probabilities[i * p.K + k];
  }
  for (std::size_t i = 0; i < p.groups.size(); ++i)
    permuted.groups[i] = static_cast<std::uint16_t>((p.groups[i] + i / p.rows) % p.K);
  const std::vector<double> losses = losses_of(p, {60}, 1), same = losses_of(permuted, {60}, 1);
  for (std::size_t c = 0; c < p.candidates; ++c) EXPECT_NEAR(same[c], losses[c], 1e-14);
}

TEST(BestPartition, GroupsAreNamedAfterTheComponentsOfTheirRows) {
  // Group 0 has mostly component 2, and so has group 2, but to a lesser degree; group 1 is empty.
  EXPECT_EQ(names_of_groups(std::vector<double>{1, 1, 20, 0, 0, 0, 4, 3, 5}, 3), (std::vector<int>{2, 1, 0}));
}

TEST(BestPartition, TheSearchIsBounded) {
  const PartitionSearchSize small = partition_search_size(1000, 4, 1000);
  EXPECT_EQ(small.candidates, 200U);
  EXPECT_EQ(small.draws, 1000U);
  EXPECT_EQ(partition_search_size(1000, 4, 3).candidates, 3U);
  const PartitionSearchSize large = partition_search_size(1'000'000, 4, 1000);
  EXPECT_EQ(large.candidates, 25U);
  EXPECT_EQ(large.draws, 100U);
  for (std::size_t rows : {1UL, 100'000UL, 100'000'000UL, 10'000'000'000UL})
    for (std::size_t K : {2UL, 64UL, 4096UL}) {
      const PartitionSearchSize size = partition_search_size(rows, K, 1000);
      EXPECT_GE(size.candidates, 1U);
      EXPECT_GE(size.draws, 1U);
      EXPECT_LE(size.draws * size.candidates * K * K, std::size_t{1} << 25);
    }
}

}  // namespace
}  // namespace emomc
