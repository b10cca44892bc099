// Tests which runs the verdict accepts and rejects: the table of docs/statistics.md.
#include <gtest/gtest.h>

#include <iostream>
#include <string>

#include "verdict_cases.hpp"

namespace emomc {
namespace {

using testing::rejections;
using testing::VerdictCase;

// Returns stationary chains with equal distributions and at least the required ESS.
const std::vector<VerdictCase>& good() {
  static const std::vector<VerdictCase> cases{
      {"independent", 4, 250, 201, 0},
      {"independent, ESS 400", 1, 400, 100, 0},
      {"independent, ESS 400", 4, 100, 1000, 0},
      {"independent, correlated quantities", 4, 250, 201, 0, {}, 0.9},
      {"AR(.8), ESS 400", 1, 3600, 100, 0.8},
      {"AR(.8), ESS 400", 2, 1800, 201, 0.8},
      {"AR(.8), ESS 444", 4, 1000, 201, 0.8},
      {"AR(.8), ESS 400", 16, 225, 201, 0.8},
      {"AR(.8), ESS 400", 64, 57, 201, 0.8},
      {"AR(.5), ESS 3,413", 512, 20, 50, 0.5},
      {"AR(.95), ESS 410", 4, 4000, 50, 0.95},
      {"superchains, independent", 64, 20, 201, 0, {}, 0, 8},
  };
  return cases;
}

double spread(int c) { return (c % 4 - 1.5) / std::sqrt(1.25); }  // four positions with mean 0 and sd 1

struct BadCase {
  VerdictCase one;
  double power;  ///< least share of data sets that must be rejected
};
const std::vector<BadCase>& bad() {
  static const std::vector<BadCase> cases{
      {{"chains 0.3 sd apart", 4, 1000, 201, 0, [](int, int c) { return 0.3 * spread(c); }}, 0.99},
      {{"chains 0.3 sd apart, AR(.8)", 4, 1000, 201, 0.8, [](int, int c) { return 0.3 * spread(c); }}, 0.1},
      {{"chains 0.5 sd apart, AR(.8)", 4, 1000, 201, 0.8, [](int, int c) { return 0.5 * spread(c); }}, 0.7},
      {{"chains 1 sd apart, AR(.8)", 4, 1000, 201, 0.8, [](int, int c) { return spread(c); }}, 0.99},
      {{"one chain of 4 is 3 sd away", 4, 250, 201, 0, [](int, int c) { return c == 1 ? 3. : 0.; }}, 0.99},
      {{"one chain of 64 is 3 sd away", 64, 100, 201, 0, [](int, int c) { return c == 9 ? 3. : 0.; }}, 0.99},
      {{"one chain of 4 does not move", 4, 250, 21, 0, {}, 0, 0, [](int c) { return c == 1; }}, 0.99},
      {{"one chain of 64 does not move", 64, 100, 21, 0, {}, 0, 0, [](int c) { return c == 9; }}, 0.99},
      {{"first 20 draws of all chains 3 sd off", 4, 250, 201, 0, [](int i, int) { return i < 20 ? 3. : 0.; }},
       0.99},
      {{"first 20 draws of all chains 3 sd off", 4, 1000, 201, 0,
        [](int i, int) { return i < 20 ? 3. : 0.; }},
       0.99},
      {{"first 20 draws 3 sd off, AR(.8)", 4, 1000, 201, 0.8, [](int i, int) { return i < 20 ? 3. : 0.; }},
       0.9},
      {{"a trend of 0.5 sd over the run", 4, 1000, 201, 0, [](int i, int) { return i / 2000.; }}, 0.9},
      // A trend affects the autocovariances, and thereby the errors with which it is compared. No power is
      // stated for the smaller trend: its row is printed, but not asserted.
      {{"a trend of 1 sd over the run, AR(.8)", 4, 1000, 201, 0.8, [](int i, int) { return i / 1000.; }}, 0},
      {{"a trend of 2 sd over the run, AR(.8)", 4, 1000, 201, 0.8, [](int i, int) { return i / 500.; }}, 0.4},
      {{"AR(.95), ESS 103", 4, 1000, 1, 0.95}, 0.95},
      {{"AR(.95), ESS 103", 4, 1000, 201, 0.95}, 0.99},
      {{"AR(.99), ESS 20", 4, 1000, 21, 0.99}, 0.99},
      {{"too few draws", 4, 25, 21, 0}, 0.99},
      {{"too few draws", 1, 100, 21, 0}, 0.99},
      {{"AR(.95), many short chains", 256, 10, 2, 0.95}, 0.99},
      {{"superchains at places of their own", 64, 20, 21, 0, [](int, int c) { return 0.5 * spread(c / 8); },
        0, 8},
       0.99},
  };
  return cases;
}

// At most one good run in a hundred is rejected. The test fails for a number of rejections that a binomial
// with 1 % exceeds with probability 1e-6. 2 of 3 data sets would prove nothing (3e-4 for each case), so that
// all cases are counted together here. 36 sets: P(X > 6) = 6e-8.
TEST(Verdict, GoodRunsAreAccepted) {
  int rejected = 0;
  for (VerdictCase one : good()) {
    one.num_quantities = std::min(one.num_quantities, 60);
    rejected += rejections(one, 3);
  }
  EXPECT_LE(rejected, 6);
}

TEST(Verdict, BadRunsAreRejected) {
  for (const BadCase& bad_case : bad()) {
    if (bad_case.power < 0.99) continue;
    VerdictCase one = bad_case.one;
    one.num_quantities = std::min(one.num_quantities, 21);
    EXPECT_GE(rejections(one, 3), 2) << one.what;
  }
}

std::string row_of(const VerdictCase& one, int rejected, int sets) {
  return "| " + std::string(one.what) + " | " + std::to_string(one.num_chains) + " x " +
         std::to_string(one.num_draws) + " | " + std::to_string(one.num_quantities) + " | " +
         std::to_string(rejected) + " of " + std::to_string(sets) + " |";
}

// The rows of the table in docs/statistics.md, one test each so that they can run at the same time:
//   ctest --test-dir build/release -C long -R "Verdict.*Long" -V | grep '^[0-9]*: | '
class VerdictGoodLong : public ::testing::TestWithParam<std::size_t> {};

// At a rate of 1 % there are more than 28 rejections of 1,000 with a probability of 6e-7. Each row alone
// therefore refutes a rate of 4.5 % almost surely (28 or fewer: 0.4 %), and AllRowsTogether tests the sum of
// all rows against 1 %.
TEST_P(VerdictGoodLong, RunsAreAccepted) {
  constexpr int kSets = 1000;
  const VerdictCase& one = good()[GetParam()];
  const int rejected = rejections(one, kSets);
  std::cout << row_of(one, rejected, kSets) << std::endl;
  EXPECT_LE(rejected, 28) << one.what;
}
INSTANTIATE_TEST_SUITE_P(Cases, VerdictGoodLong, ::testing::Range<std::size_t>(0, good().size()));

// There are 3,000 sets, 250 of each row: more than 60 rejections have a probability of 4e-7 at a rate of 1 %.
TEST(VerdictLong, AllRowsTogether) {
  int rejected = 0;
  for (const VerdictCase& one : good())
    rejected += rejections(one, 3000 / static_cast<int>(good().size()), 5000);
  std::cout << "| all good runs | | | " << rejected << " of " << 3000 / good().size() * good().size()
            << " |\n";
  EXPECT_LE(rejected, 60);
}

class VerdictBadLong : public ::testing::TestWithParam<std::size_t> {};

TEST_P(VerdictBadLong, RunsAreRejected) {
  constexpr int kSets = 200;
  const BadCase& bad_case = bad()[GetParam()];
  const int rejected = rejections(bad_case.one, kSets);
  std::cout << row_of(bad_case.one, rejected, kSets) << std::endl;
  // The bound is five standard errors of a share below the stated power.
  const double p = bad_case.power;
  EXPECT_GE(rejected, kSets * p - 5 * std::sqrt(kSets * p * (1 - p))) << bad_case.one.what;
}
INSTANTIATE_TEST_SUITE_P(Cases, VerdictBadLong, ::testing::Range<std::size_t>(0, bad().size()));

}  // namespace
}  // namespace emomc
