// Tests likelihoods that are expressions: what they mean, what is refused, and that the engines agree.
#include "emomc/likelihood/expression.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "emomc/core/errors.hpp"
#include "emomc/likelihood/engines.hpp"

namespace emomc {
namespace {

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}
std::string refusal_of(const std::string& expression) {
  return refusal([&] { value_of_expression(expression); });
}

TEST(ExpressionLanguage, OperatorsBindAsInStan) {
  EXPECT_EQ(value_of_expression("2 + 3 * 4"), 14);
  EXPECT_EQ(value_of_expression("-2 ^ 2"), -4);
  EXPECT_EQ(value_of_expression("2 ^ 3 ^ 2"), 512);
  EXPECT_EQ(value_of_expression("2 ^ -1"), 0.5);
  EXPECT_EQ(value_of_expression("7 - 2 - 1"), 4);
  EXPECT_EQ(value_of_expression("8 / 2 / 2"), 2);
  EXPECT_EQ(value_of_expression("1 / 2"), 0.5) << "a real division";
  EXPECT_EQ(value_of_expression("1 + 2 < 4 && 2 > 1 || 0 == 1"), 1);
  EXPECT_EQ(value_of_expression("!(1 < 2) || 3 != 3"), 0);
  EXPECT_EQ(value_of_expression("[1, 2, 3][1]"), 2);
  EXPECT_EQ(value_of_expression("if_else(2 <= 2, 5, log(-1))"), 5);
  EXPECT_EQ(value_of_expression("sum([1, 2, 3] * 2)"), 12);
  EXPECT_EQ(value_of_expression("dot_product([1, 2], [3, 4])"), 11);
  EXPECT_EQ(value_of_expression(".5e1 + 1e-1 * 10"), 6);
  EXPECT_EQ(value_of_expression("1\n +\t2"), 3);
}

TEST(ExpressionLanguage, FaultsAreNamedWithTheirColumn) {
  EXPECT_EQ(refusal_of("1 + "), "expression, column 5: a number, a name or \"(\" is expected, not end");
  EXPECT_EQ(refusal_of("(1 + 2"), "expression, column 7: \")\" is expected, not end");
  EXPECT_EQ(refusal_of("1 2"), "expression, column 3: unexpected \"2\" after the expression");
  EXPECT_EQ(refusal_of("2x"),
            "expression, column 2: a number ends here; write * between a number and a name");
  EXPECT_EQ(refusal_of("exp(1, 2)"), "expression, column 1: exp takes 1 argument, not 2: exp(x)");
  EXPECT_EQ(refusal_of("1 +\n nromal_lpdf(1, 2, 3)"),
            "expression, line 2, column 2: there is no function nromal_lpdf; did you mean normal_lpdf? emomc "
            "functions lists them");
  EXPECT_EQ(refusal_of("a ? b : c"),
            "expression, column 3: \"?\" has no meaning here; a choice is written if_else(condition, a, b)");
  EXPECT_EQ(refusal_of("ä"), "expression, column 1: \"ä\" has no meaning here");
  EXPECT_EQ(
      refusal_of("\"ä\" + $"),
      "expression, column 1: \"\"\" has no meaning here; there are no texts in expressions: data.categories "
      "maps names to numbers");
  EXPECT_EQ(refusal_of("[1, 2][2]"),
            "expression, column 8: an index of this list [2] counts from 0, and this is 2; allowed: 0 to 1");
  EXPECT_EQ(
      refusal_of("sum([1, 2] + [1, 2, 3])"),
      "expression, column 12: lists of 2 and 3 do not fit; allowed: lists of equal lengths, or one number");
  EXPECT_EQ(refusal_of("1 = 2"), "expression, column 3: \"=\" has no meaning here; equality is ==");
  EXPECT_EQ(refusal_of(""), "expression, column 1: empty; an expression is expected");
  EXPECT_EQ(refusal_of("exp"), "expression, column 1: exp is a function: exp(x)");
  EXPECT_EQ(refusal_of("1e999"),
            "expression, column 1: the number does not fit float64; allowed: sizes from 1e-307 to 1e308");
}

TEST(ExpressionLanguage, WhatWouldTakeForEverIsRefused) {
  const std::string deep(200, '(');
  EXPECT_NE(refusal_of(deep + "1" + std::string(200, ')')).find("nested more than 100 deep"),
            std::string::npos);
  std::string sum = "1";
  for (int i = 0; i < 2000; ++i) sum += "+1";
  EXPECT_NE(refusal_of(sum).find("more than 1000 operations"), std::string::npos);
  EXPECT_NE(refusal_of(std::string(20000, '1')).find("allowed: at most 16384"), std::string::npos);
}

/// A likelihood and rows of the columns x, y and g.
struct Model {
  ExpressionSpec spec;
  std::vector<double> theta;
};
const std::vector<std::string> kColumns{"x", "y", "g", "w"};

std::vector<double> made_rows(std::size_t num_rows) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  std::vector<double> rows;
  for (std::size_t i = 0; i < num_rows; ++i)
    rows.insert(rows.end(), {normal(random), static_cast<double>(random() % 7),
                             static_cast<double>(random() % 3), 0.5 + static_cast<double>(random() % 3)});
  return rows;
}

ExpressionSpec spec_of(std::vector<ExpressionParameter> parameters, const std::string& density) {
  ExpressionSpec spec;
  spec.parameters = std::move(parameters);
  spec.log_density = {"likelihood.log_density", density};
  return spec;
}

std::vector<double> used_rows(const Expression& model, const std::vector<double>& rows) {
  std::vector<double> used;
  for (std::size_t i = 0; i < rows.size(); i += kColumns.size())
    for (std::size_t j : model.used_columns()) used.push_back(rows[i + j]);
  return used;
}

class ExpressionEngines : public ::testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    if (GetParam() == Backend::cuda && list_cuda_devices().empty()) GTEST_SKIP() << "no GPU";
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, ExpressionEngines,
                         ::testing::Values(Backend::reference, Backend::cpu, Backend::cuda),
                         [](const auto& backend) {
                           return backend.param == Backend::reference ? "reference"
                                  : backend.param == Backend::cpu     ? "cpu"
                                                                      : "cuda";
                         });

double normal_lpdf(double x, double mu, double sigma) {
  const double z = (x - mu) / sigma;
  return -0.5 * z * z - std::log(sigma) - 0.5 * std::log(2 * M_PI);
}

void expect_rows(Backend backend, const ExpressionSpec& spec, const std::vector<double>& theta,
                 const std::function<double(const double*)>& formula) {
  const std::vector<double> rows = made_rows(3000);
  const Expression model(spec, kColumns);
  const Expression::Bound bound = model.bind(backend, used_rows(model, rows));
  const auto device = make_device(backend);
  for (const auto& [precision, tolerance] :
       {std::pair{Precision::float64, 1e-12}, {Precision::mixed, 1e-5}}) {
    const auto engine = make_engine(backend, bound.model, precision, bound.data, *device);
    std::vector<double> values(engine->num_rows());
    ASSERT_EQ(values.size(), 3000U);
    engine->evaluate_rows(theta.data(), values.data());
    double total = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double expected = formula(&rows[i * kColumns.size()]);
      ASSERT_NEAR(values[i], expected, tolerance * (1 + std::abs(expected))) << "row " << i << '\n'
                                                                             << bound.header;
      total += expected;
    }
    double sum = 0;
    engine->sums_by_segment(theta.data(), 1, &sum);
    EXPECT_NEAR(sum, total, 10 * tolerance * std::abs(total));
  }
}

TEST_P(ExpressionEngines, ALinearPredictorAndWeights) {
  ExpressionSpec spec = spec_of({{"s", "", Support::positive, {}}}, "normal_lpdf(y, eta, s * c)");
  spec.linear = {{"eta", "likelihood.linear.eta", "a", {"x", "g"}, "b", {"", "2 * x * x"}}};
  spec.constants = {{"c", "", {}, {1.5}}};
  spec.weights = "w";
  const std::vector<double> theta{1.3, 0.2, 0.7, -0.4};
  expect_rows(GetParam(), spec, theta, [&](const double* row) {
    const double eta = theta[1] + theta[2] * row[0] + theta[3] * row[2] + 2 * row[0] * row[0];
    return row[3] * normal_lpdf(row[1], eta, 1.5 * theta[0]);
  });
}

TEST_P(ExpressionEngines, GroupsChoicesAndLists) {
  ExpressionSpec spec = spec_of({{"m", "", Support::real, {}}, {"z", "", Support::real, {3}}},
                                "if_else(x > 1, normal_lpdf(x, mean_of[g], 2), "
                                "log(sum(exp([0.5, 0.25] * x))) - y / exp(m) + alpha[2]) + z[g]");
  spec.where = {{"alpha", {"likelihood.where.alpha", "m + 0.5 * z"}},
                {"mean_of", {"likelihood.where.mean_of", "alpha * 2 + x / 10"}}};
  const std::vector<double> theta{0.3, 0.2, 0.7, -0.4};
  expect_rows(GetParam(), spec, theta, [&](const double* row) {
    const double alpha = theta[0] + 0.5 * theta[1 + static_cast<std::size_t>(row[2])];
    const double z = theta[1 + static_cast<std::size_t>(row[2])];
    if (row[0] > 1) return z + normal_lpdf(row[0], alpha * 2 + row[0] / 10, 2);
    return z + std::log(std::exp(0.5 * row[0]) + std::exp(0.25 * row[0])) - row[1] / std::exp(theta[0]) +
           theta[0] + 0.5 * theta[3];
  });
}

// Kernels read at least one column, also where the data decide a choice alike in all rows, so that no column
// is left in the chosen part.
TEST_P(ExpressionEngines, OneChoiceForAllRows) {
  const std::vector<double> theta{0.3};
  expect_rows(GetParam(), spec_of({{"p", "", Support::unit_interval, {}}}, "bernoulli_lpmf(w > -1e9, p)"),
              theta, [](const double*) { return std::log(0.3); });
  expect_rows(GetParam(), spec_of({{"p", "", Support::unit_interval, {}}}, "if_else(x > 1e9, log(p), 2 * p)"),
              theta, [](const double*) { return 0.6; });
}

// The expected probabilities of categories follow from their textbook formulas.
TEST(ExpressionLanguage, CategoriesHaveTheirProbabilities) {
  const auto logistic = [](double x) { return 1 / (1 + std::exp(-x)); };
  EXPECT_NEAR(value_of_expression("categorical_lpmf(1, [0.2, 0.5, 0.3])"), std::log(0.5), 1e-15);
  EXPECT_NEAR(value_of_expression("categorical_logit_lpmf(2, [0.4, -1, 2])"),
              2 - std::log(std::exp(0.4) + std::exp(-1) + std::exp(2)), 1e-14);
  const std::string ordered = "ordered_logistic_lpmf(";
  EXPECT_NEAR(value_of_expression(ordered + "0, 0.7, [-1, 0.5, 2])"), std::log(1 - logistic(1.7)), 1e-14);
  EXPECT_NEAR(value_of_expression(ordered + "1, 0.7, [-1, 0.5, 2])"), std::log(logistic(1.7) - logistic(0.2)),
              1e-14);
  EXPECT_NEAR(value_of_expression(ordered + "3, 0.7, [-1, 0.5, 2])"), std::log(logistic(-1.3)), 1e-14);
  // exp(-40) - exp(-41) is the difference of two numbers that float64 rounds to 1.
  EXPECT_NEAR(value_of_expression(ordered + "1, 50, [9, 10])"), -40 + std::log1p(-std::exp(-1)), 1e-13);
  EXPECT_NEAR(value_of_expression("log_sum_exp([1000, 1001, 999])"),
              1001 + std::log(std::exp(-1) + 1 + std::exp(-2)), 1e-12);
  EXPECT_EQ(value_of_expression("log_sum_exp([1, 2, 3] * negative_infinity())"),
            -std::numeric_limits<double>::infinity());
  EXPECT_NEAR(value_of_expression("log_mix([0.2, 0.5, 0.3], [1, 2, 3])"),
              std::log(0.2 * std::exp(1) + 0.5 * std::exp(2) + 0.3 * std::exp(3)), 1e-14);
  EXPECT_NEAR(value_of_expression("log_mix(0.2, 1, 2)"), std::log(0.2 * std::exp(1) + 0.8 * std::exp(2)),
              1e-14);
  EXPECT_NEAR(value_of_expression("sum(exp(log_softmax([3, 1, 2])))"), 1, 1e-14);
  EXPECT_EQ(value_of_expression("max([1, 3, 2]) - min([1, 3, 2]) + size([1, 1]) + mean([1, 3])"), 6);
}

TEST(Expression, DataThatDoNotFitAreRefusedByRow) {
  const auto refused = [](const ExpressionSpec& spec, std::vector<double> rows) {
    return refusal([&] {
      const Expression model(spec, kColumns);
      model.check_rows(used_rows(model, rows));
    });
  };
  const ExpressionSpec index = spec_of({{"a", "", Support::real, {2}}}, "x * a[g]");
  EXPECT_EQ(
      refused(index, {1, 2, 1, 1, 1, 2, 2, 1}),
      "likelihood.log_density, column 7: an index of a [2] counts from 0, and column g is 2 in row 2 of the "
      "data; allowed: whole numbers from 0 to 1");
  ExpressionSpec weighted = spec_of({{"a", "", Support::real, {}}}, "x * a");
  weighted.weights = "w";
  EXPECT_EQ(refused(weighted, {1, 2, 1, -1}),
            "data.weights: column w is -1 in row 1 of the data; allowed: 0 and above");
}

TEST(Expression, NamesAndShapesAreChecked) {
  const auto refused = [](const ExpressionSpec& spec) {
    return refusal([&] { Expression(spec, kColumns); });
  };
  const ExpressionParameter a{"a", "likelihood.parameters.a", Support::real, {}};
  EXPECT_EQ(refused(spec_of({a}, "x * b")),
            "likelihood.log_density, column 5: there is no column, parameter or constant b; allowed here: a, "
            "x, y, g, "
            "w");
  EXPECT_EQ(refused(spec_of({a}, "a * 2")),
            "likelihood.log_density: no column of the data occurs in it; it is the log density of one row of "
            "the data");
  EXPECT_EQ(refused(spec_of({a}, "x * 2")),
            "likelihood.log_density: no parameter occurs in it, so that there is nothing to sample");
  EXPECT_EQ(refused(spec_of({a}, "[a, x]")),
            "likelihood.log_density: a list of 2; one number is needed: sum(...) adds the numbers of a list");
  EXPECT_EQ(refused(spec_of({{"x", "likelihood.parameters.x", Support::real, {}}}, "x")),
            "likelihood.parameters.x: x is a column of the data already; choose another name");
  EXPECT_EQ(refused(spec_of({{"exp", "likelihood.parameters.exp", Support::real, {}}}, "x")),
            "likelihood.parameters.exp: exp is a function of the language; choose another name");
  for (const char* reserved : {"chain", "draw", "lp", "lp__", "log_prior", "b_dim_0", "b_dim_12"}) {
    const ExpressionParameter parameter{reserved, "likelihood.parameters", Support::real, {}};
    EXPECT_EQ(refused(spec_of({parameter}, std::string("x * ") + reserved)),
              std::string("likelihood.parameters: ") + reserved +
                  " has another meaning in files of draws, as have names that end in __ or _dim_0; choose "
                  "another name");
    ExpressionSpec derived = spec_of({a}, "x * a");
    derived.derived = {{reserved, {"likelihood.derived", "2 * a"}}};
    EXPECT_EQ(refused(derived).substr(0, 20), "likelihood.derived: ") << reserved;
  }
  EXPECT_EQ(refused(spec_of({{"b_dim", "", Support::real, {}}}, "x * b_dim")), "accepted");
  EXPECT_EQ(refused(spec_of({a, a}, "x")),
            "likelihood.parameters.a: a is a parameter already; choose another name");
  EXPECT_EQ(refused(spec_of({{"b", "", Support::real, {3}}}, "x * b[a]")).substr(0, 34),
            "likelihood.log_density, column 7: ");
}

TEST(Expression, DerivedQuantitiesAreThoseOfTheFormula) {
  ExpressionSpec spec = spec_of({{"a", "", Support::real, {2}}}, "x * a[0] + a[1]");
  spec.derived = {{"ratio", {"likelihood.derived.ratio", "exp(a)"}},
                  {"total", {"likelihood.derived.total", "sum(ratio)"}}};
  const Expression model(spec, kColumns);
  const std::vector<double> theta{0.5, -1};
  std::vector<double> out(3);
  model.derive(theta.data(), out.data());
  EXPECT_NEAR(out[0], std::exp(0.5), 1e-15);
  EXPECT_NEAR(out[1], std::exp(-1), 1e-15);
  EXPECT_NEAR(out[2], std::exp(0.5) + std::exp(-1), 1e-15);
}

}  // namespace
}  // namespace emomc
