#include "emomc/device/special_functions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "reference_values.hpp"

namespace emomc::device {
namespace {

using One = double (*)(double);
using Two = double (*)(double, double);
using Three = double (*)(double, double, double);

const std::map<std::string, One> kOne{{"log", log},
                                      {"exp", exp},
                                      {"log1p", log1p},
                                      {"expm1", expm1},
                                      {"sqrt", sqrt},
                                      {"square", square},
                                      {"cbrt", cbrt},
                                      {"exp2", exp2},
                                      {"log2", log2},
                                      {"log10", log10},
                                      {"log1m", log1m},
                                      {"log1p_exp", log1p_exp},
                                      {"log1m_exp", log1m_exp},
                                      {"inv_logit", inv_logit},
                                      {"logit", logit},
                                      {"log_inv_logit", log_inv_logit},
                                      {"log1m_inv_logit", log1m_inv_logit},
                                      {"sinh", sinh},
                                      {"cosh", cosh},
                                      {"tanh", tanh},
                                      {"sin", sin},
                                      {"cos", cos},
                                      {"tan", tan},
                                      {"atan", atan},
                                      {"asin", asin},
                                      {"acos", acos},
                                      {"floor", floor},
                                      {"ceil", ceil},
                                      {"trunc", trunc},
                                      {"round", round},
                                      {"abs", abs},
                                      {"lgamma", lgamma},
                                      {"digamma", digamma},
                                      {"trigamma", trigamma},
                                      {"erf", erf},
                                      {"erfc", erfc},
                                      {"Phi", Phi},
                                      {"std_normal_lcdf", std_normal_lcdf},
                                      {"std_normal_lccdf", std_normal_lccdf},
                                      {"inv_Phi", inv_Phi},
                                      {"modified_bessel_ratio", modified_bessel_ratio},
                                      {"check_positive", check_positive},
                                      {"check_nonnegative", check_nonnegative},
                                      {"check_finite", check_finite},
                                      {"check_unit", check_unit}};
const std::map<std::string, Two> kTwo{
    {"pow", pow},
    {"log_sum_exp", log_sum_exp},
    {"log_diff_exp", log_diff_exp},
    {"multiply_log", multiply_log},
    {"multiply_log1m", multiply_log1m},
    {"atan2", atan2},
    {"fmin", fmin},
    {"fmax", fmax},
    {"fmod", fmod},
    {"lbeta", lbeta},
    {"lchoose", lchoose},
    {"digamma_difference", digamma_difference},
    {"log_gamma_difference", log_gamma_difference},
    {"log_gamma_ratio", log_gamma_ratio},
    {"log_modified_bessel_first_kind", log_modified_bessel_first_kind},
    {"log_modified_bessel_first_kind_scaled", log_modified_bessel_first_kind_scaled},
    {"log_gamma_p", log_gamma_p},
    {"log_gamma_q", log_gamma_q},
    {"log_student_t_tail", log_student_t_tail},
    {"log_skew_normal_cdf", log_skew_normal_cdf}};
const std::map<std::string, Three> kThree{{"log_mix", log_mix},
                                          {"log_inc_beta", log_inc_beta},
                                          {"log_inc_beta_complement", log_inc_beta_complement}};

// The error of these functions is a few last digits of the result, however much a change of the argument's
// last digit changes the result. The error of the other functions is in proportion to this change.
const std::set<std::string> kExactArguments{"log",
                                            "exp",
                                            "log1p",
                                            "expm1",
                                            "sqrt",
                                            "lchoose",
                                            "square",
                                            "cbrt",
                                            "exp2",
                                            "log2",
                                            "log10",
                                            "pow",
                                            "log1m",
                                            "log1p_exp",
                                            "log1m_exp",
                                            "inv_logit",
                                            "logit",
                                            "log_inv_logit",
                                            "log1m_inv_logit",
                                            "multiply_log",
                                            "multiply_log1m",
                                            "sinh",
                                            "cosh",
                                            "tanh",
                                            "sin",
                                            "cos",
                                            "tan",
                                            "atan",
                                            "asin",
                                            "acos",
                                            "atan2",
                                            "lgamma",
                                            "trigamma",
                                            "erf",
                                            "erfc",
                                            "Phi",
                                            "std_normal_lcdf",
                                            "std_normal_lccdf",
                                            "inv_Phi",
                                            "modified_bessel_ratio"};
constexpr double kLastDigits = 8, kLastDigitsOfArguments = 16;

using Case = testing::ReferenceValue;
std::vector<Case> read_cases() {
  return testing::read_reference_values(EMOMC_SOURCE_DIR "/tests/libcore/data/special_functions.txt");
}

double evaluate(const Case& c) {
  const auto& x = c.arguments;
  switch (x.size()) {
    case 1:
      return kOne.at(c.name)(x[0]);
    case 2:
      return kTwo.at(c.name)(x[0], x[1]);
    case 3:
      return kThree.at(c.name)(x[0], x[1], x[2]);
  }
  throw std::invalid_argument(c.line);
}

TEST(SpecialFunctions, HaveTheValuesOfMpmath) {
  const bool verbose = std::getenv("EMOMC_PRINT_ERRORS") != nullptr;
  std::map<std::string, std::pair<double, std::string>> worst;
  std::map<std::string, int> rows;
  for (const Case& c : read_cases()) {
    const double value = evaluate(c);
    if (std::isnan(c.value)) {
      EXPECT_TRUE(std::isnan(value)) << c.line << ": " << value;
    } else if (c.condition == 0) {  // the value is at an edge of the function's domain
      const double ulp = std::nextafter(std::abs(c.value), std::numeric_limits<double>::infinity());
      const bool exact = value == c.value || std::abs(value - c.value) <= ulp - std::abs(c.value);
      EXPECT_TRUE(exact) << c.line << ": " << value;
    } else {
      ++rows[c.name];
      // Functions may give 0 below the smallest normal number.
      const bool exact = kExactArguments.contains(c.name) && !(c.name == "lgamma" && c.arguments[0] < 0);
      const double digits = exact ? kLastDigits : kLastDigitsOfArguments * (1 + c.condition);
      const double tolerance = std::max(digits * 0x1p-52 * std::abs(c.value), 2.3e-308);
      const double error = std::abs(value - c.value);
      EXPECT_LE(error, tolerance) << c.line << ": " << value;
      const double share = std::isnan(error) ? 1e300 : error / tolerance;
      if (auto& w = worst[c.name]; share > w.first) w = {share, c.line};
    }
  }
  EXPECT_EQ(rows.size(), 56u);  // there are 56 functions
  for (const auto& [name, n] : rows) EXPECT_GE(n, 40) << name;
  if (verbose)
    for (const auto& [name, w] : worst)
      std::printf("%-40s %.3g  %s\n", name.c_str(), w.first, w.second.c_str());
}

}  // namespace
}  // namespace emomc::device
