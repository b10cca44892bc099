#include "lower.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "emomc/core/errors.hpp"
#include "emomc/core/nearest_name.hpp"
#include "functions.hpp"

namespace emomc::expression {
namespace {

std::string counted(std::size_t n, const std::string& what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

bool is_among(const std::string& name, const std::vector<std::string>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_density(const std::string& name) {
  return name.ends_with("_lpdf") || name.ends_with("_lcdf") || name.ends_with("_lccdf");
}

/// The letters and digits of a name in lower case: "bodymassg" for "Body Mass (g)".
std::string letters_of(const std::string& name) {
  std::string letters;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)))
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return letters;
}

}  // namespace

Lowering::Lowering(Graph& graph, std::vector<std::string> columns, std::vector<std::string> reals,
                   std::vector<std::string> standardized)
    : graph_(graph),
      columns_(std::move(columns)),
      reals_(std::move(reals)),
      standardized_(std::move(standardized)) {}

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

/// A hint for an unknown name: the column that is probably meant, if expressions cannot write the column's
/// name.
std::string Lowering::rename_hint(const std::string& name) const {
  constexpr std::size_t kFewest = 3;  // fewest letters with which a part of a name identifies a column
  const std::string letters = letters_of(name);
  for (const std::string& column : columns_) {
    if (is_identifier(column)) continue;
    const std::string others = letters_of(column);
    const bool is_part = letters.size() >= kFewest && others.find(letters) != std::string::npos;
    if (letters.empty() || (!is_part && !nearest_name(letters, std::array{others}))) continue;
    return "the name of the column \"" + column + "\" cannot be used in expressions, data.rename: {" + name +
           ": \"" + column + "\"} changes it; ";
  }
  return "";
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
  const std::string hint = rename_hint(name);
  refuse(syntax, "there is no column, parameter or constant " + name + "; " +
                     (hint.empty() ? did_you_mean(nearest_name(name, names)) : hint) +
                     "allowed here: " + (all.empty() ? "numbers" : all));
}

std::string Lowering::column_name(NodeId id) const {
  const Node& node = graph_[id];
  return node.operation == Operation::column ? columns_[used_[static_cast<std::size_t>(node.index)]] : "";
}

std::string Lowering::why_real(NodeId id) const {
  const std::string name = column_name(id);
  if (is_among(name, reals_)) return "column " + name + " is real, as data.kinds says";
  if (is_among(name, standardized_)) return "column " + name + " is standardised, as data.standardize says";
  return "";
}

bool Lowering::is_integer(NodeId id) const {
  const Node& node = graph_[id];
  switch (node.operation) {
    case Operation::constant:
      return std::floor(node.value) == node.value;
    case Operation::column:
      return why_real(id).empty();  // the values are checked when there are data
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
  if (!is_integer(id)) {
    const std::string why = why_real(id);
    refuse(syntax, what + ", and " + (why.empty() ? "this is a real number" : why) +
                       "; allowed: a column of whole numbers or a whole number");
  }
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

Value Lowering::call(const Syntax& syntax, const Scope* scope) {
  std::vector<Value> arguments;
  for (const Syntax& part : syntax.parts) arguments.push_back(lower(part, scope));
  if (!is_identifier(syntax.name) || syntax.name == "negate") return operation(syntax, arguments);
  const std::string& name = syntax.name;
  if (const Builtin* known = builtin_of(name); known != nullptr) return builtin(syntax, *known, arguments);
  if (const PrimitiveInfo* info = primitive_of(name); info != nullptr) {
    need_arguments(syntax, arguments.size(), static_cast<std::size_t>(info->num_arguments),
                   signature_of(*info));
    return primitive(syntax, number_of(*info), arguments);
  }
  if (const auto found = definitions().find(name); found != definitions().end())
    return defined(syntax, found->second, arguments);
  if (more_definitions_ != nullptr)
    if (const auto found = more_definitions_->find(name); found != more_definitions_->end())
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
    // Products are exact and faster than pow(), as for x^2.
    if (power.operation == Operation::constant && power.value == 1) return nodes[0];
    if (power.operation == Operation::constant && power.value == 2)
      return graph_.multiply(nodes[0], nodes[0]);
    return graph_.call(primitive_named("pow"), nodes);
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
  if (blamed_ == nullptr && is_density(definition.name))
    for (NodeId node : arguments[0].nodes)
      if (const std::string column = column_name(node); is_among(column, standardized_))
        refuse(syntax.parts[0], "column " + column +
                                    " is standardised, as data.standardize says, and its density " +
                                    "would be of other units; allowed: columns that predict");
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto& argument = definition.arguments[i];
    // Within a definition the arguments have been checked already.
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

NodeId Lowering::expand(const Definition& definition, const std::vector<NodeId>& arguments) {
  static const ExpressionText kText{"derivatives", ""};
  Syntax call;
  call.kind = Syntax::Kind::call;
  call.name = definition.name;
  call.parts.resize(arguments.size());
  std::vector<Value> values;
  for (NodeId argument : arguments) values.push_back({false, {argument}});
  text_ = &kText;
  return defined(call, definition, values).nodes.front();
}

}  // namespace emomc::expression

namespace emomc {

double value_of_expression(const std::string& text) {
  using namespace expression;
  expression::Graph graph;
  Lowering lowering(graph, {});
  return graph[lowering.lower_number({"expression", text})].value;
}

}  // namespace emomc
