#include "writer.hpp"

#include <fmt/format.h>

#include <cmath>

#include "primitives.hpp"

namespace emomc::expression {
namespace {

std::string literal(double value) {
  if (std::isnan(value)) return "emomc::device::double_of(0x7ff8000000000000ul)";
  if (std::isinf(value)) return value > 0 ? "emomc::device::kInfinity" : "-emomc::device::kInfinity";
  return fmt::format("{:a}", value);
}

bool is_leaf(const Node& node) {
  return node.operation == Operation::constant || node.operation == Operation::parameter ||
         node.operation == Operation::column || node.operation == Operation::product_sum;
}

}  // namespace

std::string Writer::value(NodeId id) const {
  const Node& node = graph_[id];
  switch (node.operation) {
    case Operation::constant:
      return fmt::format("{}({})", type_, literal(node.value));
    case Operation::parameter:
      if (first_of_second_ >= 0 && node.index >= first_of_second_)
        return fmt::format("{}[{}]", second_, node.index - first_of_second_);
      return fmt::format("{}[{}]", parameters_, node.index);
    case Operation::column:
      return fmt::format("{}[{}]", columns_, node.index);
    case Operation::product_sum:
      return fmt::format("s[{}]", node.index);
    default:
      return fmt::format("t{}", id);
  }
}

std::string Writer::statements(const std::vector<NodeId>& roots, const std::string& indent,
                               const std::vector<NodeId>& more) {
  const auto count_uses = [this](const std::vector<NodeId>& of, const std::vector<NodeId>& order) {
    std::vector<int> uses(graph_.size(), 0);
    for (NodeId root : of) ++uses[static_cast<std::size_t>(root)];
    for (NodeId id : order)
      for (int a = 0; a < graph_[id].num_arguments; ++a)
        ++uses[static_cast<std::size_t>(graph_[id].arguments[static_cast<std::size_t>(a)])];
    return uses;
  };
  std::vector<NodeId> all = roots;
  all.insert(all.end(), more.begin(), more.end());
  const std::vector<NodeId> order = needed_by(graph_, all), first = needed_by(graph_, roots);
  uses_ = count_uses(all, order);
  const std::vector<int> first_uses = count_uses(roots, first);
  for (NodeId id : first) uses_[static_cast<std::size_t>(id)] = first_uses[static_cast<std::size_t>(id)];

  // A product that is only a term of sums is part of their fused operations and has no statement.
  std::vector<char> is_read(graph_.size(), 0);
  for (NodeId root : all) is_read[static_cast<std::size_t>(root)] = 1;
  for (NodeId id : order) {
    const Node& node = graph_[id];
    const NodeId product = product_of_sum(node);
    for (int a = 0; a < node.num_arguments; ++a)
      if (const NodeId argument = node.arguments[static_cast<std::size_t>(a)]; argument != product)
        is_read[static_cast<std::size_t>(argument)] = 1;
    for (NodeId element : node.elements) is_read[static_cast<std::size_t>(element)] = 1;
    if (product == kNoNode) continue;
    for (int a = 0; a < graph_[product].num_arguments; ++a)
      is_read[static_cast<std::size_t>(graph_[product].arguments[static_cast<std::size_t>(a)])] = 1;
  }
  std::string text;
  for (NodeId id : order)
    if (!is_leaf(graph_[id]) && is_read[static_cast<std::size_t>(id)])
      text += fmt::format("{}const {} t{} = {};\n", indent, type_, id, formula(graph_[id]));
  return text;
}

NodeId Writer::product_of_sum(const Node& node) const {
  if (node.operation != Operation::add && node.operation != Operation::subtract) return kNoNode;
  for (std::size_t a : {1U, 0U}) {
    const NodeId argument = node.arguments[a];
    const bool fits = graph_[argument].operation == Operation::multiply &&
                      uses_[static_cast<std::size_t>(argument)] == 1 &&
                      graph_[node.arguments[1 - a]].operation != Operation::constant;
    if (fits && node.arguments[0] != node.arguments[1] && !(a == 0 && node.operation == Operation::subtract))
      return argument;
  }
  return kNoNode;
}

std::string Writer::formula(const Node& node) const {
  const auto a = [&](std::size_t i) { return value(node.arguments[i]); };
  const auto truth = [&](std::size_t i) { return fmt::format("({} != {}(0))", a(i), type_); };
  if (const NodeId product = product_of_sum(node); product != kNoNode) {
    const Node& factors = graph_[product];
    const NodeId other = node.arguments[node.arguments[0] == product ? 1 : 0];
    return fmt::format("emomc::device::fused({}{}, {}, {})", node.operation == Operation::subtract ? "-" : "",
                       value(factors.arguments[0]), value(factors.arguments[1]), value(other));
  }
  switch (node.operation) {
    case Operation::add:
      return a(0) + " + " + a(1);
    case Operation::subtract:
      return a(0) + " - " + a(1);
    case Operation::multiply:
      return a(0) + " * " + a(1);
    case Operation::divide:
      return a(0) + " / " + a(1);
    case Operation::negate:
      return "-" + a(0);
    case Operation::less:
      return fmt::format("{}({} < {})", type_, a(0), a(1));
    case Operation::less_or_equal:
      return fmt::format("{}({} <= {})", type_, a(0), a(1));
    case Operation::equal:
      return fmt::format("{}({} == {})", type_, a(0), a(1));
    case Operation::both:
      return fmt::format("{}({} && {})", type_, truth(0), truth(1));
    case Operation::either:
      return fmt::format("{}({} || {})", type_, truth(0), truth(1));
    case Operation::negation:
      return fmt::format("{}({} == {}(0))", type_, a(0), type_);
    case Operation::choose:
      return fmt::format("{} ? {} : {}", truth(0), a(1), a(2));
    case Operation::held:
      return a(0);
    case Operation::gather:
      return gathered(node);
    case Operation::call: {
      std::string arguments;
      for (int i = 0; i < node.num_arguments; ++i)
        arguments += (i == 0 ? "" : ", ") + a(static_cast<std::size_t>(i));
      return fmt::format("emomc::device::calls::{}({})", info_of(node.function).name, arguments);
    }
    case Operation::constant:
    case Operation::parameter:
    case Operation::column:
    case Operation::product_sum:
    case Operation::random:  // never part of a likelihood
      break;
  }
  return {};
}

std::string Writer::gathered(const Node& node) const {
  const std::string index = value(node.arguments[0]);
  if (is_run_of_parameters(graph_, node))
    return fmt::format("{}[{} + emomc::device::index_below({}, {})]", parameters_,
                       graph_[node.elements.front()].index, index, node.elements.size());
  std::string text;
  for (std::size_t i = 0; i + 1 < node.elements.size(); ++i)
    text += fmt::format("{} == {}({}) ? {} : ", index, type_, i, value(node.elements[i]));
  return text + value(node.elements.back());
}

}  // namespace emomc::expression
