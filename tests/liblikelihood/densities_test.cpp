// Tests that the densities of the language of expressions have the values of mpmath and SciPy
// (data/make_densities.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "emomc/likelihood/expression.hpp"
#include "reference_values.hpp"

namespace emomc {
namespace {

using Case = testing::ReferenceValue;
std::vector<Case> read_cases() {
  return testing::read_reference_values(EMOMC_SOURCE_DIR "/tests/liblikelihood/data/densities.txt");
}

std::string text_of(double x) {
  if (std::isnan(x)) return "not_a_number()";
  if (std::isinf(x)) return x > 0 ? "positive_infinity()" : "negative_infinity()";
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", x);
  return text;
}

std::string call_of(const Case& c) {
  std::string text = c.name + "(";
  for (std::size_t i = 0; i < c.arguments.size(); ++i) text += (i ? ", " : "") + text_of(c.arguments[i]);
  return text + ")";
}

bool ends_with_one_of(const std::string& name, const std::vector<std::string>& ends) {
  return std::any_of(ends.begin(), ends.end(), [&](const std::string& end) { return name.ends_with(end); });
}

// A density is a sum of terms that are near 1 or larger, and is exact to the last digits of these terms. A
// tail is exact to its own last digits, however near to 0 it is. The effect of a change of an argument's last
// digit is added to the tolerance.
TEST(Densities, HaveTheValuesOfMpmath) {
  constexpr double kRelative = 1e-12, kLastDigits = 16;
  const bool print = std::getenv("EMOMC_PRINT_ERRORS") != nullptr;
  std::map<std::string, std::pair<double, std::string>> worst;
  for (const Case& c : read_cases()) {
    const double value = value_of_expression(call_of(c));
    if (std::isnan(c.value)) {
      EXPECT_TRUE(std::isnan(value)) << call_of(c) << ": " << value;
    } else if (c.condition == 0) {  // the value is at an edge of the function's domain
      const bool is_it = value == c.value || std::abs(value - c.value) <= 1e-15;
      EXPECT_TRUE(is_it) << call_of(c) << ": " << value << " and not " << c.value;
    } else {
      const bool tail = ends_with_one_of(c.name, {"_lcdf", "_lccdf"});
      const double size = tail ? std::abs(c.value) : std::max(1.0, std::abs(c.value));
      // Functions may give 0 below the smallest normal number.
      const double tolerance = std::max(kRelative * size + kLastDigits * 0x1p-52 * c.condition, 2.3e-308);
      const double error = std::abs(value - c.value);
      EXPECT_LE(error, tolerance) << call_of(c) << ": " << value << " and not " << c.line;
      if (auto& w = worst[c.name]; error / tolerance > w.first) w = {error / tolerance, c.line};
    }
  }
  if (print)
    for (const auto& [name, w] : worst)
      std::printf("%-30s %.3g  %s\n", name.c_str(), w.first, w.second.c_str());
}

TEST(Densities, AreAllCompared) {
  std::map<std::string, int> rows, edges;
  for (const Case& c : read_cases()) ++(c.condition == 0 ? edges : rows)[c.name];
  // The first two are functions of libcore, which special_functions_test.cpp compares; the others have lists
  // as arguments.
  const std::set<std::string> elsewhere{"std_normal_lcdf", "std_normal_lccdf", "categorical_lpmf",
                                        "categorical_logit_lpmf", "ordered_logistic_lpmf"};
  int densities = 0;
  for (const std::string& signature : expression_functions()) {
    const std::string name = signature.substr(0, signature.find('('));
    if (!ends_with_one_of(name, {"_lpdf", "_lpmf", "_lcdf", "_lccdf"}) || elsewhere.contains(name)) continue;
    ++densities;
    EXPECT_GE(rows[name], 4) << name;
    if (name == "std_normal_lpdf" || name.starts_with("beta_proportion_lc")) continue;  // edges as others
    EXPECT_GE(edges[name], 2) << name;
  }
  EXPECT_EQ(densities, 79);
}

}  // namespace
}  // namespace emomc
