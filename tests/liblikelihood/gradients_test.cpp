// Tests gradients of expressions: compares them with derivatives with 50 digits (data/make_gradients.py),
// compares the engines with each other, and tests that their bits depend only on the point.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "emomc/core/errors.hpp"
#include "emomc/likelihood/engines.hpp"
#include "emomc/likelihood/expression.hpp"
#include "engine_case.hpp"

namespace emomc {
namespace {

struct PointGradient {
  double value = 0;
  std::vector<double> gradient;
};

/// Returns values and gradients of an engine at points [num_chains][dim], all chains in one call.
std::vector<PointGradient> gradients_of(LikelihoodEngine& engine,
                                        const std::vector<std::vector<double>>& points,
                                        const std::vector<ChainPlan>& chains) {
  engine.allocate(chains, ComponentCaches::off);
  engine.allocate_gradients();
  const int dim = engine.layout().dim(), count = static_cast<int>(points.size());
  DeviceArray<double> theta(engine.device(), points.size() * static_cast<std::size_t>(dim)),
      gradient(engine.device(), points.size() * static_cast<std::size_t>(dim)),
      values(engine.device(), points.size());
  std::vector<double> all;
  for (const auto& point : points) all.insert(all.end(), point.begin(), point.end());
  theta.upload(all);
  engine.evaluate_with_gradient({count, dim, dim, theta.data(), values.data()}, {gradient.data(), dim},
                                {nullptr, count});
  const std::vector<double> v = values.download(), g = gradient.download();
  std::vector<PointGradient> result;
  for (int i = 0; i < count; ++i)
    result.push_back({v[static_cast<std::size_t>(i)],
                      {g.begin() + static_cast<std::ptrdiff_t>(i) * dim,
                       g.begin() + static_cast<std::ptrdiff_t>(i + 1) * dim}});
  return result;
}

PointGradient gradient_of(LikelihoodEngine& engine, const std::vector<double>& point) {
  return gradients_of(engine, {point}, {{0, {0}, 1.0, 0}})[0];
}

// ---- Functions and densities of one row, by the interpreter.

struct GradientCase {
  std::string name;
  std::vector<double> arguments, derivatives, conditions;
  double value = 0;
};

std::vector<GradientCase> read_cases() {
  std::ifstream file(EMOMC_SOURCE_DIR "/tests/liblikelihood/data/gradients.txt");
  std::vector<GradientCase> cases;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    GradientCase c;
    std::size_t count = 0;
    words >> c.name >> count;
    const auto next = [&] {
      std::string word;
      words >> word;
      return std::strtod(word.c_str(), nullptr);
    };
    for (std::size_t i = 0; i < count; ++i) c.arguments.push_back(next());
    c.value = next();
    for (std::size_t i = 0; i < count; ++i) {
      c.derivatives.push_back(next());
      c.conditions.push_back(next());
    }
    cases.push_back(c);
  }
  return cases;
}

/// The call name(p0, 3, p1), with parameters in place of real numbers and the data column `one` as a factor.
struct CallOfParameters {
  ExpressionSpec spec;
  std::vector<double> theta;
};
CallOfParameters call_of(const GradientCase& c) {
  CallOfParameters call;
  std::string text = "one * " + c.name + "(";
  for (std::size_t i = 0; i < c.arguments.size(); ++i) {
    if (i > 0) text += ", ";
    if (std::isnan(c.derivatives[i])) {
      text += std::to_string(static_cast<long>(c.arguments[i]));
    } else {
      const std::string name = "p" + std::to_string(i);
      call.spec.parameters.push_back({name, "", Support::real, {}});
      call.theta.push_back(c.arguments[i]);
      text += name;
    }
  }
  call.spec.log_density = {"likelihood.log_density", text + ")"};
  return call;
}

/// Returns whether a derivative has only nine digits. The derivatives of tails with respect to their shape
/// and of trigamma are differences of order eight, and in beta_binomial_lpmf the two beta functions cancel.
bool has_nine_digits(const std::string& name) {
  return name == "trigamma" || name == "beta_binomial_lpmf" || name.starts_with("log_inc_beta") ||
         name.starts_with("log_gamma_p") || name.starts_with("log_gamma_q") ||
         name.starts_with("log_student_t") || name.ends_with("cdf");
}

TEST(Gradients, OfFunctionsHaveTheDerivativesOfMpmath) {
  const bool print = std::getenv("EMOMC_PRINT_ERRORS") != nullptr;
  std::map<std::string, std::pair<double, std::string>> worst;
  const auto host = make_device(Backend::reference);
  std::size_t compared = 0;
  for (const GradientCase& c : read_cases()) {
    const CallOfParameters call = call_of(c);
    const Expression model(call.spec, {"one"});
    const Expression::Bound bound = model.bind(Backend::reference, std::vector<double>{1.0});
    const auto engine = make_engine(Backend::reference, bound.model, Precision::float64, bound.data, *host);
    if (!engine->capabilities().gradient) {
      // There is no derivative with respect to an order, or to the first argument of a function that is a
      // derivative itself.
      EXPECT_TRUE(c.name.starts_with("log_modified_bessel_first_kind") || c.name == "digamma_difference")
          << c.name;
      continue;
    }
    const PointGradient ours = gradient_of(*engine, call.theta);
    for (std::size_t i = 0, p = 0; i < c.arguments.size(); ++i) {
      if (std::isnan(c.derivatives[i])) continue;
      const double value = ours.gradient[p++], exact = c.derivatives[i];
      // The tolerance also covers a change of the arguments by a few last digits, and a change of the
      // derivative that would not change the value even over a step as large as the argument.
      double bar =
          (has_nine_digits(c.name) ? 1e-9 : 1e-12) * std::abs(exact) + 1e-14 * c.conditions[i] + 1e-300;
      if (c.arguments[i] != 0) bar += 1e-14 * std::abs(c.value / c.arguments[i]);
      const double error = std::abs(value - exact) / bar;
      std::string where = c.name + "(";
      for (double x : c.arguments) where += std::to_string(x) + " ";
      where += ") by " + std::to_string(i) + ": " + std::to_string(value) + ", exact " +
               std::to_string(exact) + ", relative error " +
               std::to_string(std::abs(value / exact - 1) * 1e9) + "e-9";
      if (!(error <= 1)) ADD_FAILURE() << where;
      auto& [largest, text] = worst[c.name];
      if (!(error < largest)) largest = error, text = where;
      ++compared;
    }
  }
  EXPECT_GT(compared, 2000U);
  if (print)
    for (const auto& [name, w] : worst) std::printf("%8.3g %s\n", w.first, w.second.c_str());
}

// ---- Likelihoods, by every engine.

struct Likelihood {
  ExpressionSpec spec;
  std::vector<std::string> columns;
  std::vector<double> theta;
};

Likelihood likelihood(std::vector<ExpressionParameter> parameters, const std::string& log_density,
                      std::vector<double> theta) {
  Likelihood l;
  l.spec.parameters = std::move(parameters);
  l.spec.log_density = {"likelihood.log_density", log_density};
  l.columns = {"x", "y", "n", "g"};
  l.theta = std::move(theta);
  return l;
}

LinearPredictor predictor(const std::string& name, int covariates) {
  LinearPredictor p{name, "likelihood.linear." + name, "a", {}, "b", {"", "0.1 * y"}};
  for (int j = 0; j < covariates; ++j) p.columns.push_back("c" + std::to_string(j));
  return p;
}

/// Returns a likelihood of each form that generated code has.
std::map<std::string, Likelihood> likelihoods() {
  std::map<std::string, Likelihood> all;
  const ExpressionParameter a{"a", "", Support::real, {}}, b{"b", "", Support::positive, {}},
      f{"f", "", Support::unit_interval, {}}, list{"u", "", Support::real, {5}},
      unused{"z", "", Support::real, {}};
  all["two_gaussians"] =
      likelihood({f, a, {"s", "", Support::positive, {2}}},
                 "log_mix(f, normal_lpdf(x, a, s[0]), normal_lpdf(x, a, s[1]))", {0.3, 0.1, 0.7, 1.9});
  all["unused"] = likelihood({a, unused, b}, "student_t_lpdf(x, 4, a, b)", {0.2, 1.0, 1.3});
  all["gather"] = likelihood({list, b}, "normal_lpdf(x, u[g] * y, b)", {0.1, -0.4, 0.8, 0.3, -1.2, 0.9});
  all["gather_of_sums"] =
      likelihood({list, b}, "poisson_log_lpmf(n, log([b, b + 1, square(b), b, exp(u[0])])[g])",
                 {0.1, -0.4, 0.8, 0.3, -1.2, 0.9});
  all["choice"] = likelihood(
      {a, b}, "if_else(x > a, -b * (x - a), if_else(b * y > 0, log(b * y), sqrt(-y * b)) - x)", {0.1, 1.4});
  all["softmax"] = likelihood({list}, "categorical_logit_lpmf(g, [u[0] * x, u[1], u[2] * y, u[3], u[4]])",
                              {0.1, -0.4, 0.8, 0.3, -1.2});
  all["parameters_alone"] = likelihood({a, b}, "-square(a) * b - log1p_exp(a * b) + 0 * x", {0.7, 1.4});
  all["weighted"] = likelihood({a, b}, "normal_lpdf(x, a, b)", {0.7, 1.4});
  all["weighted"].spec.weights = "n";
  all["skew_tails"] =
      likelihood({a, b, {"k", "", Support::real, {}}},
                 "skew_normal_lcdf(x, a, b, k) + skew_normal_lccdf(y, a, b, k)", {0.3, 1.2, 2.0});
  all["skew"] = likelihood({a, b, {"k", "", Support::real, {}}},
                           "skew_normal_lpdf(x, a, b, k) + von_mises_lpdf(y, a, b)", {0.3, 1.2, 2.0});
  all["logistic_8"] = likelihood({}, "log_inv_logit(if_else(n > 1, eta, -eta))", {0.2});
  all["logistic_8"].spec.linear = {predictor("eta", 8)};
  // Groups of eight columns, of four, and single columns; with two covariates lanes of a GPU multiply.
  for (const int covariates : {2, 3, 8, 10, 13, 50}) {
    Likelihood& l = all["poisson_" + std::to_string(covariates)] =
        likelihood({}, "poisson_log_lpmf(n, eta)", {0.2});
    l.spec.linear = {predictor("eta", covariates)};
  }
  for (auto& [name, l] : all) {
    if (l.spec.linear.empty()) continue;
    for (std::size_t j = 0; j < l.spec.linear[0].columns.size(); ++j) {
      l.columns.push_back("c" + std::to_string(j));
      l.theta.push_back(0.3 * std::sin(static_cast<double>(j) + 1.0));
    }
  }
  // Predictors whose columns are multiplied by different numbers.
  for (const int covariates : {9, 1}) {
    Likelihood& l = all["two_predictors_" + std::to_string(covariates)] =
        likelihood({}, "normal_lpdf(x, eta, exp(zeta))", {});
    l.spec.linear = {predictor("eta", covariates), predictor("zeta", 1)};
    l.spec.linear[1].intercept = covariates == 1 ? "" : "a2";
    l.spec.linear[1].coefficients = "b2";
    for (int j = 0; j < covariates; ++j) l.columns.push_back("c" + std::to_string(j));
    for (int j = 0; j < covariates + (covariates == 1 ? 2 : 3); ++j)
      l.theta.push_back(0.3 * std::sin(j + 1.0));
  }
  return all;
}

std::vector<double> rows_of(const Likelihood& l, std::size_t num_rows) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  std::vector<double> rows;
  for (std::size_t i = 0; i < num_rows; ++i)
    for (const std::string& column : l.columns) {
      const double x = static_cast<double>(static_cast<float>(normal(random)));
      rows.push_back(column == "n" || column == "g" ? std::min(4.0, std::floor(2 * std::abs(x))) : x);
    }
  return rows;
}

Expression::Bound bound(const Likelihood& l, Backend backend, const std::vector<double>& rows) {
  const Expression model(l.spec, l.columns);
  std::vector<double> used;
  for (std::size_t i = 0; i < rows.size(); i += l.columns.size())
    for (std::size_t j : model.used_columns()) used.push_back(rows[i + j]);
  return model.bind(backend, used);
}

class GradientsOfEngine : public testing::EngineTest {};
INSTANTIATE_TEST_SUITE_P(Engines, GradientsOfEngine, testing::all_engine_cases(), testing::name_of_case);

double log_likelihood_of(LikelihoodEngine& engine, const std::vector<double>& theta) {
  double value = 0;
  engine.sums_by_segment(theta.data(), 1, &value);
  return value;
}

// The reference engine's gradient is the slope of its log likelihood, which is computed by central
// differences that are extrapolated to step 0.
TEST(Gradients, AreTheSlopesOfTheLogLikelihood) {
  for (const auto& [name, l] : likelihoods()) {
    SCOPED_TRACE(name);
    const std::vector<double> rows = rows_of(l, 40);
    const auto device = make_device(Backend::reference);
    const Expression::Bound ours = bound(l, Backend::reference, rows);
    const auto engine = make_engine(Backend::reference, ours.model, Precision::float64, ours.data, *device);
    const PointGradient at = gradient_of(*engine, l.theta);
    EXPECT_EQ(at.value, log_likelihood_of(*engine, l.theta));
    for (std::size_t i = 0; i < l.theta.size(); ++i) {
      const auto slope = [&](double step) {
        std::vector<double> up = l.theta, down = l.theta;
        up[i] += step;
        down[i] -= step;
        return (log_likelihood_of(*engine, up) - log_likelihood_of(*engine, down)) / (2 * step);
      };
      const double expected = (4 * slope(1e-4) - slope(2e-4)) / 3;
      EXPECT_NEAR(at.gradient[i], expected, 1e-8 * (1 + std::abs(at.value))) << "parameter " << i;
    }
  }
}

TEST_P(GradientsOfEngine, AreThoseOfTheReferenceEngine) {
  const bool exact = precision() == Precision::float64;
  for (const auto& [name, l] : likelihoods())
    for (const std::size_t num_rows : {std::size_t{1}, std::size_t{130}, std::size_t{5000}}) {
      SCOPED_TRACE(name + ", " + std::to_string(num_rows) + " rows");
      const std::vector<double> rows = rows_of(l, num_rows);
      const auto device = make_device(backend()), host = make_device(Backend::reference);
      const Expression::Bound ours = bound(l, backend(), rows), theirs = bound(l, Backend::reference, rows);
      const auto engine = make_engine(backend(), ours.model, precision(), ours.data, *device);
      const auto reference =
          make_engine(Backend::reference, theirs.model, Precision::float64, theirs.data, *host);
      const PointGradient at = gradient_of(*engine, l.theta), expected = gradient_of(*reference, l.theta);
      EXPECT_EQ(at.value, log_likelihood_of(*engine, l.theta));
      // The gradient is a sum of terms of about this size, each with the rounding of its type.
      double size = 1;
      for (double g : expected.gradient) size = std::max(size, std::abs(g));
      const double bar = (exact ? 1e-13 : 1e-5) * (size + std::sqrt(static_cast<double>(num_rows)));
      for (std::size_t i = 0; i < l.theta.size(); ++i)
        EXPECT_NEAR(at.gradient[i], expected.gradient[i], bar) << "parameter " << i;
    }
}

// Other chains, their number, the active set and the number of threads change no bit.
TEST_P(GradientsOfEngine, HaveBitsThatDependOnThePointAlone) {
  for (const char* const name : {"gather", "poisson_2", "poisson_10", "two_gaussians", "two_predictors_9"}) {
    SCOPED_TRACE(name);
    const Likelihood l = likelihoods().at(name);
    for (const std::size_t num_rows : {std::size_t{700}, std::size_t{50'000}}) {
      const std::vector<double> rows = rows_of(l, num_rows);
      const auto device = make_device(backend());
      const Expression::Bound ours = bound(l, backend(), rows);
      std::vector<std::vector<double>> points(37, l.theta);
      for (std::size_t i = 0; i < points.size(); ++i)
        points[i][i % l.theta.size()] += 0.01 * static_cast<double>(i);
      const std::vector<ChainPlan> plans(points.size(), ChainPlan{0, {0}, 1.0, 0});
      const auto engine = make_engine(backend(), ours.model, precision(), ours.data, *device, 1);
      const std::vector<PointGradient> together = gradients_of(*engine, points, plans);
      for (const int threads : {1, 3}) {
        const auto other = make_engine(backend(), ours.model, precision(), ours.data, *device, threads);
        for (std::size_t i = 0; i < points.size(); i += 9) {
          const PointGradient alone = gradient_of(*other, points[i]);
          EXPECT_EQ(alone.value, together[i].value);
          EXPECT_EQ(alone.gradient, together[i].gradient);
        }
      }
    }
  }
}

// Chains read different segments, and sets of the same size follow each other.
TEST_P(GradientsOfEngine, AreThoseOfTheActiveChains) {
  const Likelihood l = likelihoods().at("poisson_10");
  const std::vector<double> rows = rows_of(l, 3000);
  const auto device = make_device(backend());
  Expression::Bound ours = bound(l, backend(), rows);
  ours.data.segments = {{0, 1000}, {1000, 2000}};
  const auto engine = make_engine(backend(), ours.model, precision(), ours.data, *device);
  std::vector<std::vector<double>> points(6, l.theta);
  std::vector<ChainPlan> plans;
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i][i] += 0.1;
    plans.push_back({i,
                     i % 3 == 0   ? std::vector<int>{0}
                     : i % 3 == 1 ? std::vector<int>{1}
                                  : std::vector<int>{0, 1},
                     1.0, 0});
  }
  const std::vector<PointGradient> expected = gradients_of(*engine, points, plans);
  const std::size_t dim = l.theta.size();
  std::vector<double> all;
  for (const auto& point : points) all.insert(all.end(), point.begin(), point.end());
  DeviceArray<double> theta(*device, all.size()), gradient(*device, all.size()),
      values(*device, points.size());
  theta.upload(all);
  for (const std::vector<int>& active :
       std::vector<std::vector<int>>{{0, 3}, {1, 4}, {2, 5}, {1, 2}, {0, 1, 2, 3, 4, 5}, {5}, {3}}) {
    DeviceArray<int> chains(*device, active.size());
    chains.upload(active);
    values.upload(std::vector<double>(points.size(), -1));
    gradient.upload(std::vector<double>(all.size(), -1));
    const int ld = static_cast<int>(dim);
    engine->evaluate_with_gradient({static_cast<int>(points.size()), ld, ld, theta.data(), values.data()},
                                   {gradient.data(), ld}, {chains.data(), static_cast<int>(active.size())});
    const std::vector<double> v = values.download(), g = gradient.download();
    for (std::size_t i = 0; i < points.size(); ++i) {
      const bool is_active = std::find(active.begin(), active.end(), static_cast<int>(i)) != active.end();
      SCOPED_TRACE("chain " + std::to_string(i) + " of " + std::to_string(active.size()) + " active ones");
      EXPECT_EQ(v[i], is_active ? expected[i].value : -1);
      const std::vector<double> own(g.begin() + static_cast<std::ptrdiff_t>(i * dim),
                                    g.begin() + static_cast<std::ptrdiff_t>((i + 1) * dim));
      EXPECT_EQ(own, is_active ? expected[i].gradient : std::vector<double>(dim, -1));
    }
  }
}

TEST(Gradients, OfNoRowsAreZero) {
  const Likelihood l = likelihoods().at("two_gaussians");
  const std::vector<double> rows = rows_of(l, 3);
  for (Backend backend : {Backend::reference, Backend::cpu}) {
    const auto device = make_device(backend);
    const Expression::Bound ours = bound(l, backend, rows);
    const auto engine = make_engine(backend, ours.model, Precision::float64, ours.data, *device);
    const PointGradient at = gradients_of(*engine, {l.theta}, {{0, {}, 1.0, 0}})[0];
    EXPECT_EQ(at.value, 0);
    EXPECT_EQ(at.gradient, std::vector<double>(l.theta.size(), 0));
  }
}

// The branch that is not taken has an infinite derivative here, sqrt'(0), or an undefined one.
TEST(Gradients, OfAChoiceAreThoseOfItsBranch) {
  for (const char* const text :
       {"one * if_else(a > 1, sqrt(a - 2), 3 * a)", "one * if_else(a > 1, log(a - a), 3 * a)",
        "one * if_else(a <= 1, 3 * a, pow(a - 0.5, -1) / 0)"}) {
    SCOPED_TRACE(text);
    ExpressionSpec spec;
    spec.parameters = {{"a", "", Support::real, {}}};
    spec.log_density = {"likelihood.log_density", text};
    const Expression model(spec, {"one"});
    const auto host = make_device(Backend::reference);
    const Expression::Bound ours = model.bind(Backend::reference, std::vector<double>{1.0});
    const auto engine = make_engine(Backend::reference, ours.model, Precision::float64, ours.data, *host);
    EXPECT_EQ(gradient_of(*engine, {0.5}).gradient[0], 3);
  }
}

// Functions that are defined by pieces are tested on each piece.
TEST(Gradients, OfPiecewiseFunctionsAreThoseOfThePiece) {
  struct Piece {
    const char* text;
    double a, by_a, by_b;  ///< derivatives by a and b; b is 1.5
  };
  for (const Piece& piece :
       {Piece{"abs(a) * b", -2, -1.5, 2}, Piece{"abs(a) * b", 2, 1.5, 2}, Piece{"fmax(a, 2 * b)", 4, 1, 0},
        Piece{"fmax(a, 2 * b)", 2, 0, 2}, Piece{"fmin(a, 2 * b)", 4, 0, 2}, Piece{"fmin(a, 2 * b)", 2, 1, 0},
        Piece{"max([a, b, 0])", 4, 1, 0}, Piece{"min([a, b, 2])", 4, 0, 1}, Piece{"fmod(a, b)", 4, 1, -2},
        Piece{"floor(a) * b", 2.4, 0, 2}, Piece{"ceil(a) * b", 2.4, 0, 3}, Piece{"round(a) * b", 2.4, 0, 2},
        Piece{"trunc(a) * b", -2.4, 0, -2}, Piece{"(a < b) * b", 1, 0, 1},
        Piece{"check_positive(a) * b", 2, 1.5, 2}, Piece{"check_finite(a) * b", 2, 1.5, 2},
        Piece{"check_nonnegative(a) * b", 2, 1.5, 2}, Piece{"check_unit(a) * b", 0.5, 1.5, 0.5}}) {
    SCOPED_TRACE(piece.text);
    ExpressionSpec spec;
    spec.parameters = {{"a", "", Support::real, {}}, {"b", "", Support::real, {}}};
    spec.log_density = {"likelihood.log_density", std::string("one * (") + piece.text + ")"};
    const Expression model(spec, {"one"});
    const auto host = make_device(Backend::reference);
    const Expression::Bound ours = model.bind(Backend::reference, std::vector<double>{1.0});
    const auto engine = make_engine(Backend::reference, ours.model, Precision::float64, ours.data, *host);
    EXPECT_EQ(gradient_of(*engine, {piece.a, 1.5}).gradient, (std::vector<double>{piece.by_a, piece.by_b}));
  }
}

TEST(Gradients, AreNotThereForAFunctionWithoutADerivative) {
  ExpressionSpec spec;
  spec.parameters = {{"a", "", Support::positive, {}}};
  spec.log_density = {"likelihood.log_density", "log_modified_bessel_first_kind(a, x)"};
  const Expression model(spec, {"x"});
  const auto host = make_device(Backend::reference);
  for (Backend backend : {Backend::reference, Backend::cpu}) {
    const Expression::Bound ours = model.bind(backend, std::vector<double>{1.0, 2.0});
    const auto engine = make_engine(backend, ours.model, Precision::float64, ours.data, *host);
    EXPECT_FALSE(engine->capabilities().gradient);
    EXPECT_EQ(ours.model->why_no_gradient(),
              "log_modified_bessel_first_kind has no derivative with respect to its argument 1");
    EXPECT_THROW(gradient_of(*engine, {0.5}), std::logic_error);
  }
}

}  // namespace
}  // namespace emomc
