#include "graph.hpp"

#include <bit>
#include <cmath>
#include <utility>

namespace emomc::expression {
namespace {

double operated(const Node& node, const std::array<double, kMostArguments>& a) {
  static_assert(kMostArguments >= 3);
  switch (node.operation) {
    case Operation::call:
      return apply(node.function, a.data());
    case Operation::constant:
    case Operation::parameter:
    case Operation::column:
    case Operation::random:
    case Operation::gather:
    case Operation::product_sum:
      return node.value;
    default:
      return device::operated(node.operation, a[0], a[1], a[2]);
  }
}

std::vector<long> key_of(const Node& node) {
  std::vector<long> key{static_cast<long>(node.operation), static_cast<long>(node.function), node.index,
                        std::bit_cast<long>(node.value)};
  for (int i = 0; i < node.num_arguments; ++i) key.push_back(node.arguments[static_cast<std::size_t>(i)]);
  key.insert(key.end(), node.elements.begin(), node.elements.end());
  return key;
}

}  // namespace

const std::vector<PrimitiveInfo>& primitives() {
  static const std::vector<PrimitiveInfo> all{
#define EMOMC_INFO(name, count) {#name, count},
      EMOMC_EXPRESSION_PRIMITIVES(EMOMC_INFO)
#undef EMOMC_INFO
  };
  return all;
}

namespace {
template <int kCount, class F>
double applied(const F& f, const double* a) {
  if constexpr (kCount == 1)
    return f(a[0]);
  else if constexpr (kCount == 2)
    return f(a[0], a[1]);
  else
    return f(a[0], a[1], a[2]);
}
}  // namespace

double apply(Primitive function, const double* arguments) {
  switch (function) {
#define EMOMC_CASE(name, count) \
  case Primitive::name##_:      \
    return applied<count>([](auto... x) { return device::name(x...); }, arguments);
    EMOMC_EXPRESSION_PRIMITIVES(EMOMC_CASE)
#undef EMOMC_CASE
  }
  return NAN;
}

NodeId Graph::insert(Node node) {
  std::vector<long> key = key_of(node);
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  if (is_full()) return 0;
  const auto id = static_cast<NodeId>(nodes_.size());
  nodes_.push_back(std::move(node));
  known_.emplace(std::move(key), id);
  return id;
}

NodeId Graph::constant(double value) {
  Node node;
  node.value = value;
  return insert(std::move(node));
}

NodeId Graph::leaf(Operation operation, int index, Stage stage) {
  Node node;
  node.operation = operation;
  node.index = index;
  node.stage = stage;
  return insert(std::move(node));
}

NodeId Graph::parameter(int index) { return leaf(Operation::parameter, index, kParameters); }
NodeId Graph::column(int index) { return leaf(Operation::column, index, kData); }
NodeId Graph::product_sum(int index) { return leaf(Operation::product_sum, index, kData | kParameters); }

bool Graph::set_arguments(Node& node, std::span<const NodeId> arguments) const {
  node.num_arguments = static_cast<int>(arguments.size());
  bool constants = true;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    node.arguments[i] = arguments[i];
    node.stage |= (*this)[arguments[i]].stage;
    constants = constants && is_constant(arguments[i]);
  }
  return constants;
}

NodeId Graph::carried_out(Node node, std::span<const NodeId> arguments) {
  if (!set_arguments(node, arguments)) return insert(std::move(node));
  std::array<double, kMostArguments> values{};
  for (std::size_t i = 0; i < arguments.size(); ++i) values[i] = (*this)[arguments[i]].value;
  return constant(operated(node, values));
}

NodeId Graph::operate(Operation operation, std::span<const NodeId> arguments) {
  if (operation == Operation::choose && is_constant(arguments[0]))
    return (*this)[arguments[0]].value != 0 ? arguments[1] : arguments[2];
  Node node;
  node.operation = operation;
  return carried_out(std::move(node), arguments);
}

NodeId Graph::call(Primitive function, std::span<const NodeId> arguments) {
  Node node;
  node.operation = Operation::call;
  node.function = function;
  return carried_out(std::move(node), arguments);
}

NodeId Graph::random(Distribution distribution, std::span<const NodeId> arguments) {
  Node node;
  node.operation = Operation::random;
  node.distribution = distribution;
  node.index = static_cast<int>(nodes_.size());
  node.stage = kRandom;
  set_arguments(node, arguments);
  return insert(std::move(node));
}

Graph with_choices_made(const Graph& graph, const std::map<NodeId, bool>& decided, NodeId& root) {
  Graph result;
  std::vector<NodeId> becomes(graph.size(), 0);
  const auto now = [&](NodeId id) { return becomes[static_cast<std::size_t>(id)]; };
  for (NodeId id : needed_by(graph, std::array{root})) {
    const Node& node = graph[id];
    std::vector<NodeId> arguments;
    for (int a = 0; a < node.num_arguments; ++a)
      arguments.push_back(now(node.arguments[static_cast<std::size_t>(a)]));
    NodeId made = 0;
    switch (node.operation) {
      case Operation::constant:
        made = result.constant(node.value);
        break;
      case Operation::parameter:
        made = result.parameter(node.index);
        break;
      case Operation::column:
        made = result.column(node.index);
        break;
      case Operation::call:
        made = result.call(node.function, arguments);
        break;
      case Operation::gather: {
        std::vector<NodeId> elements;
        for (NodeId element : node.elements) elements.push_back(now(element));
        made = result.gather(arguments[0], std::move(elements));
        break;
      }
      case Operation::random:
        made = result.random(node.distribution, arguments);
        break;
      default: {
        const auto choice =
            node.operation == Operation::choose ? decided.find(node.arguments[0]) : decided.end();
        made = choice == decided.end() ? result.operate(node.operation, arguments)
                                       : arguments[choice->second ? 1 : 2];
      }
    }
    becomes[static_cast<std::size_t>(id)] = made;
  }
  root = now(root);
  return result;
}

NodeId Graph::gather(NodeId index, std::vector<NodeId> elements) {
  if (is_constant(index)) return elements[static_cast<std::size_t>((*this)[index].value)];
  Node node;
  node.operation = Operation::gather;
  node.num_arguments = 1;
  node.arguments[0] = index;
  node.stage = (*this)[index].stage;
  for (NodeId element : elements) node.stage |= (*this)[element].stage;
  node.elements = std::move(elements);
  return insert(std::move(node));
}

bool is_run_of_parameters(const Graph& graph, const Node& gather) {
  const Node& first = graph[gather.elements.front()];
  for (std::size_t i = 0; i < gather.elements.size(); ++i) {
    const Node& element = graph[gather.elements[i]];
    if (element.operation != Operation::parameter || element.index != first.index + static_cast<int>(i))
      return false;
  }
  return true;
}

std::vector<NodeId> needed_by(const Graph& graph, std::span<const NodeId> roots) {
  std::vector<char> needed(graph.size(), 0);
  for (NodeId root : roots) needed[static_cast<std::size_t>(root)] = 1;
  for (std::size_t i = graph.size(); i-- > 0;) {
    if (!needed[i]) continue;
    const Node& node = graph[static_cast<NodeId>(i)];
    for (int a = 0; a < node.num_arguments; ++a)
      needed[static_cast<std::size_t>(node.arguments[static_cast<std::size_t>(a)])] = 1;
    for (NodeId element : node.elements) needed[static_cast<std::size_t>(element)] = 1;
  }
  std::vector<NodeId> order;
  for (std::size_t i = 0; i < graph.size(); ++i)
    if (needed[i]) order.push_back(static_cast<NodeId>(i));
  return order;
}

void evaluate(const Graph& graph, std::span<const NodeId> order, const double* theta, const double* row,
              double* values, RandomBits* random) {
  for (NodeId id : order) {
    const Node& node = graph[id];
    double& value = values[id];
    switch (node.operation) {
      case Operation::parameter:
        value = theta[node.index];
        break;
      case Operation::column:
        value = row[node.index];
        break;
      case Operation::gather: {
        const double index = values[node.arguments[0]];
        const bool inside = index >= 0 && index < static_cast<double>(node.elements.size());
        value = inside ? values[node.elements[static_cast<std::size_t>(index)]] : NAN;
        break;
      }
      default: {
        std::array<double, kMostArguments> arguments{};
        for (int a = 0; a < node.num_arguments; ++a)
          arguments[static_cast<std::size_t>(a)] = values[node.arguments[static_cast<std::size_t>(a)]];
        value = node.operation == Operation::random ? draw(node.distribution, arguments.data(), *random)
                                                    : operated(node, arguments);
      }
    }
  }
}

}  // namespace emomc::expression
