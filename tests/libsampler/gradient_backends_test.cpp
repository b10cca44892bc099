// Tests gradient samplers on every backend. With the host's gradients, a GPU has the host's draws, bit for
// bit. Draws depend on nothing but chain, seed and posterior, and one posterior is known in closed form.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <iostream>
#include <random>

#include "emomc/likelihood/expression.hpp"
#include "emomc/sampler/diagnostics.hpp"
#include "keeper.hpp"
#include "liblikelihood/random_mixture.hpp"
#include "normal_engine.hpp"
#include "trajectory_problems.hpp"

namespace emomc {
namespace {

using namespace testing;

const std::vector<std::string> kKinds{"mala", "hmc", "nuts", "chees"};

/// The way in which steps are run, on which draws must not depend.
struct Way {
  std::int64_t segment = 1;  ///< steps of a segment
  RepeatedBy by = RepeatedBy::device;
  std::string name() const {
    return "segments of " + std::to_string(segment) +
           (by == RepeatedBy::device ? "" : ", repeated by the host");
  }
};
const std::vector<Way> kWays{{1}, {7}, {40}, {1, RepeatedBy::host}, {40, RepeatedBy::host}};

/// Returns adapted numbers for all chains: a metric diag(0.5, 0.6, ...), with small elements below the
/// diagonal if it is dense.
std::vector<double> adapted_numbers(const ProposalBlocks& blocks, int n, double step_size) {
  const device::AdaptedLayout layout = blocks.adapted_layout(n);
  std::vector<double> adapted(static_cast<std::size_t>(layout.size()), 0.0);
  adapted[static_cast<std::size_t>(layout.scale(0))] = std::log(step_size);
  for (int i = 0; i < n; ++i) adapted[static_cast<std::size_t>(layout.sd(i))] = 0.5 + 0.1 * (i % 5);
  if (blocks.shape == ProposalShape::dense)
    for (int column = 0; column < n; ++column)
      for (int row = column; row < n; ++row)
        adapted[static_cast<std::size_t>(layout.dense(0) + column * n + row)] =
            row == column ? 0.5 + 0.1 * (row % 5) : 0.02 * (1 + (row + column) % 3) / n;
  return adapted;
}

/// Results of chains with a fixed adaptation.
struct Steps {
  std::vector<std::vector<double>> theta;       ///< for each chain, kSteps x dim
  std::vector<std::vector<double>> statistics;  ///< for each chain, kSteps x 8 numbers of each draw
  std::string stepping;
  bool operator==(const Steps& other) const { return theta == other.theta && statistics == other.statistics; }
  Steps first(std::size_t chains) const {
    return {{theta.begin(), theta.begin() + static_cast<std::ptrdiff_t>(chains)},
            {statistics.begin(), statistics.begin() + static_cast<std::ptrdiff_t>(chains)},
            ""};
  }
};

constexpr std::int64_t kSteps = 40;

Steps steps_of(LikelihoodEngine& engine, const Target& target, const ProposalSpec& proposal, int num_chains,
               double step_size, const Way& way) {
  std::vector<ChainPlan> plans;
  for (int c = 0; c < num_chains; ++c) plans.push_back({static_cast<std::uint64_t>(c), {0}, 1.0, 0});
  engine.allocate(plans, ComponentCaches::off);
  const ProposalBlocks blocks = plan_blocks(traits_of_kind(proposal.kind), proposal.shape, target);
  const RecordLayout record{kSteps};
  Ensemble ensemble(engine.device(), {&target, 1}, blocks, plans, 3, record);
  const auto trajectories = make_trajectories(proposal.kind, engine, ensemble, record, way.by);
  SegmentRunner segments(engine, ensemble, *trajectories, blocks, record);
  const int n = target.dim_unconstrained();
  ensemble.upload_adapted(adapted_numbers(blocks, n, step_size));
  std::vector<double> start;
  for (int c = 0; c < num_chains; ++c)
    for (int i = 0; i < n; ++i) start.push_back(0.2 * std::cos(3 * c + 7 * i));
  ensemble.upload_points(start, {&target, 1});
  trajectories->evaluate_current();

  const auto chains = static_cast<std::size_t>(num_chains), dim = static_cast<std::size_t>(target.dim());
  Steps result{std::vector<std::vector<double>>(chains), std::vector<std::vector<double>>(chains),
               segments.stepping("")};
  const auto drain = [&](const SegmentResult& segment) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(segment.num_kept); ++i)
      for (std::size_t c = 0; c < chains; ++c) {
        const std::size_t row = i * chains + c;
        result.theta[c].insert(result.theta[c].end(), segment.theta + row * dim,
                               segment.theta + (row + 1) * dim);
        const DrawStatistics& s = segment.statistics[row];
        result.statistics[c].insert(result.statistics[c].end(),
                                    {segment.log_prior[row], segment.log_likelihood[row], s.step_size,
                                     s.acceptance, s.energy, static_cast<double>(s.tree_depth),
                                     static_cast<double>(s.num_leapfrogs), static_cast<double>(s.divergent)});
      }
  };
  for (std::int64_t done = 0; done < kSteps; done += way.segment)
    segments.run(done, std::min(way.segment, kSteps - done), 0, 1, CopyPoints::theta, drain);
  segments.finish(drain);
  return result;
}

double acceptance_of(const Steps& steps) {
  double sum = 0;
  constexpr std::size_t kNumbers = 8;
  for (std::size_t i = 3; i < steps.statistics[0].size(); i += kNumbers)
    sum += steps.statistics[0][i] / kSteps;
  return sum;
}

// ---- Bits, with an engine that has the same bits everywhere.

Target mixture_with_covariances_and_arguments() {
  PriorSet prior = mixture_prior();
  const ArrayArgument sampled{{}, {}, true};
  prior.blocks["means"] = {PriorFamily::normal, {sampled, sampled}};
  prior.blocks["means.mean"] = {PriorFamily::normal, {number(0), number(3)}};
  prior.blocks["means.sd"] = {PriorFamily::half_normal, {number(3)}};
  prior.blocks["scales"] = {PriorFamily::lognormal, {sampled, number(1)}};
  prior.blocks["scales.meanlog"] = {PriorFamily::normal, {number(0), number(1)}};
  prior.blocks["correlations"] = {PriorFamily::lkj, {number(2)}};
  return {model_layout({"gaussian_mixture", 2, "full"}, 3), prior, std::vector<double>(3, 1.0)};
}

class OnGpu : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!has_gpu()) GTEST_SKIP() << "no GPU";
  }
};
INSTANTIATE_TEST_SUITE_P(CudaTrajectories, OnGpu, ::testing::ValuesIn(kKinds),
                         [](const auto& kind) { return kind.param; });

// The cases cover all transforms, tables with and without covariances and conditional densities, vectors
// longer and shorter than a team, few and many chains, all segments, and both ways of repeating leapfrogs.
TEST_P(OnGpu, HasTheHostsBits) {
  struct Case {
    const char* name;
    Target target;
    double step_size;
  };
  const std::vector<Case> cases{{"real", real_target(5, 1), 0.8},
                                {"longer than a team", real_target(200, 1), 0.4},
                                {"constrained", constrained().problem.target, 0.4},
                                {"covariances", mixture_with_covariances_and_arguments(), 0.1}};
  const auto host = make_device(Backend::reference), gpu = make_device(Backend::cuda);
  for (const Case& one : cases)
    for (const auto shape : {ProposalShape::diagonal, ProposalShape::dense}) {
      NormalEngine there(*host, one.target.layout()), here(*gpu, one.target.layout());
      const ProposalSpec proposal{GetParam(), shape};
      const Steps expected = steps_of(there, one.target, proposal, 64, one.step_size, {kSteps});
      std::cout << one.name << ": acceptance " << acceptance_of(expected) << '\n';
      EXPECT_GT(acceptance_of(expected), 0.2) << one.name;
      for (const std::size_t chains : {1u, 3u, 64u})
        for (const Way& way : kWays) {
          const Steps actual =
              steps_of(here, one.target, proposal, static_cast<int>(chains), one.step_size, way);
          EXPECT_TRUE(actual == expected.first(chains))
              << one.name << ", " << static_cast<int>(shape) << ", " << chains << " chains, " << way.name();
        }
    }
}

// Conditional graph nodes need a driver of CUDA 12.4 or later.
TEST_P(OnGpu, LeapfrogsAreRepeatedByWhomThatWasAskedOf) {
  const auto gpu = make_device(Backend::cuda);
  const Target target = real_target(5, 1);
  NormalEngine engine(*gpu, target.layout());
  const auto stepping = [&](RepeatedBy by) {
    return steps_of(engine, target, {GetParam()}, 3, 0.8, {kSteps, by}).stepping;
  };
  EXPECT_EQ(stepping(RepeatedBy::device),
            "kernels for each leapfrog, repeated by the GPU until all chains have done their steps");
  EXPECT_TRUE(stepping(RepeatedBy::host).starts_with("kernels for each leapfrog, repeated by the host"));
}

// The chains adapt in a longer run that uses both buffers, and a state from the middle of the run is
// compared.
TEST_P(OnGpu, AWholeRunHasTheHostsBits) {
  const Target target = constrained().problem.target;
  std::vector<ChainPlan> plans;
  std::vector<double> starts;
  for (std::uint64_t c = 0; c < 4; ++c) {
    plans.push_back({c, {0}, 1.0, 0});
    const auto start = target.draw_from_prior(8, static_cast<std::uint32_t>(c), 0);
    starts.insert(starts.end(), start.begin(), start.end());
  }
  RunOptions options;
  options.warmup = 300;
  options.draws = 200;
  options.seed = 6;
  const auto run = [&](Backend backend, DrawHandler& handler, const SamplerState* resume = nullptr) {
    const auto device = make_device(backend);
    NormalEngine engine(*device, target.layout());
    return run_chains(engine, target, {GetParam()}, plans, options, starts, handler, resume);
  };
  Keeper expected, actual, first, second;
  const RunResult there = run(Backend::reference, expected), here = run(Backend::cuda, actual);
  EXPECT_EQ(actual.theta, expected.theta);
  EXPECT_EQ(actual.log_likelihood, expected.log_likelihood);
  EXPECT_EQ(here.num_evaluations, there.num_evaluations);
  EXPECT_EQ(here.state.adaptation, there.state.adaptation);
  EXPECT_EQ(here.trajectories.mean_leapfrogs, there.trajectories.mean_leapfrogs);
  options.segment_steps = 10;
  first.stop_after = 350;
  run(Backend::cuda, first);
  ASSERT_FALSE(first.states.empty());
  run(Backend::cuda, second, &first.states.back());
  ASSERT_LT(second.theta.size(), expected.theta.size());
  EXPECT_TRUE(std::equal(second.theta.rbegin(), second.theta.rend(), expected.theta.rbegin()));
}

// ---- Expressions, whose gradients the engines compute.

/// The model y = a + b x with normal errors of sd 1 and normal(0, 10) priors, whose posterior is normal.
struct Line {
  DataSet data;
  Expression expression;
  Target target;
  std::vector<double> rows;
  Eigen::Vector2d mean = Eigen::Vector2d::Zero();
  Eigen::Matrix2d covariance;

  Line() : expression(spec(), {"x", "y"}), target(expression.layout(), prior(), std::span<const double>()) {
    std::mt19937_64 random(12);
    std::normal_distribution<double> normal;
    Eigen::Matrix2d precision = Eigen::Matrix2d::Identity() / 100;
    for (int i = 0; i < 300; ++i) {
      const double x = 1 + normal(random), y = 0.7 - 0.4 * x + normal(random);
      for (std::size_t column : expression.used_columns()) rows.push_back(column == 0 ? x : y);
      const Eigen::Vector2d row(1, x);
      precision += row * row.transpose();
      mean += row * y;
    }
    covariance = precision.inverse();
    mean = covariance * mean;
  }
  static ExpressionSpec spec() {
    ExpressionSpec spec;
    spec.parameters = {{"a", "", Support::real, {}}, {"b", "", Support::real, {}}};
    spec.log_density = {"", "normal_lpdf(y, a + b * x, 1)"};
    return spec;
  }
  static PriorSet prior() {
    PriorSet prior;
    prior.blocks = {{"a", {PriorFamily::normal, {number(0), number(10)}}},
                    {"b", {PriorFamily::normal, {number(0), number(10)}}}};
    prior.scale_floor = 0;
    return prior;
  }
  std::unique_ptr<LikelihoodEngine> engine(Backend backend, Precision precision, Device& device) const {
    Expression::Bound bound = expression.bind(backend, rows);
    return make_engine(backend, bound.model, precision, bound.data, device);
  }
};

class ExpressionsOnBackend : public ::testing::TestWithParam<std::tuple<Backend, std::string>> {
 protected:
  void SetUp() override {
    if (backend() == Backend::cuda && !has_gpu()) GTEST_SKIP() << "no GPU";
    device_ = make_device(backend());
    if (!line_.engine(backend(), Precision::mixed, *device_)->capabilities().gradient)
      GTEST_SKIP() << "the engine has no gradients";
  }
  static Backend backend() { return std::get<0>(GetParam()); }
  static std::string kind() { return std::get<1>(GetParam()); }

  Line line_;
  std::unique_ptr<Device> device_;
};
INSTANTIATE_TEST_SUITE_P(GradientSamplers, ExpressionsOnBackend,
                         ::testing::Combine(::testing::Values(Backend::cpu, Backend::cuda),
                                            ::testing::ValuesIn(kKinds)),
                         [](const auto& parameters) {
                           return std::string(std::get<0>(parameters.param) == Backend::cpu ? "cpu_"
                                                                                            : "cuda_") +
                                  std::get<1>(parameters.param);
                         });

TEST_P(ExpressionsOnBackend, AChainsDrawsDoNotDependOnHowAndBesideWhatItRuns) {
  const auto engine = line_.engine(backend(), Precision::mixed, *device_);
  for (const auto shape : {ProposalShape::diagonal, ProposalShape::dense}) {
    const Steps expected = steps_of(*engine, line_.target, {kind(), shape}, 64, 0.12, {kSteps});
    EXPECT_GT(acceptance_of(expected), 0.2);
    EXPECT_NE(expected.theta[0], expected.theta[1]);
    for (const std::size_t chains : {1u, 3u, 64u})
      for (const Way& way : kWays)
        EXPECT_TRUE(steps_of(*engine, line_.target, {kind(), shape}, static_cast<int>(chains), 0.12, way) ==
                    expected.first(chains))
            << chains << " chains, " << way.name();
  }
}

RunResult run_line(const Line& line, LikelihoodEngine& engine, const std::string& kind,
                   const RunOptions& options, DrawHandler& handler, const SamplerState* resume = nullptr) {
  std::vector<ChainPlan> plans;
  std::vector<double> starts;
  for (std::uint64_t c = 0; c < 4; ++c) {
    plans.push_back({c, {0}, 1.0, 0});
    starts.insert(starts.end(), {0.2 * static_cast<double>(c), -0.1 * static_cast<double>(c)});
  }
  return run_chains(engine, line.target, {kind, ProposalShape::dense}, plans, options, starts, handler,
                    resume);
}

// There are 6 instances with 4 comparisons within 6.5 standard errors (8.1e-11 for a normal error), which
// gives a rate of false alarms of 1.9e-9.
TEST_P(ExpressionsOnBackend, APosteriorHasItsMomentsInClosedForm) {
  const auto engine = line_.engine(backend(), Precision::float64, *device_);
  RunOptions options;
  options.draws = 2000;
  options.thin = kind() == "mala" ? 5 : 1;
  options.seed = 15;
  Keeper keeper;
  const RunResult result = run_line(line_, *engine, kind(), options, keeper);
  if (backend() == Backend::cuda) {
    EXPECT_TRUE(result.stepping.starts_with("kernels for each leapfrog")) << result.stepping;
  }
  for (int i = 0; i < 2; ++i) {
    const DrawsView view{keeper.theta.data() + i, 2000, 4, 8, 2};
    const double sd = std::sqrt(line_.covariance(i, i));
    EXPECT_LT(std::abs(draws_mean(view) - line_.mean[i]), 6.5 * mcse_mean(view)) << i;
    EXPECT_LT(std::abs(draws_sd(view) - sd), 6.5 * mcse_sd(view)) << i;
    EXPECT_LT(mcse_mean(view), 0.1 * sd) << i;
  }
}

TEST_P(ExpressionsOnBackend, ARunGoesOnFromAStateBitForBit) {
  const auto engine = line_.engine(backend(), Precision::mixed, *device_);
  RunOptions options;
  options.warmup = 150;
  options.draws = 100;
  options.segment_steps = 7;
  options.seed = 16;
  for (const std::int64_t stop_after : {60, 200}) {
    Keeper whole, first, second;
    run_line(line_, *engine, kind(), options, whole);
    first.stop_after = stop_after;
    run_line(line_, *engine, kind(), options, first);
    ASSERT_FALSE(first.states.empty());
    run_line(line_, *engine, kind(), options, second, &first.states.back());
    ASSERT_FALSE(second.theta.empty());
    EXPECT_TRUE(std::equal(second.theta.rbegin(), second.theta.rend(), whole.theta.rbegin()));
    EXPECT_EQ(first.theta.size() + second.theta.size(), whole.theta.size());
  }
}

}  // namespace
}  // namespace emomc
