#include "lower.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "definitions.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/core/nearest_name.hpp"

namespace emomc::expression {
namespace {

/// Functions that make lists of numbers or take them apart, and constants.
struct Builtin {
  std::string_view name, signature;
};
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

/// "poisson" of "poisson_rng"; null where the name is of another form or no distribution.
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

std::string counted(std::size_t n, const std::string& what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

}  // namespace

Lowering::Lowering(Graph& graph, std::vector<std::string> columns)
    : graph_(graph), columns_(std::move(columns)) {}

NodeId Lowering::column(std::size_t j) {
  auto at = std::find(used_.begin(), used_.end(), j);
  if (at == used_.end()) at = used_.insert(at, j);
  return graph_.column(static_cast<int>(at - used_.begin()));
}

void Lowering::declare(const std::string& name, const std::string& key, Value value, const char* kind) {
  if (!is_identifier(name))
    throw InputError(key + ": \"" + name +
                     "\" is no name; allowed: a letter or underscore, then letters, digits and underscores");
  if (is_function(name))
    throw InputError(key + ": " + name + " is a function of the language; choose another name");
  if (const auto found = symbols_.find(name); found != symbols_.end())
    throw InputError(key + ": " + name + " is a " + found->second.kind + " already; choose another name");
  if (std::find(columns_.begin(), columns_.end(), name) != columns_.end())
    throw InputError(key + ": " + name + " is a column of the data already; choose another name");
  symbols_[name] = {std::move(value), kind};
}

NodeId Lowering::use_column(const std::string& name, const std::string& key) {
  const auto found = std::find(columns_.begin(), columns_.end(), name);
  if (found == columns_.end()) {
    std::string all;
    for (const auto& column : columns_) all += (all.empty() ? "" : ", ") + column;
    throw InputError(key + ": the data have no column " + name + "; " +
                     did_you_mean(nearest_name(name, columns_)) + "allowed: " + all);
  }
  return column(static_cast<std::size_t>(found - columns_.begin()));
}

Value Lowering::lower(const ExpressionText& text) {
  text_ = &text;
  const Syntax syntax = parse(text);
  return lower(syntax, nullptr);
}

NodeId Lowering::lower_number(const ExpressionText& text) {
  const Value value = lower(text);
  if (value.is_list)
    throw InputError(text.key + ": a list of " + std::to_string(value.nodes.size()) +
                     "; one number is needed: sum(...) adds the numbers of a list");
  return value.nodes.front();
}

void Lowering::refuse(const Syntax& syntax, const std::string& what) const {
  expression::refuse(*text_, (blamed_ ? *blamed_ : syntax).place, what);
}

std::string Lowering::where(const Syntax& syntax) const {
  try {
    refuse(syntax, "");
  } catch (const InputError& error) {
    const std::string text = error.what();
    return text.substr(0, text.size() - 2);
  }
}

void Lowering::check_size(const Syntax& syntax) const {
  if (graph_.is_full())
    refuse(syntax, "the expressions expand to more than " + std::to_string(Graph::kMostNodes) +
                       " operations; shorten the lists or split the model");
}

Value Lowering::lower(const Syntax& syntax, const Scope* arguments) {
  check_size(syntax);
  switch (syntax.kind) {
    case Syntax::Kind::number:
      return {false, {graph_.constant(syntax.number)}};
    case Syntax::Kind::name:
      return name(syntax, arguments);
    case Syntax::Kind::index:
      return index(syntax, arguments);
    case Syntax::Kind::call:
      return call(syntax, arguments);
    case Syntax::Kind::list:
      break;
  }
  Value list{true, {}};
  if (syntax.parts.empty()) refuse(syntax, "an empty list; allowed: at least one number");
  for (const Syntax& part : syntax.parts) {
    const Value item = lower(part, arguments);
    if (item.is_list) refuse(part, "a list in a list; allowed: numbers");
    list.nodes.push_back(item.nodes.front());
  }
  return list;
}

std::vector<std::string> Lowering::known_names() const {
  std::vector<std::string> names;
  for (const auto& [name, symbol] : symbols_) names.push_back(name);
  for (const auto& column : columns_)
    if (is_identifier(column)) names.push_back(column);
  return names;
}

Value Lowering::name(const Syntax& syntax, const Scope* arguments) {
  const std::string& name = syntax.name;
  if (arguments != nullptr) return arguments->at(name);
  if (const auto found = symbols_.find(name); found != symbols_.end()) return found->second.value;
  if (const auto found = simulated_.find(name); found != simulated_.end()) return {false, {found->second}};
  if (const auto found = std::find(columns_.begin(), columns_.end(), name); found != columns_.end())
    return {false, {column(static_cast<std::size_t>(found - columns_.begin()))}};
  if (const Builtin* builtin = builtin_of(name); builtin != nullptr)
    refuse(syntax, name + " is a function: " + std::string(builtin->signature));
  if (const PrimitiveInfo* info = primitive_of(name); info != nullptr)
    refuse(syntax, name + " is a function: " + signature_of(*info));
  if (const auto found = definitions().find(name); found != definitions().end())
    refuse(syntax, name + " is a function: " + signature_of(found->second));
  const std::vector<std::string> names = known_names();
  std::string all;
  for (const auto& known : names) all += (all.empty() ? "" : ", ") + known;
  refuse(syntax, "there is no column, parameter or constant " + name + "; " +
                     did_you_mean(nearest_name(name, names)) +
                     "allowed here: " + (all.empty() ? "numbers" : all));
}

bool Lowering::is_integer(NodeId id) const {
  const Node& node = graph_[id];
  switch (node.operation) {
    case Operation::constant:
      return std::floor(node.value) == node.value;
    case Operation::column:
      return true;  // its values are looked at when there are data
    case Operation::add:
    case Operation::subtract:
    case Operation::multiply:
      return is_integer(node.arguments[0]) && is_integer(node.arguments[1]);
    case Operation::negate:
      return is_integer(node.arguments[0]);
    case Operation::choose:
      return is_integer(node.arguments[1]) && is_integer(node.arguments[2]);
    case Operation::less:
    case Operation::less_or_equal:
    case Operation::equal:
    case Operation::both:
    case Operation::either:
    case Operation::negation:
      return true;
    default:
      return false;
  }
}

void Lowering::need_count(const Syntax& syntax, NodeId id, int size, const std::string& what) {
  const Node& node = graph_[id];
  if (node.stage & kParameters)
    refuse(syntax,
           what + ", and this depends on parameters; allowed: a column of whole numbers or a whole number");
  if (!is_integer(id))
    refuse(syntax,
           what + ", and this is a real number; allowed: a column of whole numbers or a whole number");
  if (node.operation == Operation::constant) {
    if (size > 0 && !(node.value >= 0 && node.value < size))
      refuse(syntax, what + ", and this is " + std::to_string(static_cast<long>(node.value)) +
                         "; allowed: 0 to " + std::to_string(size - 1));
    return;
  }
  integers_.push_back({id, size, what, where(syntax)});
}

Value Lowering::gather(const Syntax& syntax, const Value& array, NodeId index, const std::string& what) {
  need_count(syntax, index, static_cast<int>(array.nodes.size()), what);
  return {false, {graph_.gather(index, array.nodes)}};
}

Value Lowering::index(const Syntax& syntax, const Scope* arguments) {
  const Value array = lower(syntax.parts[0], arguments);
  const std::string named = syntax.parts[0].kind == Syntax::Kind::name ? syntax.parts[0].name : "this list";
  if (!array.is_list) refuse(syntax, named + " is one number and has no index");
  const Value position = lower(syntax.parts[1], arguments);
  const std::string what =
      "an index of " + named + " [" + std::to_string(array.nodes.size()) + "] counts from 0";
  if (!position.is_list) return gather(syntax.parts[1], array, position.nodes.front(), what);
  Value result{true, {}};
  for (NodeId node : position.nodes)
    result.nodes.push_back(gather(syntax.parts[1], array, node, what).nodes.front());
  return result;
}

void Lowering::need_arguments(const Syntax& syntax, std::size_t given, std::size_t wanted,
                              const std::string& signature) {
  if (given == wanted) return;
  refuse(syntax, syntax.name + " takes " + counted(wanted, "argument") + ", not " + std::to_string(given) +
                     ": " + signature);
}

const std::vector<NodeId>& Lowering::need_list(const Syntax& syntax, const Value& value,
                                               const std::string& what) {
  if (!value.is_list) refuse(syntax, what + " takes a list, and this is one number");
  return value.nodes;
}

NodeId Lowering::need_number(const Syntax& syntax, const Value& value, const std::string& what) {
  if (value.is_list)
    refuse(syntax,
           what + " takes one number here, and this is a list of " + std::to_string(value.nodes.size()));
  return value.nodes.front();
}

template <class F>
Value Lowering::broadcast(const Syntax& syntax, const std::vector<Value>& arguments, const F& apply) {
  Value result;
  std::size_t size = 1;
  for (const Value& argument : arguments)
    if (argument.is_list) {
      if (result.is_list && argument.nodes.size() != size)
        refuse(syntax, "lists of " + std::to_string(size) + " and " + std::to_string(argument.nodes.size()) +
                           " do not fit; allowed: lists of equal lengths, or one number");
      result.is_list = true;
      size = argument.nodes.size();
    }
  std::vector<NodeId> of_element(arguments.size());
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t a = 0; a < arguments.size(); ++a)
      of_element[a] = arguments[a].nodes[arguments[a].is_list ? i : 0];
    result.nodes.push_back(apply(of_element));
    check_size(syntax);
  }
  return result;
}

Value Lowering::by_element(const Syntax& syntax, Operation operation, const std::vector<Value>& arguments) {
  return broadcast(syntax, arguments,
                   [&](const std::vector<NodeId>& nodes) { return graph_.operate(operation, nodes); });
}

Value Lowering::primitive(const Syntax& syntax, Primitive function, const std::vector<Value>& arguments) {
  return broadcast(syntax, arguments,
                   [&](const std::vector<NodeId>& nodes) { return graph_.call(function, nodes); });
}

Value Lowering::log_sum_exp(const std::vector<NodeId>& terms) {
  if (terms.size() == 1) return {false, terms};
  const Primitive largest_of = number_of(*primitive_of("fmax")), exp = number_of(*primitive_of("exp")),
                  log = number_of(*primitive_of("log"));
  if (terms.size() == 2) return {false, {graph_.call(number_of(*primitive_of("log_sum_exp")), terms)}};
  NodeId largest = terms[0];
  for (std::size_t i = 1; i < terms.size(); ++i)
    largest = graph_.call(largest_of, std::array{largest, terms[i]});
  // Infinite where all terms are minus infinity or one is plus infinity; then there is nothing to take off.
  const NodeId infinity = graph_.constant(std::numeric_limits<double>::infinity());
  const NodeId is_infinite = graph_.operate(
      Operation::either,
      std::array{
          graph_.operate(Operation::equal, std::array{largest, infinity}),
          graph_.operate(Operation::equal,
                         std::array{largest, graph_.constant(-std::numeric_limits<double>::infinity())})});
  const NodeId off = graph_.operate(Operation::choose, std::array{is_infinite, graph_.constant(0), largest});
  NodeId sum = kNoNode;
  for (NodeId term : terms) {
    const NodeId power =
        graph_.call(exp, std::array{graph_.operate(Operation::subtract, std::array{term, off})});
    sum = sum == kNoNode ? power : graph_.add(sum, power);
  }
  return {false, {graph_.add(off, graph_.call(log, std::array{sum}))}};
}

Value Lowering::call(const Syntax& syntax, const Scope* scope) {
  std::vector<Value> arguments;
  for (const Syntax& part : syntax.parts) arguments.push_back(lower(part, scope));
  if (!is_identifier(syntax.name) || syntax.name == "negate") return operation(syntax, arguments);
  const std::string& name = syntax.name;
  const std::size_t given = arguments.size();
  const PrimitiveInfo* info = primitive_of(name);
  if (const Builtin* builtin = builtin_of(name); builtin != nullptr) {
    const std::string signature(builtin->signature);
    const auto need = [&](std::size_t wanted) { need_arguments(syntax, given, wanted, signature); };
    const auto list = [&](std::size_t i) { return need_list(syntax.parts[i], arguments[i], name); };
    const auto number = [&](std::size_t i) { return need_number(syntax.parts[i], arguments[i], name); };
    const auto total = [&](const std::vector<NodeId>& nodes) {
      NodeId sum = nodes.front();
      for (std::size_t i = 1; i < nodes.size(); ++i) sum = graph_.add(sum, nodes[i]);
      return sum;
    };
    const auto constant = [&](double value) {
      need(0);
      return Value{false, {graph_.constant(value)}};
    };
    if (name == "pi") return constant(3.14159265358979323846);
    if (name == "e") return constant(2.71828182845904523536);
    if (name == "positive_infinity") return constant(std::numeric_limits<double>::infinity());
    if (name == "negative_infinity") return constant(-std::numeric_limits<double>::infinity());
    if (name == "not_a_number") return constant(std::numeric_limits<double>::quiet_NaN());
    if (name == "machine_precision") return constant(std::numeric_limits<double>::epsilon());
    if (name == "if_else") {
      need(3);
      return by_element(syntax, Operation::choose, arguments);
    }
    if (name == "sum" || name == "mean") {
      need(1);
      const NodeId sum = total(list(0));
      if (name == "sum") return {false, {sum}};
      return {
          false,
          {graph_.operate(Operation::divide,
                          std::array{sum, graph_.constant(static_cast<double>(arguments[0].nodes.size()))})}};
    }
    if (name == "size") {
      need(1);
      return {false, {graph_.constant(static_cast<double>(list(0).size()))}};
    }
    if (name == "max" || name == "min") {
      need(1);
      const Primitive pick = number_of(*primitive_of(name == "max" ? "fmax" : "fmin"));
      NodeId best = list(0).front();
      for (NodeId node : list(0)) best = graph_.call(pick, std::array{best, node});
      return {false, {best}};
    }
    if (name == "dot_product") {
      need(2);
      list(0);
      list(1);
      return {false, {total(by_element(syntax, Operation::multiply, arguments).nodes)}};
    }
    if (name == "log_sum_exp") {
      if (given == 2 && !arguments[0].is_list && !arguments[1].is_list)
        return log_sum_exp({number(0), number(1)});
      need(1);
      return log_sum_exp(list(0));
    }
    if (name == "log_softmax") {
      need(1);
      const Value all = log_sum_exp(list(0));
      return by_element(syntax, Operation::subtract, {arguments[0], all});
    }
    const Primitive log = number_of(*primitive_of("log"));
    if (name == "log_mix" && given == 2) {
      list(0);
      list(1);
      const Value weights = primitive(syntax, log, {arguments[0]});
      return log_sum_exp(by_element(syntax, Operation::add, {weights, arguments[1]}).nodes);
    }
    if (name == "log_mix") {
      need(3);
      const Value first = primitive(syntax, log, {arguments[0]});
      const Value second = primitive(syntax, number_of(*primitive_of("log1m")), {arguments[0]});
      return primitive(syntax, number_of(*primitive_of("log_sum_exp")),
                       {by_element(syntax, Operation::add, {first, arguments[1]}),
                        by_element(syntax, Operation::add, {second, arguments[2]})});
    }
    if (name.ends_with("_rng")) {
      // The number of steps of the cumulated probabilities that a uniform number is beyond.
      if (!random_) refuse(syntax, name + " draws a random number; allowed only under likelihood.simulate");
      need(name == "ordered_logistic_rng" ? 2 : 1);
      const NodeId uniform =
          graph_.random(Distribution::uniform_, std::array{graph_.constant(0), graph_.constant(1)});
      const auto one_of = [&](const char* function, NodeId argument) {
        return graph_.call(number_of(*primitive_of(function)), std::array{argument});
      };
      const auto difference_of = [&](NodeId a, NodeId b) {
        return graph_.operate(Operation::subtract, std::array{a, b});
      };
      std::vector<NodeId> steps;
      if (name == "ordered_logistic_rng") {
        for (NodeId cut : list(1))  // P(y > k) = inv_logit(eta - c[k])
          steps.push_back(graph_.operate(
              Operation::less, std::array{uniform, one_of("inv_logit", difference_of(number(0), cut))}));
        return {false, {total(steps)}};
      }
      std::vector<NodeId> weights = list(0);
      if (name == "categorical_logit_rng") {
        const NodeId all = log_sum_exp(weights).nodes.front();
        for (NodeId& weight : weights) weight = one_of("exp", difference_of(weight, all));
      }
      NodeId cumulated = graph_.constant(0);
      for (std::size_t k = 0; k + 1 < weights.size(); ++k) {
        cumulated = graph_.add(cumulated, weights[k]);
        steps.push_back(graph_.operate(Operation::less, std::array{cumulated, uniform}));
      }
      return {false, {steps.empty() ? graph_.constant(0) : total(steps)}};
    }
    const std::string of = name + " takes a category from 0 to ";
    if (name == "categorical_lpmf" || name == "categorical_logit_lpmf") {
      need(2);
      const std::string what = of + std::to_string(list(1).size() - 1);
      const NodeId chosen = gather(syntax.parts[0], arguments[1], number(0), what).nodes.front();
      if (name == "categorical_lpmf") return {false, {graph_.call(log, std::array{chosen})}};
      return {false,
              {graph_.operate(Operation::subtract, std::array{chosen, log_sum_exp(list(1)).nodes.front()})}};
    }
    if (name == "ordered_logistic_lpmf") {
      // log(F(eta - c[y - 1]) - F(eta - c[y])), with the c beyond the first and last infinite.
      need(3);
      const std::vector<NodeId>& cuts = list(2);
      const Primitive upper = number_of(*primitive_of("log_inv_logit")),
                      lower_tail = number_of(*primitive_of("log1m_inv_logit")),
                      difference = number_of(*primitive_of("log_diff_exp"));
      const NodeId eta = number(1);
      const auto from = [&](std::size_t cut) {
        return graph_.operate(Operation::subtract, std::array{eta, cuts[cut]});
      };
      Value categories{true, {}};
      categories.nodes.push_back(graph_.call(lower_tail, std::array{from(0)}));
      for (std::size_t k = 1; k < cuts.size(); ++k)
        categories.nodes.push_back(
            graph_.call(difference, std::array{graph_.call(upper, std::array{from(k - 1)}),
                                               graph_.call(upper, std::array{from(k)})}));
      categories.nodes.push_back(graph_.call(upper, std::array{from(cuts.size() - 1)}));
      return gather(syntax.parts[0], categories, number(0), of + std::to_string(cuts.size()));
    }
  }
  if (info != nullptr) {
    need_arguments(syntax, given, static_cast<std::size_t>(info->num_arguments), signature_of(*info));
    return primitive(syntax, number_of(*info), arguments);
  }
  if (const auto found = definitions().find(name); found != definitions().end())
    return defined(syntax, found->second, arguments);
  if (distribution_of(name) != nullptr) return random(syntax, arguments);
  if (const auto known = known_names(); std::find(known.begin(), known.end(), name) != known.end())
    refuse(syntax, name + " is no function; write * between " + name + " and \"(\" for a product");
  refuse(syntax, "there is no function " + name + "; " + did_you_mean(nearest_name(name, function_names())) +
                     "emomc functions lists them");
}

Value Lowering::operation(const Syntax& syntax, const std::vector<Value>& arguments) {
  const std::string& mark = syntax.name;
  const auto swapped = [&] { return std::vector<Value>{arguments[1], arguments[0]}; };
  if (mark == "negate") return by_element(syntax, Operation::negate, arguments);
  if (mark == "!") return by_element(syntax, Operation::negation, arguments);
  if (mark == "+") return by_element(syntax, Operation::add, arguments);
  if (mark == "-") return by_element(syntax, Operation::subtract, arguments);
  if (mark == "*") return by_element(syntax, Operation::multiply, arguments);
  if (mark == "/") return by_element(syntax, Operation::divide, arguments);
  if (mark == "<") return by_element(syntax, Operation::less, arguments);
  if (mark == ">") return by_element(syntax, Operation::less, swapped());
  if (mark == "<=") return by_element(syntax, Operation::less_or_equal, arguments);
  if (mark == ">=") return by_element(syntax, Operation::less_or_equal, swapped());
  if (mark == "==") return by_element(syntax, Operation::equal, arguments);
  if (mark == "!=")
    return by_element(syntax, Operation::negation, {by_element(syntax, Operation::equal, arguments)});
  if (mark == "&&") return by_element(syntax, Operation::both, arguments);
  if (mark == "||") return by_element(syntax, Operation::either, arguments);
  return broadcast(syntax, arguments, [&](const std::vector<NodeId>& nodes) {
    const Node& power = graph_[nodes[1]];
    // Products are exact where pow() would be slow, as for x^2.
    if (power.operation == Operation::constant && power.value == 1) return nodes[0];
    if (power.operation == Operation::constant && power.value == 2)
      return graph_.multiply(nodes[0], nodes[0]);
    return graph_.call(number_of(*primitive_of("pow")), nodes);
  });
}

Value Lowering::random(const Syntax& syntax, const std::vector<Value>& arguments) {
  const DistributionInfo& info = *distribution_of(syntax.name);
  if (!random_)
    refuse(syntax, syntax.name + " draws a random number; allowed only under likelihood.simulate");
  need_arguments(syntax, arguments.size(), static_cast<std::size_t>(info.num_arguments), signature_of(info));
  const auto distribution = static_cast<Distribution>(&info - distributions().data());
  return broadcast(syntax, arguments,
                   [&](const std::vector<NodeId>& nodes) { return graph_.random(distribution, nodes); });
}

Value Lowering::defined(const Syntax& syntax, const Definition& definition,
                        const std::vector<Value>& arguments) {
  need_arguments(syntax, arguments.size(), definition.arguments.size(), signature_of(definition));
  Scope scope;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto& argument = definition.arguments[i];
    // Within a definition the arguments have been looked at already.
    if (argument.is_count && blamed_ == nullptr)
      for (NodeId node : arguments[i].nodes)
        need_count(syntax.parts[i], node, 0, definition.name + " needs a count for " + argument.name);
    scope[argument.name] = arguments[i];
  }
  const Syntax* const outer = blamed_;
  if (blamed_ == nullptr) blamed_ = &syntax;
  Value result = lower(definition.body, &scope);
  blamed_ = outer;
  return result;
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

double value_of_expression(const std::string& text) {
  using namespace expression;
  expression::Graph graph;
  Lowering lowering(graph, {});
  return graph[lowering.lower_number({"expression", text})].value;
}

}  // namespace emomc
