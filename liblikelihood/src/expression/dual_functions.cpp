#include "dual_functions.hpp"

#include <fmt/format.h>

#include <vector>

#include "derivatives.hpp"
#include "primitives.hpp"
#include "writer.hpp"

namespace emomc::expression {
namespace {

constexpr const char* kArguments = "xyz";

std::string partial_name(const std::string& function, int argument) {
  return fmt::format("{}_by_{}", function, kArguments[argument]);
}

/// The parameters "T x, T y, T v": the arguments and the value of a function.
std::string partial_parameters(int count) {
  std::string text;
  for (int a = 0; a < count; ++a) text += fmt::format("T {}, ", kArguments[a]);
  return text + "T v";
}

/// C++ of a function that returns the derivative with respect to an argument; empty where there is no
/// derivative.
std::string partial(const PrimitiveInfo& function, int argument) {
  Graph graph;
  const NodeId derivative = partial_derivative(graph, std::string(function.name), argument);
  if (derivative == kNoNode) return {};
  std::string values;
  for (int a = 0; a < function.num_arguments; ++a) values += fmt::format("{}, ", kArguments[a]);
  Writer writer(graph, "T", "p", "none");
  const std::string statements = writer.statements({derivative}, "  ");
  return fmt::format(
      "template <class T>\nEMOMC_INLINE T {}({}) {{\n  [[maybe_unused]] const T p[] = {{{}v}};\n{}  return "
      "{};\n}}\n",
      partial_name(std::string(function.name), argument), partial_parameters(function.num_arguments), values,
      statements, writer.value(derivative));
}

/// C++ of the function whose arguments with a bit in `duals` are dual numbers.
std::string overload(const PrimitiveInfo& function, unsigned duals) {
  const int count = function.num_arguments;
  std::string parameters, values, chain;
  for (int a = 0; a < count; ++a) {
    const bool is_dual = (duals >> a & 1U) != 0;
    const char* comma = a == 0 ? "" : ", ";
    parameters += fmt::format("{}{} {}", comma,
                              is_dual ? "const Dual<T, N>&" : "typename NotDeduced<T>::Type", kArguments[a]);
    values += fmt::format("{}{}{}", comma, kArguments[a], is_dual ? ".value" : "");
  }
  bool is_first = true;
  for (int a = 0; a < count; ++a) {
    if ((duals >> a & 1U) == 0) continue;
    const std::string slope = fmt::format("{}({}, v)", partial_name(std::string(function.name), a), values);
    chain += is_first ? fmt::format("Dual<T, N>::chained(v, {}, {})", slope, kArguments[a])
                      : fmt::format(".chain({}, {})", slope, kArguments[a]);
    is_first = false;
  }
  return fmt::format(
      "template <class T, int N>\nEMOMC_INLINE Dual<T, N> {0}({1}) {{\n  const T v = calls::{0}({2});\n  "
      "return {3};\n}}\n",
      function.name, parameters, values, chain);
}

std::string all_functions() {
  std::string functions, names;
  for (const PrimitiveInfo& function : primitives()) {
    unsigned differentiable = 0;
    for (int a = 0; a < function.num_arguments; ++a) {
      const std::string text = partial(function, a);
      functions += text;
      if (!text.empty()) differentiable |= 1U << a;
    }
    if (differentiable == 0) continue;
    for (unsigned duals = 1; duals < 1U << function.num_arguments; ++duals)
      if ((duals & ~differentiable) == 0) functions += overload(function, duals);
    names += fmt::format("using duals::{};\n", function.name);
  }
  return "namespace emomc::device {\nnamespace duals {\n" + functions + "}  // namespace duals\n" + names +
         "namespace calls {\n" + names + "}  // namespace calls\n}  // namespace emomc::device\n";
}

}  // namespace

const std::string& dual_functions() {
  static const std::string text = all_functions();
  return text;
}

}  // namespace emomc::expression
