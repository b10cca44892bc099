#include "functions.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "emomc/likelihood/expression.hpp"

namespace emomc::expression {
namespace {

constexpr std::array<Builtin, 22> kBuiltins{{
    {"if_else", "if_else(condition, a, b)"},
    {"sum", "sum(list)"},
    {"mean", "mean(list)"},
    {"max", "max(list)"},
    {"min", "min(list)"},
    {"dot_product", "dot_product(list, list)"},
    {"log_sum_exp", "log_sum_exp(list) or log_sum_exp(a, b)"},
    {"log_mix", "log_mix(theta, a, b) or log_mix(list, list)"},
    {"log_softmax", "log_softmax(list)"},
    {"size", "size(list)"},
    {"categorical_lpmf", "categorical_lpmf(int y, list theta)"},
    {"categorical_logit_lpmf", "categorical_logit_lpmf(int y, list beta)"},
    {"categorical_rng", "categorical_rng(list theta)"},
    {"categorical_logit_rng", "categorical_logit_rng(list beta)"},
    {"ordered_logistic_rng", "ordered_logistic_rng(eta, list c)"},
    {"ordered_logistic_lpmf", "ordered_logistic_lpmf(int y, eta, list c)"},
    {"pi", "pi()"},
    {"e", "e()"},
    {"positive_infinity", "positive_infinity()"},
    {"negative_infinity", "negative_infinity()"},
    {"not_a_number", "not_a_number()"},
    {"machine_precision", "machine_precision()"},
}};

}  // namespace

const Builtin* builtin_of(const std::string& name) {
  for (const Builtin& builtin : kBuiltins)
    if (builtin.name == name) return &builtin;
  return nullptr;
}

const PrimitiveInfo* primitive_of(const std::string& name) {
  for (const PrimitiveInfo& info : primitives())
    if (info.name == name) return &info;
  return nullptr;
}
Primitive number_of(const PrimitiveInfo& info) { return static_cast<Primitive>(&info - primitives().data()); }

Primitive primitive_named(const std::string& name) {
  const PrimitiveInfo* info = primitive_of(name);
  if (info == nullptr) throw std::logic_error("there is no scalar function " + name);
  return number_of(*info);
}

std::string signature_of(const Definition& definition) {
  std::string text = definition.name + "(";
  for (const auto& argument : definition.arguments)
    text += (&argument == definition.arguments.data() ? "" : ", ") +
            std::string(argument.is_count ? "int " : "") + argument.name;
  return text + ")";
}

std::string signature_of(const PrimitiveInfo& info) {
  static constexpr std::array<const char*, 3> kNames{"x", "x, y", "x, y, z"};
  return std::string(info.name) + "(" + kNames.at(static_cast<std::size_t>(info.num_arguments - 1)) + ")";
}

const DistributionInfo* distribution_of(const std::string& name) {
  for (const DistributionInfo& info : distributions())
    if (name == std::string(info.name) + "_rng") return &info;
  return nullptr;
}
std::string signature_of(const DistributionInfo& info) {
  // The arguments are those of the density after its variable.
  for (const char* end : {"_lpdf", "_lpmf"})
    if (const auto found = definitions().find(std::string(info.name) + end); found != definitions().end()) {
      std::string text;
      for (std::size_t i = 1; i < found->second.arguments.size(); ++i)
        text += (i == 1 ? "" : ", ") + found->second.arguments[i].name;
      return std::string(info.name) + "_rng(" + text + ")";
    }
  throw std::logic_error("no density of " + std::string(info.name));
}

bool is_function(const std::string& name) {
  if (distribution_of(name) != nullptr) return true;
  return builtin_of(name) != nullptr || primitive_of(name) != nullptr || definitions().contains(name);
}

std::vector<std::string> function_names() {
  std::vector<std::string> names;
  for (const Builtin& builtin : kBuiltins) names.emplace_back(builtin.name);
  for (const PrimitiveInfo& info : primitives()) names.emplace_back(info.name);
  for (const auto& [name, definition] : definitions()) names.push_back(name);
  for (const DistributionInfo& info : distributions()) names.push_back(std::string(info.name) + "_rng");
  return names;
}

}  // namespace emomc::expression

namespace emomc {

std::vector<std::string> expression_functions() {
  using namespace expression;
  std::vector<std::string> all;
  for (const Builtin& builtin : kBuiltins) all.emplace_back(builtin.signature);
  for (const PrimitiveInfo& info : primitives())
    if (builtin_of(std::string(info.name)) == nullptr) all.push_back(signature_of(info));
  for (const auto& [name, definition] : definitions()) all.push_back(signature_of(definition));
  for (const DistributionInfo& info : distributions()) all.push_back(signature_of(info));
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace emomc
