// Compares scalar functions in generated likelihoods, on the CPU and on a GPU, with the interpreter. Other
// tests compare the interpreter's values with mpmath's.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "emomc/core/errors.hpp"
#include "emomc/likelihood/engines.hpp"
#include "emomc/likelihood/expression.hpp"
#include "engine_case.hpp"

namespace emomc {
namespace {

class CompiledFunctions : public testing::EngineTest {};
INSTANTIATE_TEST_SUITE_P(Engines, CompiledFunctions, testing::all_engine_cases(), testing::name_of_case);

/// Returns rows of x and y whose numbers float32 can represent.
std::vector<double> arguments(double low, double high) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(low, high), exponent(-30, 30);
  std::vector<double> rows;
  const auto add = [&](double x, double y) {
    rows.push_back(static_cast<double>(static_cast<float>(x)));
    rows.push_back(static_cast<double>(static_cast<float>(y)));
  };
  for (int i = 0; i < 500; ++i) add(uniform(random), uniform(random));
  for (double x : {0.0, 1.0, -1.0, 0.5, 88.0, -87.0, 700.0, -700.0, 1e-20, -1e-20, 1e20})
    if (x >= low && x <= high) add(x, std::clamp(0.75, low, high));
  return rows;
}

struct Function {
  const char* text;  ///< function of x, y and the parameter `one`, which is 1
  double low, high;
  double float_error = 4;  ///< allowed error of results of size 1 and above, in units of 2^-23
};
// Because of the parameter, a function cannot be computed from the data in advance.
const std::vector<Function> kFunctions{
    {"exp(one * x)", -80, 80, 8},
    {"log(one * x)", 1e-6, 1e6},
    {"log1p(one * x)", -0.99, 10},
    {"log1m(one * x)", -10, 0.99},
    {"expm1(one * x)", -5, 5},
    {"log1p_exp(one * x)", -50, 50},
    {"log1m_exp(-one * x)", 1e-3, 50},
    {"inv_logit(one * x)", -50, 50},
    {"log_inv_logit(one * x)", -50, 50},
    {"log1m_inv_logit(one * x)", -50, 50},
    {"logit(one * x)", 0.01, 0.99},
    {"log_sum_exp(one * x, y)", -80, 80},
    {"log_diff_exp(one * x + 100, y)", -20, 20},
    {"log_mix(0.3, one * x, y)", -80, 80},
    {"sqrt(one * x)", 0, 1e6},
    {"cbrt(one * x)", -100, 100},
    {"pow(one * x, y)", 0.1, 5, 16},
    {"sin(one * x)", -100, 100},
    {"cos(one * x)", -100, 100},
    {"tan(one * x)", -1.5, 1.5, 16},
    {"atan2(one * x, y)", -10, 10},
    {"tanh(one * x)", -10, 10},
    {"lgamma(one * x)", 0.01, 1000},
    {"digamma(one * x)", 0.05, 100},
    {"trigamma(one * x)", 0.05, 100},
    {"erf(one * x)", -5, 5},
    {"erfc(one * x)", -5, 5},
    {"Phi(one * x)", -5, 5},
    {"std_normal_lcdf(one * x)", -30, 5},
    {"lbeta(one * x, y)", 0.1, 100},
    {"multiply_log(one * x, y)", 0.1, 100, 8},
    {"log_modified_bessel_first_kind(0, one * x)", 0.1, 100},
    {"gamma_lcdf(one * x, y, 1.5)", 0.1, 20, 64},
    {"beta_lcdf(one * x, 2, y + 0.5)", 0.01, 0.99, 64},
    {"student_t_lpdf(x, 4, one * y, 1.5)", -20, 20, 8},
    {"neg_binomial_2_log_lpmf(3, one * x, 2)", -10, 10, 16},
    {"von_mises_lpdf(x, one * y, 2)", -3, 3, 8},
};

/// Returns an expression that has the value of texts[i] where the column `which` is i.
std::string chosen(const std::vector<std::string>& texts) {
  std::string text = texts.back();
  for (std::size_t i = texts.size() - 1; i-- > 0;)
    text = "if_else(which == " + std::to_string(i) + ", " + texts[i] + ", " + text + ")";
  return text;
}

// Several functions share one likelihood, since a compiler takes a second and a half for each likelihood.
TEST_P(CompiledFunctions, HaveTheInterpretersValues) {
  constexpr std::size_t kTogether = 8, kColumns = 3;
  for (std::size_t first = 0; first < kFunctions.size(); first += kTogether) {
    const std::span<const Function> functions =
        std::span(kFunctions).subspan(first, std::min(kTogether, kFunctions.size() - first));
    std::vector<std::string> texts;
    std::vector<double> rows;
    for (const Function& function : functions) {
      const std::vector<double> of_function = arguments(function.low, function.high);
      for (std::size_t i = 0; i < of_function.size(); i += 2)
        rows.insert(rows.end(), {of_function[i], of_function[i + 1], static_cast<double>(texts.size())});
      texts.emplace_back(function.text);
    }
    ExpressionSpec spec;
    spec.parameters = {{"one", "", Support::real, {}}};
    spec.log_density = {"likelihood.log_density", chosen(texts) + " + 0 * (x + y + which)"};
    const Expression model(spec, {"x", "y", "which"});
    std::vector<double> used;
    for (std::size_t i = 0; i < rows.size(); i += kColumns)
      for (std::size_t j : model.used_columns()) used.push_back(rows[i + j]);
    const Expression::Bound ours = model.bind(backend(), used), exact = model.bind(Backend::reference, used);
    const auto device = make_device(backend()), host = make_device(Backend::reference);
    const auto engine = make_engine(backend(), ours.model, precision(), ours.data, *device);
    const auto reference =
        make_engine(Backend::reference, exact.model, Precision::float64, exact.data, *host);
    const double one = 1;
    std::vector<double> values(engine->num_rows()), expected(values.size());
    engine->evaluate_rows(&one, values.data());
    reference->evaluate_rows(&one, expected.data());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Function& function = functions[static_cast<std::size_t>(rows[kColumns * i + 2])];
      const double unit = precision() == Precision::float64 ? 16 * 0x1p-52 : function.float_error * 0x1p-23;
      EXPECT_NEAR(values[i], expected[i], unit * std::max(1.0, std::abs(expected[i])))
          << function.text << ", x = " << rows[kColumns * i] << ", y = " << rows[kColumns * i + 1];
    }
  }
}

// The arguments are infinite, huge or missing numbers.
TEST_P(CompiledFunctions, HaveTheirEnds) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  struct End {
    const char* text;
    double value;
  };
  const std::vector<End> ends{{"exp(one * 1000)", kInfinity},
                              {"exp(-one * 1000)", 0},
                              {"exp(one * 1e30)", kInfinity},
                              {"exp(-one * 1e30)", 0},
                              {"exp(one / 0)", kInfinity},
                              {"exp(-one / 0)", 0},
                              {"exp(one - 1)", 1},
                              {"log(one - 1)", -kInfinity},
                              {"log1p_exp(one / 0)", kInfinity},
                              {"log1p_exp(-one / 0)", 0},
                              {"inv_logit(one / 0)", 1},
                              {"inv_logit(-one / 0)", 0},
                              {"log_sum_exp(-one / 0, 3)", 3},
                              {"log_sum_exp(one / 0, 3)", kInfinity},
                              {"log_sum_exp(-one / 0, -1 / (one - 1))", -kInfinity}};
  std::vector<std::string> texts;
  std::vector<double> rows;
  for (const End& end : ends) {
    rows.push_back(static_cast<double>(texts.size()));
    texts.emplace_back(end.text);
  }
  texts.emplace_back("7");
  rows.push_back(static_cast<double>(ends.size()));
  ExpressionSpec spec;
  spec.parameters = {{"one", "", Support::real, {}}};
  // The column `which` selects the function, so that the functions are computed for each row.
  spec.log_density = {"likelihood.log_density", chosen(texts)};
  const Expression model(spec, {"which"});
  const Expression::Bound bound = model.bind(backend(), rows);
  const auto device = make_device(backend());
  const auto engine = make_engine(backend(), bound.model, precision(), bound.data, *device);
  const double one = 1;
  std::vector<double> values(rows.size());
  engine->evaluate_rows(&one, values.data());
  for (std::size_t i = 0; i < ends.size(); ++i) EXPECT_EQ(values[i], ends[i].value) << ends[i].text;
  EXPECT_EQ(values.back(), 7);
}

}  // namespace
}  // namespace emomc
