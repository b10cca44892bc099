// Tests linear predictors, which kernels for several chains compute separately from the rest of a row. Their
// values equal those of the reference engine, and their bits do not depend on how many chains are evaluated
// together.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "emomc/likelihood/engines.hpp"
#include "emomc/likelihood/expression.hpp"
#include "engine_case.hpp"

namespace emomc {
namespace {

/// A likelihood with two linear predictors of `covariates` columns each. Both have the same columns, in
/// different orders.
struct Problem {
  ExpressionSpec spec;
  std::vector<std::string> columns;
  std::vector<double> rows;  ///< num_rows x columns.size()
  std::vector<double> theta;
};

Problem problem(int covariates, std::size_t num_rows) {
  Problem p;
  LinearPredictor mean{"eta", "likelihood.linear.eta", "a", {}, "b", {"", "0.25 * y"}},
      scale{"rho", "likelihood.linear.rho", "", {}, "g", {}};
  for (int j = 0; j < covariates; ++j) {
    p.columns.push_back("c" + std::to_string(j));
    mean.columns.push_back(p.columns.back());
    scale.columns.insert(scale.columns.begin(), p.columns.back());
  }
  p.columns.push_back("y");
  p.spec.linear = {mean, scale};
  p.spec.log_density = {"likelihood.log_density", "normal_lpdf(y, eta, exp(0.1 * rho)) - log1p_exp(rho)"};
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  for (std::size_t i = 0; i < num_rows * p.columns.size(); ++i) p.rows.push_back(normal(random));
  for (int j = 0; j < 1 + 2 * covariates; ++j) p.theta.push_back(normal(random) / std::sqrt(covariates));
  return p;
}

Expression::Bound bound(const Problem& p, Backend backend) {
  const Expression model(p.spec, p.columns);
  std::vector<double> used;
  for (std::size_t i = 0; i < p.rows.size(); i += p.columns.size())
    for (std::size_t j : model.used_columns()) used.push_back(p.rows[i + j]);
  return model.bind(backend, used);
}

class ProductSums : public testing::EngineTest {
 protected:
  /// Returns the log likelihoods of the points of `chains`, whose parameters are num_chains x dim.
  static std::vector<double> log_likelihoods(const RowModel& model, LikelihoodEngine& engine, Device& device,
                                             const std::vector<ChainPlan>& chains,
                                             const std::vector<std::vector<double>>& points) {
    engine.allocate(chains, ComponentCaches::off);
    const int dim = model.layout().dim(), count = static_cast<int>(chains.size());
    DeviceArray<double> theta(device, static_cast<std::size_t>(dim) * chains.size()),
        values(device, chains.size());
    std::vector<double> all;
    for (const auto& point : points) all.insert(all.end(), point.begin(), point.end());
    theta.upload(all);
    engine.evaluate({count, dim, dim, theta.data(), values.data()}, {nullptr, count});
    return values.download();
  }
};

INSTANTIATE_TEST_SUITE_P(Engines, ProductSums, testing::all_engine_cases(), testing::name_of_case);

// The numbers of columns cover rows in a thread's registers, streamed rows, and too few products for a
// separate sum.
TEST_P(ProductSums, RowsHaveTheValuesOfTheReferenceEngine) {
  for (int covariates : {3, 4, 10, 40, 120}) {
    SCOPED_TRACE(covariates);
    const Problem p = problem(covariates, 3000);
    const Expression::Bound ours = bound(p, backend()), exact = bound(p, Backend::reference);
    EXPECT_EQ(ours.header.find("num_product_sums = 2") != std::string::npos, covariates >= 4);
    const auto device = make_device(backend()), host = make_device(Backend::reference);
    const auto engine = make_engine(backend(), ours.model, precision(), ours.data, *device);
    const auto reference =
        make_engine(Backend::reference, exact.model, Precision::float64, exact.data, *host);
    std::vector<double> values(3000), expected(3000);
    engine->evaluate_rows(p.theta.data(), values.data());
    reference->evaluate_rows(p.theta.data(), expected.data());
    const double tolerance = precision() == Precision::float64 ? 1e-13 : 3e-6;
    double total = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_NEAR(values[i], expected[i], tolerance * (3 + std::abs(expected[i]))) << "row " << i;
      total += expected[i];
    }
    const double sum = log_likelihoods(*ours.model, *engine, *device, {{0, {0}, 1.0, 0}}, {p.theta})[0];
    EXPECT_NEAR(sum, total, tolerance * std::abs(total));
  }
}

/// Returns a Poisson regression without its constant: all coefficients are parameters.
Problem poisson_problem(int covariates, std::size_t num_rows) {
  Problem p = problem(covariates, num_rows);
  p.spec.linear = {{"eta", "likelihood.linear.eta", "a", {}, "b", {}}};
  for (int j = covariates - 1; j >= 0; --j) p.spec.linear[0].columns.push_back("c" + std::to_string(j));
  p.spec.log_density = {"likelihood.log_density", "abs(y) * eta - exp(eta)"};
  p.theta.resize(static_cast<std::size_t>(1 + covariates));
  return p;
}

// A kernel reads the parameters of such a likelihood directly. Other likelihoods have prepared coefficients.
TEST_P(ProductSums, WhereAllCoefficientsAreParametersKernelsReadThem) {
  for (int covariates : {4, 10, 40}) {
    SCOPED_TRACE(covariates);
    const Problem p = poisson_problem(covariates, 3000);
    const Expression::Bound ours = bound(p, backend()), exact = bound(p, Backend::reference);
    EXPECT_NE(ours.header.find("parameter_of(int i)"), std::string::npos);
    if (backend() != Backend::reference) {
      EXPECT_TRUE(ours.model->device().copies_parameters);
    }
    const auto device = make_device(backend()), host = make_device(Backend::reference);
    const auto engine = make_engine(backend(), ours.model, precision(), ours.data, *device);
    const auto reference =
        make_engine(Backend::reference, exact.model, Precision::float64, exact.data, *host);
    std::vector<std::vector<double>> points;
    std::vector<ChainPlan> chains;
    for (std::uint64_t i = 0; i < 5; ++i) {
      chains.push_back({i, {0}, 1.0, 0});
      points.push_back(p.theta);
      for (double& x : points.back()) x = 0.1 * x + 0.01 * static_cast<double>(i);
    }
    const auto together = log_likelihoods(*ours.model, *engine, *device, chains, points);
    const auto expected = log_likelihoods(*exact.model, *reference, *host, chains, points);
    for (std::size_t i = 0; i < chains.size(); ++i) {
      const double tolerance = precision() == Precision::float64 ? 1e-12 : 3e-6;
      EXPECT_NEAR(together[i], expected[i], tolerance * std::abs(expected[i]));
      EXPECT_EQ(log_likelihoods(*ours.model, *engine, *device, {{0, {0}, 1.0, 0}}, {points[i]})[0],
                together[i]);
    }
  }
}

TEST(CopiedParameters, AreNotThoseOfWhichSomethingIsComputed) {
  for (const std::string text : {"-exp(2 * eta) * exp(b[0])", "abs(y) * eta - exp(eta) + square(a)"}) {
    Problem p = poisson_problem(5, 10);
    p.spec.log_density.text = text;
    const Expression::Bound ours = bound(p, Backend::cpu);
    EXPECT_EQ(ours.header.find("parameter_of(int i)"), std::string::npos) << text;
    EXPECT_FALSE(ours.model->device().copies_parameters) << text;
  }
}

TEST_P(ProductSums, BitsDoNotDependOnTheChainsThatAreEvaluatedTogether) {
  for (const auto& [covariates, num_rows] :
       {std::pair<int, std::size_t>{10, 700}, {10, 300'000}, {40, 700}, {40, 100'000}, {120, 5000}}) {
    SCOPED_TRACE(std::to_string(covariates) + " covariates, " + std::to_string(num_rows) + " rows");
    const Problem p = problem(covariates, num_rows);
    const Expression::Bound ours = bound(p, backend());
    const auto device = make_device(backend());
    const auto engine = make_engine(backend(), ours.model, precision(), ours.data, *device);
    std::vector<std::vector<double>> points;
    std::vector<double> alone;
    for (int i = 0; i < 7; ++i) {
      points.push_back(p.theta);
      points.back()[static_cast<std::size_t>(i)] += 0.125;
      alone.push_back(log_likelihoods(*ours.model, *engine, *device, {{0, {0}, 1.0, 0}}, {points.back()})[0]);
    }
    for (int num_chains : {2, 4, 7, 37}) {
      std::vector<ChainPlan> chains;
      std::vector<std::vector<double>> theta;
      for (int i = 0; i < num_chains; ++i) {
        chains.push_back({static_cast<std::uint64_t>(i), {0}, 1.0, 0});
        theta.push_back(points[static_cast<std::size_t>(i) % points.size()]);
      }
      const std::vector<double> together = log_likelihoods(*ours.model, *engine, *device, chains, theta);
      for (std::size_t i = 0; i < together.size(); ++i)
        EXPECT_EQ(together[i], alone[i % alone.size()]) << "chain " << i << " of " << num_chains;
    }
  }
}

// Chains that read different rows are evaluated one after the other.
TEST_P(ProductSums, BitsDoNotDependOnWhatOtherChainsRead) {
  for (int covariates : {10, 40}) {
    const Problem p = problem(covariates, 20'000);
    Expression::Bound ours = bound(p, backend());
    ours.data.segments = {{0, 8'000}, {8'000, 12'000}};
    const auto device = make_device(backend());
    const auto engine = make_engine(backend(), ours.model, precision(), ours.data, *device);
    const std::vector<double> same = log_likelihoods(
        *ours.model, *engine, *device, {{0, {1}, 1.0, 0}, {1, {1}, 1.0, 0}}, {p.theta, p.theta});
    const std::vector<double> different = log_likelihoods(
        *ours.model, *engine, *device, {{0, {1}, 1.0, 0}, {1, {0}, 1.0, 0}}, {p.theta, p.theta});
    EXPECT_EQ(same[0], different[0]);
    EXPECT_EQ(same[0], same[1]);
    EXPECT_NE(same[1], different[1]);
    // A problem that contains only these rows must give the same values.
    Problem rest = p;
    rest.rows.erase(rest.rows.begin(),
                    rest.rows.begin() + 8'000 * static_cast<std::ptrdiff_t>(p.columns.size()));
    const Expression::Bound alone = bound(rest, backend());
    const auto engine_of_rest = make_engine(backend(), alone.model, precision(), alone.data, *device);
    const std::vector<ChainPlan> three{{0, {0}, 1.0, 0}, {1, {0}, 1.0, 0}, {2, {0}, 1.0, 0}};
    EXPECT_EQ(log_likelihoods(*alone.model, *engine_of_rest, *device, three, {p.theta, p.theta, p.theta}),
              std::vector<double>(3, same[0]));
  }
}

}  // namespace
}  // namespace emomc
