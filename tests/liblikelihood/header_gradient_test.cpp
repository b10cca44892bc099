// Tests gradients of likelihoods that a C++ header defines, by dual numbers: they equal those of expressions
// of the same density.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include "emomc/core/errors.hpp"
#include "emomc/likelihood/engines.hpp"
#include "emomc/likelihood/expression.hpp"
#include "engine_case.hpp"

namespace emomc {
namespace {

struct ValueAndGradient {
  double value = 0;
  std::vector<double> gradient;
};

/// Returns a likelihood with parameters a, b and c [10] between 0 and 1, and columns u and v.
ExpressionSpec spec_of_three() {
  ExpressionSpec spec;
  spec.parameters = {
      {"a", "", Support::real, {}}, {"b", "", Support::real, {}}, {"c", "", Support::real, {10}}};
  return spec;
}
ExpressionSpec expression(const std::string& text) {
  ExpressionSpec spec = spec_of_three();
  spec.log_density = {"likelihood.log_density", text};
  return spec;
}
ExpressionSpec header(const std::string& members) {
  ExpressionSpec spec = spec_of_three();
  spec.code.key = "likelihood.source";
  spec.code.file = "mine.hpp";
  spec.code.type = "Mine";
  spec.code.columns = {"u", "v"};
  spec.code.text =
      "#pragma once\n"
      "#include \"emomc/device/density.hpp\"\n"
      "#include \"emomc/device/expression_calls.hpp\"\n"
      "struct Mine {\n"
      "  static constexpr const char* name = \"Mine\";\n"
      "  static constexpr int num_columns = 2;\n"
      "  static constexpr emomc::device::ParameterDescription parameters[] = {\n"
      "      {\"a\"}, {\"b\"}, {\"c\", emomc::device::Support::real, 10}};\n" +
      members + "};\n";
  return spec;
}
std::string log_density(const std::string& body) {
  return "  template <class T, class Coefficients, class Row>\n"
         "  EMOMC_HD T log_density(const Coefficients& c, const Row& x) const {\n"
         "    namespace f = emomc::device::calls;\n" +
         body + "  }\n";
}
/// Returns an expression of a, b, u and v as the statement of a header.
std::string as_code(std::string text) {
  text = std::regex_replace(text, std::regex("([a-zA-Z_0-9]+)\\("), "f::$1(");
  for (const auto& [name, code] : {std::pair{"a", "c[0]"}, {"b", "c[1]"}, {"u", "x[0]"}, {"v", "x[1]"}})
    text = std::regex_replace(text, std::regex(std::string("\\b") + name + "\\b"), code);
  return text;
}

std::vector<double> rows(std::size_t count) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(0.2, 0.8);
  std::vector<double> values;
  for (std::size_t i = 0; i < 2 * count; ++i)
    values.push_back(static_cast<double>(static_cast<float>(uniform(random))));
  return values;
}
std::vector<double> point() {
  std::vector<double> theta{0.625, 0.375};
  for (int i = 0; i < 10; ++i) theta.push_back(0.25 + 0.0625 * i);
  return theta;
}

ValueAndGradient of(const ExpressionSpec& spec, const std::vector<double>& all, Backend backend,
                    Precision precision) {
  const Expression model(spec, {"u", "v"});
  std::vector<double> used;
  for (std::size_t i = 0; i < all.size(); i += 2)
    for (std::size_t j : model.used_columns()) used.push_back(all[i + j]);
  const Expression::Bound bound = model.bind(backend, used);
  EXPECT_EQ(bound.model->why_no_gradient(), "");
  const auto device = make_device(backend);
  const auto engine = make_engine(backend, bound.model, precision, bound.data, *device);
  if (!engine->capabilities().gradient) {
    ADD_FAILURE() << "no gradient";
    return {};
  }
  engine->allocate({{0, {0}, 1.0, 0}}, ComponentCaches::off);
  engine->allocate_gradients();
  const int dim = engine->layout().dim();
  DeviceArray<double> theta(*device, static_cast<std::size_t>(dim)),
      gradient(*device, static_cast<std::size_t>(dim)), value(*device, 1);
  theta.upload(point());
  engine->evaluate_with_gradient({1, dim, dim, theta.data(), value.data()}, {gradient.data(), dim},
                                 {nullptr, 1});
  return {value.download()[0], gradient.download()};
}

void expect_close(const ValueAndGradient& ours, const ValueAndGradient& exact, double tolerance) {
  EXPECT_NEAR(ours.value, exact.value, tolerance * (1 + std::abs(exact.value)));
  ASSERT_EQ(ours.gradient.size(), exact.gradient.size());
  for (std::size_t i = 0; i < exact.gradient.size(); ++i)
    EXPECT_NEAR(ours.gradient[i], exact.gradient[i], tolerance * (1 + std::abs(exact.gradient[i]))) << i;
}

class HeaderGradients : public testing::EngineTest {
 protected:
  static double tolerance() { return precision() == Precision::float64 ? 1e-11 : 2e-4; }
  static void compare(const ExpressionSpec& header, const ExpressionSpec& expression, std::size_t num_rows) {
    const std::vector<double> data = rows(num_rows);
    const ValueAndGradient exact = of(expression, data, Backend::reference, Precision::float64);
    expect_close(of(header, data, backend(), precision()), exact, tolerance());
    if (backend() == Backend::cpu && precision() == Precision::float64)
      expect_close(of(header, data, Backend::reference, Precision::float64), exact, tolerance());
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, HeaderGradients, testing::all_engine_cases(), testing::name_of_case);

// Each term has an argument that depends on a parameter. Functions of several arguments are listed with each
// of them in turn.
const std::vector<std::string> kTerms{"abs(a - u)",
                                      "acos(a * u)",
                                      "asin(a * u)",
                                      "atan(a * u)",
                                      "cbrt(a * u)",
                                      "ceil(a * u)",
                                      "cos(a * u)",
                                      "cosh(a * u)",
                                      "digamma(a + u)",
                                      "erf(a * u)",
                                      "erfc(a * u)",
                                      "exp(a * u)",
                                      "exp2(a * u)",
                                      "expm1(a * u)",
                                      "floor(a * u)",
                                      "inv_logit(a * u)",
                                      "inv_Phi(a * u)",
                                      "lgamma(a + u)",
                                      "log(a * u)",
                                      "log10(a * u)",
                                      "log1m(a * u)",
                                      "log1m_exp(-a * u)",
                                      "log1m_inv_logit(a * u)",
                                      "log1p(a * u)",
                                      "log1p_exp(a * u)",
                                      "log2(a * u)",
                                      "log_inv_logit(a * u)",
                                      "logit(a * u)",
                                      "Phi(a * u)",
                                      "round(a * u)",
                                      "sin(a * u)",
                                      "sinh(a * u)",
                                      "sqrt(a * u)",
                                      "square(a * u)",
                                      "std_normal_lccdf(a * u)",
                                      "std_normal_lcdf(a * u)",
                                      "tan(a * u)",
                                      "tanh(a * u)",
                                      "trigamma(a + u)",
                                      "atan2(a, b)",
                                      "atan2(u, a)",
                                      "atan2(a, v)",
                                      "fmax(a, b * u)",
                                      "fmin(a, b * u)",
                                      "fmax(a, u)",
                                      "fmod(a + 2, u)",
                                      "lbeta(a, b + u)",
                                      "lchoose(a + 3, b + u)",
                                      "log_diff_exp(a + 1, b * u)",
                                      "log_modified_bessel_first_kind(0, a + u)",
                                      "log_sum_exp(a, b * u)",
                                      "log_sum_exp(u, b)",
                                      "multiply_log(a, b + u)",
                                      "pow(a, b + u)",
                                      "pow(a, 3)",
                                      "pow(u, a)",
                                      "log_mix(a, b, u)",
                                      "log_mix(u, a, b)",
                                      "-a * 2 / b + 3 - (u - b) * (a - v) / (1 + u)"};

TEST_P(HeaderGradients, OfFunctionsAreThoseOfExpressions) {
  std::string text, code;
  for (std::size_t i = 0; i < kTerms.size(); ++i) {
    const std::string weight = std::to_string(i % 7 + 1);
    text += (i == 0 ? "" : " + ") + weight + " * (" + kTerms[i] + ")";
    code += "    sum += " + weight + " * (" + as_code(kTerms[i]) + ");\n";
  }
  compare(header(log_density("    T sum = 0;\n" + code + "    return sum;\n")), expression(text), 100);
}

// The header has more coefficients than derivatives that are computed at once, a loop, comparisons and a
// branch.
TEST_P(HeaderGradients, OfManyParametersInLoopsAndBranches) {
  std::string text = "if_else(a > u, a * b, b - u)";
  for (int i = 0; i < 10; ++i)
    text += " + exp(-square(v - c[" + std::to_string(i) + "]) * b) / (" + std::to_string(i) + " + a)";
  compare(header(log_density("    T sum = c[0] > x[0] ? c[0] * c[1] : c[1] - x[0];\n"
                             "    for (int i = 0; i < 10; ++i) {\n"
                             "      T z = x[1] - c[2 + i];\n"
                             "      z *= z;\n"
                             "      sum += f::exp(-z * c[1]) / (T(i) + c[0]);\n"
                             "    }\n"
                             "    return sum;\n")),
          expression(text), 3000);
}

const std::string kPrepare =
    "  static constexpr int num_coefficients = 2;\n"
    "  template <class Team, class Number>\n"
    "  EMOMC_HD Number prepare(const Team& team, const Number* theta, Number* c) const {\n"
    "    namespace f = emomc::device::calls;\n"
    "    if (team.rank() == 0) {\n"
    "      c[0] = theta[0] * theta[1];\n"
    "      Number sum = 0;\n"
    "      for (int i = 0; i < 10; ++i) sum += theta[2 + i] * theta[2 + i];\n"
    "      c[1] = f::log(sum);\n"
    "    }\n"
    "    team.sync();\n"
    "    return -f::log(theta[1]);\n"
    "  }\n" +
    log_density("    return c[0] * x[0] - c[1] * c[0] * x[1];\n");
const std::string kPrepared =
    "a * b * u - log(square(c[0]) + square(c[1]) + square(c[2]) + square(c[3]) + square(c[4]) + square(c[5]) "
    "+ "
    "square(c[6]) + square(c[7]) + square(c[8]) + square(c[9])) * a * b * v - log(b)";

TEST_P(HeaderGradients, OfWhatIsPreparedAndOfWeights) {
  compare(header(kPrepare), expression(kPrepared), 500);
  ExpressionSpec with_weights = header(kPrepare);
  with_weights.weights = "v";
  compare(with_weights, expression("v * (" + kPrepared + ")"), 500);
}

std::string why_no_gradient(const ExpressionSpec& spec) {
  return Expression(spec, {"u", "v"}).bind(Backend::cpu, rows(3)).model->why_no_gradient();
}

TEST(HeaderWithoutGradient, SaysWhy) {
  std::string only_double = kPrepare;
  for (const auto& [number, type] : {std::pair{"class Team, class Number", "class Team"},
                                     {"Number prepare", "double prepare"},
                                     {"const Number* theta, Number* c", "const double* theta, double* c"},
                                     {"Number sum", "double sum"}})
    only_double.replace(only_double.find(number), std::string(number).size(), type);
  EXPECT_NE(why_no_gradient(header(only_double)).find("prepare() of Mine takes numbers of type double only"),
            std::string::npos)
      << why_no_gradient(header(only_double));
  const std::string why = why_no_gradient(
      header(log_density("    return T(__builtin_exp(static_cast<double>(c[0]))) * x[0];\n")));
  EXPECT_NE(why.find("its header cannot be differentiated, mine.hpp:"), std::string::npos) << why;
  // Code that does not compile at all is refused as in other cases.
  EXPECT_THROW(why_no_gradient(header(log_density("    return nothing;\n"))), InputError);
}

}  // namespace
}  // namespace emomc
