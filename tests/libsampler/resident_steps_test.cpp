// Tests that many steps in one kernel on a GPU give the same draws as steps whose parts are launched
// separately, for every form of this kernel.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "backend_problem.hpp"

namespace emomc {
namespace {

using testing::chains_for;
using testing::Keeper;
using testing::number;
using testing::OnBackend;
using testing::OnBackendWithProposal;
using Problem = testing::BackendProblem;

// Runs the problem with a kernel for each part of a step, then with whole steps inside one kernel if that is
// faster. Returns how the second run was executed.
std::string expect_draws_of_launched_steps(Problem problem, Precision precision) {
  Keeper expected, actual;
  const StepKernels kernels = std::exchange(problem.options.kernels, StepKernels::launched);
  problem.run(Backend::cuda, precision, expected);
  problem.options.kernels = kernels;
  std::string stepping = problem.run(Backend::cuda, precision, actual).stepping;
  EXPECT_EQ(actual.theta, expected.theta) << stepping;
  EXPECT_EQ(actual.log_prior, expected.log_prior) << stepping;
  EXPECT_EQ(actual.log_likelihood, expected.log_likelihood) << stepping;
  return stepping;
}
bool is_in_one_kernel(const std::string& stepping) {
  return stepping.starts_with("many steps in one kernel");
}

// The cases cover few and many chains, rows in two segments, clusters with one and with several blocks, and
// one candidate or several at a time.
TEST_P(OnBackendWithProposal, StepsInOneKernelHaveTheDrawsOfLaunchedOnes) {
  if (const std::string why = why_launched(); !why.empty()) GTEST_SKIP() << why;
  for (const auto& [chains, how] : {std::pair{1u, "candidates of a chain at once"},
                                    {5u, "candidates of a chain at once"},
                                    {20u, "candidates of a chain at once"},
                                    {70u, "the next candidate prepared meanwhile"},
                                    {150u, "one candidate after the other"}})
    for (const auto precision : {Precision::mixed, Precision::float64})
      for (const bool segments : {false, true}) {
        SCOPED_TRACE(std::to_string(chains) + " chains");
        Problem problem(segments ? std::vector<int>{1, 0} : std::vector<int>{0}, chains);
        if (segments) problem.mixture.data.segments = {{0, 1033}, {1033, 1967}};
        problem.proposal.kind = kind();
        problem.options.warmup = 20;
        problem.options.draws = 10;
        const std::string stepping = expect_draws_of_launched_steps(problem, precision);
        EXPECT_TRUE(is_in_one_kernel(stepping) && stepping.ends_with(how)) << stepping;
      }
}

// The cases cover the kernels for sizes that occur in speech, whose code depends on the numbers of components
// and columns, and the kernel for more columns.
TEST_P(OnBackendWithProposal, StepsAtTheSizesOfSpeechHaveTheDrawsOfLaunchedOnes) {
  if (const std::string why = why_launched(); !why.empty()) GTEST_SKIP() << why;
  struct Case {
    std::size_t rows;
    std::uint64_t chains;
    int columns;
    Precision precision;
    const char* how;
  };
  for (const Case& c : {Case{5'316, 1, 13, Precision::mixed, "candidates of a chain at once"},
                        Case{5'316, 1, 13, Precision::float64, "candidates of a chain at once"},
                        Case{5'316, 256, 13, Precision::mixed, "chains in each"},
                        Case{5'316, 256, 13, Precision::float64, "chains in each"},
                        Case{100'000, 1, 13, Precision::mixed, "blocks a chain"},
                        Case{100'000, 1, 13, Precision::float64, "blocks a chain"},
                        Case{1'000'000, 1, 13, Precision::mixed, "blocks a chain"},
                        Case{2'000'000, 1, 13, Precision::mixed, "blocks a chain"},
                        Case{5'316, 2, 39, Precision::mixed, ""}}) {
    SCOPED_TRACE(std::to_string(c.rows) + " rows, " + std::to_string(c.chains) + " chains, " +
                 std::to_string(c.columns) + " columns");
    Problem problem({0}, c.chains, 8, c.rows, c.columns);
    problem.proposal.kind = kind();
    problem.options.warmup = 8;
    problem.options.draws = 4;
    const std::string stepping = expect_draws_of_launched_steps(problem, c.precision);
    EXPECT_TRUE(is_in_one_kernel(stepping) && stepping.find(c.how) != std::string::npos) << stepping;
  }
}

// There are more rows than a cluster can hold, in one and in two segments.
TEST_P(OnBackendWithProposal, StepsOnAllBlocksHaveTheDrawsOfLaunchedOnes) {
  if (const std::string why = why_launched(); !why.empty()) GTEST_SKIP() << why;
  struct Case {
    std::size_t rows;
    std::uint64_t chains;
    bool segments;
    Precision precision;
  };
  for (const Case& c : {Case{300'000, 1, false, Precision::mixed}, Case{140'000, 3, true, Precision::mixed},
                        Case{93'000, 32, false, Precision::mixed}, Case{60'000, 20, true, Precision::float64},
                        // These are more rows than fit into shared memory, 364 kB for each block.
                        Case{93'000, 32, false, Precision::float64}}) {
    SCOPED_TRACE(std::to_string(c.rows) + " rows, " + std::to_string(c.chains) + " chains");
    Problem problem(c.segments ? std::vector<int>{1, 0} : std::vector<int>{0}, c.chains, 3, c.rows);
    if (c.segments) problem.mixture.data.segments = {{0, 1033}, {1033, c.rows - 1033}};
    problem.proposal.kind = kind();
    problem.options.warmup = 20;
    problem.options.draws = 10;
    const std::string stepping = expect_draws_of_launched_steps(problem, c.precision);
    EXPECT_NE(stepping.find("blocks a chain"), std::string::npos) << stepping;
  }
}

// There are more chains than multiprocessors: in one block and in clusters, with one and with two segments,
// with rows that do not all fit into shared memory, with clusters one after another, and with teams without a
// chain.
TEST_P(OnBackendWithProposal, StepsOfManyChainsHaveTheDrawsOfLaunchedOnes) {
  if (const std::string why = why_launched(); !why.empty()) GTEST_SKIP() << why;
  const bool all_at_once =
      kind() == "random_walk" || kind() == "adaptive_metropolis" || kind() == "independence";
  struct Case {
    std::uint64_t chains;
    std::size_t rows;
    int components;
    bool segments;
    Precision precision;
    std::string how;
  };
  for (const Case& c :
       {Case{301, 3'000, 3, true, Precision::mixed, "in clusters of 1 blocks, up to 3 chains in each"},
        Case{301, 20'000, 3, false, Precision::float64, "in clusters of 1 blocks, up to 3 chains in each"},
        Case{500, 1'000, 3, false, Precision::mixed, "in clusters of 1 blocks, up to 4 chains in each"},
        Case{255, 20'000, 40, false, Precision::mixed, "in clusters of 2 blocks, up to 4 chains in each"},
        Case{112, 30'000, 40, true, Precision::mixed, "in clusters of 4 blocks, up to 4 chains in each"},
        Case{600, 1'200, 40, false, Precision::mixed, "in clusters of 1 blocks, up to 3 chains in each"}}) {
    if (c.chains == 112 && all_at_once) continue;  // launching is faster
    SCOPED_TRACE(std::to_string(c.rows) + " rows, " + std::to_string(c.chains) + " chains");
    Problem problem(c.segments ? std::vector<int>{1, 0} : std::vector<int>{0}, c.chains, c.components,
                    c.rows);
    if (c.segments) problem.mixture.data.segments = {{0, 1033}, {1033, c.rows - 1033}};
    problem.proposal.kind = kind();
    problem.options.warmup = 16;
    problem.options.draws = 8;
    EXPECT_EQ(expect_draws_of_launched_steps(problem, c.precision), "many steps in one kernel, " + c.how);
  }
}

// This test is for compute-sanitizer, under which the test above takes too long.
TEST_P(OnBackendWithProposal, AFewStepsOfManyChainsHaveTheDrawsOfLaunchedOnes) {
  if (const std::string why = why_launched(); !why.empty()) GTEST_SKIP() << why;
  for (const int components : {3, 40}) {
    Problem problem({0}, 255, components, 20'000);
    problem.proposal.kind = kind();
    problem.options.warmup = 1;
    problem.options.draws = 1;
    problem.options.thin = 1;
    expect_draws_of_launched_steps(problem, Precision::mixed);
  }
}

// Blocks change elements outside themselves, and some parameters are fixed.
TEST_P(OnBackend, OrdersAndFixedPartsInOneKernelHaveTheDrawsOfLaunchedSteps) {
  if (GetParam() != Backend::cuda) GTEST_SKIP() << "there are no kernels";
  for (const std::string kind : {"component_wise", "split_merge"})
    for (const std::string part : {"means", "scales", "fixed weights"}) {
      if (kind == "split_merge" && part == "fixed weights") continue;
      SCOPED_TRACE(kind + ", " + part);
      Problem problem({0}, 5);
      problem.proposal.kind = kind;
      PriorSet prior = testing::mixture_prior();
      if (part == "fixed weights")
        prior.blocks["weights"] = {PriorFamily::fixed, {ArrayArgument{{}, {1.0 / 3}}}};
      else
        prior.order = part;
      problem.target = Target(testing::mixture_layout(3, 2), prior, std::vector<double>(2, 1.0));
      problem.starts.clear();
      for (std::uint32_t c = 0; c < 5; ++c) {
        const auto start = problem.target.draw_from_prior(7, c, 0);
        problem.starts.insert(problem.starts.end(), start.begin(), start.end());
      }
      problem.options.warmup = 40;
      problem.options.draws = 20;
      EXPECT_TRUE(is_in_one_kernel(expect_draws_of_launched_steps(problem, Precision::mixed)));
    }
}

// The cases have few and many chains, on few rows and on so many that all multiprocessors work on one chain.
TEST_P(OnBackend, TwoGaussiansInOneKernelHaveTheDrawsOfLaunchedSteps) {
  if (GetParam() != Backend::cuda) GTEST_SKIP() << "there are no kernels";
  // This run leaves values other than zero in shared memory.
  Keeper unused;
  Problem(std::vector<int>{0}, 1, 3, 140'000).run(Backend::cuda, Precision::float64, unused);
  PriorSet prior;
  prior.blocks["fraction"] = {PriorFamily::beta, {number(1), number(1)}};
  prior.blocks["mean"] = {PriorFamily::normal, {number(0), number(2)}};
  prior.blocks["sigma"] = {PriorFamily::half_normal, {number(2)}};
  const std::vector<double> truth{0.7, 0.3, 0.8, 2.2};
  for (const std::string kind : {"component_wise", "random_walk"})
    for (const auto& [chains, rows] : {std::pair{1u, 3'000u}, {70u, 3'000u}, {1u, 400'000u}}) {
      SCOPED_TRACE(kind + ", " + std::to_string(chains) + " chains, " + std::to_string(rows) + " rows");
      Problem problem({0}, chains);
      problem.proposal.kind = kind;
      problem.model = {"two_gaussian", 2};
      problem.mixture.data = DataSet::single_segment(1, simulate_rows(problem.model, 1, truth, rows, 11));
      problem.target = Target(model_layout(problem.model, 1), prior, std::vector<double>(1, 1.0));
      problem.starts.clear();
      for (unsigned c = 0; c < chains; ++c)
        problem.starts.insert(problem.starts.end(), truth.begin(), truth.end());
      problem.options.warmup = 40;
      problem.options.draws = 20;
      for (const auto precision : {Precision::mixed, Precision::float64})
        EXPECT_TRUE(is_in_one_kernel(expect_draws_of_launched_steps(problem, precision)));
    }
}

// There are more components than a warp has lanes.
TEST_P(OnBackend, ManyComponentsInOneKernelHaveTheDrawsOfLaunchedSteps) {
  if (GetParam() != Backend::cuda) GTEST_SKIP() << "there are no kernels";
  for (const std::uint64_t chains : {2u, 30u}) {
    Problem problem({0}, chains, 40);
    problem.proposal.kind = "component_wise";
    problem.options.warmup = 10;
    problem.options.draws = 10;
    EXPECT_TRUE(is_in_one_kernel(expect_draws_of_launched_steps(problem, Precision::mixed)));
  }
}

// The covariances are tested with few rows and with so many that all multiprocessors work on one chain.
TEST_P(OnBackend, CovariancesInOneKernelHaveTheDrawsOfLaunchedSteps) {
  if (GetParam() != Backend::cuda) GTEST_SKIP() << "there are no kernels";
  for (const std::string covariance : {"full", "tied"})
    for (const std::string kind : {"component_wise", "random_walk"})
      for (const auto& [chains, rows] : {std::pair{1u, 3'000u}, {1u, 100'000u}, {300u, 2'000u}}) {
        SCOPED_TRACE(covariance + ", " + kind + ", " + std::to_string(chains) + " chains, " +
                     std::to_string(rows) + " rows");
        Problem problem({0}, chains, 3, rows, 5);
        problem.model.covariance = covariance;
        problem.proposal.kind = kind;
        problem.mixture = testing::with_correlations(problem.mixture, covariance, 5);
        PriorSet prior = testing::mixture_prior();
        prior.blocks["correlations"] = {PriorFamily::lkj, {number(2)}};
        problem.target = Target(model_layout(problem.model, 5), prior, std::vector<double>(5, 1.0));
        problem.starts.clear();
        for (unsigned c = 0; c < chains; ++c)
          problem.starts.insert(problem.starts.end(), problem.mixture.theta.begin(),
                                problem.mixture.theta.end());
        problem.options.warmup = 8;
        problem.options.draws = 4;
        EXPECT_TRUE(is_in_one_kernel(expect_draws_of_launched_steps(problem, Precision::mixed)));
      }
}

}  // namespace
}  // namespace emomc
