#include "row_program.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <utility>

namespace emomc::expression {
namespace {

bool is_of_parameters(const Node& node) { return (node.stage & kData) == 0; }
bool is_of_data(const Node& node) { return node.stage == kData; }

/// The terms of a sum, or the factors of a product, sorted by the quantities on which they depend.
struct Parts {
  std::vector<NodeId> of_parameters;  ///< nodes that depend on parameters alone, or on nothing
  std::vector<NodeId> of_data;
  std::vector<std::pair<NodeId, bool>> of_both;  ///< node, and whether the term is subtracted
};

class Division {
 public:
  explicit Division(RowProgram& program) : p_(program) {}

  void divide(NodeId root) {
    if (is_sum(p_.whole[root])) {
      Parts parts;
      collect_terms(root, false, parts);
      p_.common = total(parts.of_parameters);
      parts.of_parameters.clear();
      p_.log_density = sum_of(parts);
    } else if (is_of_parameters(p_.whole[root])) {
      p_.common = root;
      p_.log_density = p_.rows.constant(0);
    } else {
      p_.log_density = row(root);
    }
  }

 private:
  static bool is_sum(const Node& node) {
    return node.operation == Operation::add || node.operation == Operation::subtract ||
           node.operation == Operation::negate;
  }

  /// The number of arithmetic operations of an expression of data, or a large number. An expression of at
  /// most two operations is computed for each row; others become inputs.
  int cost(NodeId id) const {
    constexpr int kNever = 100;
    const Node& node = p_.whole[id];
    switch (node.operation) {
      case Operation::constant:
      case Operation::column:
        return 0;
      case Operation::add:
      case Operation::subtract:
      case Operation::multiply:
      case Operation::negate:
      case Operation::less:
      case Operation::less_or_equal:
      case Operation::equal:
      case Operation::negation: {
        int sum = 1;
        for (int a = 0; a < node.num_arguments; ++a) sum += cost(node.arguments[static_cast<std::size_t>(a)]);
        return sum < kNever ? sum : kNever;
      }
      default:
        return kNever;
    }
  }

  NodeId input(NodeId id) {
    const auto [at, is_new] = input_of_.try_emplace(id, static_cast<int>(p_.inputs.size()));
    if (is_new) p_.inputs.push_back(id);
    return p_.rows.column(at->second);
  }
  NodeId coefficient(NodeId id) {
    const Node& node = p_.whole[id];
    if (node.operation == Operation::constant) return p_.rows.constant(node.value);
    const auto [at, is_new] = coefficient_of_.try_emplace(id, static_cast<int>(p_.coefficients.size()));
    if (is_new) p_.coefficients.push_back(id);
    return p_.rows.parameter(at->second);
  }

  void collect_terms(NodeId id, bool subtracted, Parts& parts) {
    const Node node = p_.whole[id];
    if (is_of_parameters(node)) {
      parts.of_parameters.push_back(signed_of(id, subtracted));
    } else if (is_sum(node) && (!is_of_data(node) || cost(id) > 2)) {
      collect_terms(node.arguments[0], subtracted != (node.operation == Operation::negate), parts);
      if (node.operation != Operation::negate)
        collect_terms(node.arguments[1], subtracted != (node.operation == Operation::subtract), parts);
    } else if (is_of_data(node)) {
      parts.of_data.push_back(signed_of(id, subtracted));
    } else {
      parts.of_both.emplace_back(id, subtracted);
    }
  }
  NodeId signed_of(NodeId id, bool subtracted) {
    return subtracted ? p_.whole.operate(Operation::negate, std::array{id}) : id;
  }
  NodeId total(const std::vector<NodeId>& terms) {
    NodeId sum = kNoNode;
    for (NodeId term : terms) sum = sum == kNoNode ? term : p_.whole.add(sum, term);
    return sum;
  }

  NodeId sum_of(const Parts& parts) {
    NodeId sum = kNoNode;
    const auto add = [&](NodeId term, bool subtracted) {
      if (sum == kNoNode)
        sum = subtracted ? p_.rows.operate(Operation::negate, std::array{term}) : term;
      else
        sum = p_.rows.operate(subtracted ? Operation::subtract : Operation::add, std::array{sum, term});
    };
    if (const NodeId data = total(parts.of_data); data != kNoNode) add(row(data), false);
    NodeId ahead = kNoNode;
    if (const NodeId all = total(parts.of_parameters); all != kNoNode) {
      ahead = coefficient(all);
      if (p_.rows.is_constant(ahead) && p_.rows[ahead].value == 0) ahead = kNoNode;
    }
    std::vector<std::pair<NodeId, bool>> terms;
    for (const auto& [id, subtracted] : parts.of_both) terms.emplace_back(row(id), subtracted);
    if (const NodeId products = take_products(ahead, terms); products != kNoNode) add(products, false);
    if (ahead != kNoNode) add(ahead, false);
    for (const auto& [term, subtracted] : terms) add(term, subtracted);
    return sum == kNoNode ? p_.rows.constant(0) : sum;
  }

  /// Moves the terms that are a coefficient times a column, and `ahead` if that is a coefficient, to a new
  /// product sum and returns its node. Returns kNoNode if there are few such terms.
  NodeId take_products(NodeId& ahead, std::vector<std::pair<NodeId, bool>>& terms) {
    constexpr std::size_t kFewest = 4;
    const auto is_product = [this](const std::pair<NodeId, bool>& term) {
      const Node& node = p_.rows[term.first];
      return !term.second && node.operation == Operation::multiply &&
             p_.rows[node.arguments[0]].operation == Operation::parameter &&
             p_.rows[node.arguments[1]].operation == Operation::column;
    };
    if (static_cast<std::size_t>(std::count_if(terms.begin(), terms.end(), is_product)) < kFewest)
      return kNoNode;
    const auto rest = std::stable_partition(terms.begin(), terms.end(), std::not_fn(is_product));
    ProductSum sum;
    for (auto term = rest; term != terms.end(); ++term) {
      const Node& node = p_.rows[term->first];
      sum.products.push_back({p_.rows[node.arguments[0]].index, p_.rows[node.arguments[1]].index});
    }
    terms.erase(rest, terms.end());
    if (ahead != kNoNode && p_.rows[ahead].operation == Operation::parameter) {
      sum.start = p_.rows[ahead].index;
      ahead = kNoNode;
    }
    p_.product_sums.push_back(std::move(sum));
    return p_.rows.product_sum(static_cast<int>(p_.product_sums.size()) - 1);
  }

  void collect_factors(NodeId id, Parts& parts) {
    const Node node = p_.whole[id];
    if (is_of_parameters(node)) {
      parts.of_parameters.push_back(id);
    } else if (node.operation == Operation::multiply && !is_of_data(node)) {
      collect_factors(node.arguments[0], parts);
      collect_factors(node.arguments[1], parts);
    } else if (node.operation == Operation::divide && is_of_parameters(p_.whole[node.arguments[1]])) {
      collect_factors(node.arguments[0], parts);
      parts.of_parameters.push_back(
          p_.whole.operate(Operation::divide, std::array{p_.whole.constant(1), node.arguments[1]}));
    } else if (node.operation == Operation::negate && !is_of_data(node)) {
      parts.of_parameters.push_back(p_.whole.constant(-1));
      collect_factors(node.arguments[0], parts);
    } else if (is_of_data(node)) {
      parts.of_data.push_back(id);
    } else {
      parts.of_both.emplace_back(id, false);
    }
  }
  NodeId product(const std::vector<NodeId>& factors) {
    NodeId result = kNoNode;
    for (NodeId factor : factors) result = result == kNoNode ? factor : p_.whole.multiply(result, factor);
    return result;
  }
  NodeId product_of(const Parts& parts) {
    NodeId result = kNoNode;
    const auto multiply = [&](NodeId factor) {
      result = result == kNoNode ? factor : p_.rows.multiply(result, factor);
    };
    if (const NodeId ahead = product(parts.of_parameters); ahead != kNoNode) multiply(coefficient(ahead));
    if (const NodeId data = product(parts.of_data); data != kNoNode) multiply(row(data));
    for (const auto& factor : parts.of_both) multiply(row(factor.first));
    return result;
  }

  /// The node of `rows` that has the value of `id`.
  NodeId row(NodeId id) {
    if (const auto known = row_of_.find(id); known != row_of_.end()) return known->second;
    const NodeId result = made(id);
    row_of_[id] = result;
    return result;
  }
  NodeId made(NodeId id) {
    const Node node = p_.whole[id];  // a copy, since nodes are added below
    if (is_of_parameters(node)) return coefficient(id);
    if (is_of_data(node) && (node.operation == Operation::column || cost(id) > 2)) return input(id);
    if (!is_of_data(node)) {
      if (is_sum(node)) {
        Parts parts;
        collect_terms(id, false, parts);
        return sum_of(parts);
      }
      if (node.operation == Operation::multiply || node.operation == Operation::divide) {
        Parts parts;
        collect_factors(id, parts);
        const bool is_quotient = parts.of_both.size() == 1 && parts.of_both[0].first == id;
        if (!is_quotient) return product_of(parts);
      }
    }
    std::vector<NodeId> arguments;
    for (int a = 0; a < node.num_arguments; ++a)
      arguments.push_back(row(node.arguments[static_cast<std::size_t>(a)]));
    if (node.operation == Operation::gather) return p_.rows.gather(arguments[0], elements_of(node));
    if (node.operation == Operation::call) return p_.rows.call(node.function, arguments);
    return p_.rows.operate(node.operation, arguments);
  }

  /// The elements of a gather in `rows`. Elements that are coefficients become consecutive, so that an index
  /// selects one.
  std::vector<NodeId> elements_of(const Node& node) {
    const auto known = array_of_.find(node.elements);
    if (known != array_of_.end()) return known->second;
    bool of_parameters = true;
    for (NodeId element : node.elements) of_parameters = of_parameters && is_of_parameters(p_.whole[element]);
    std::vector<NodeId> elements;
    for (NodeId element : node.elements) {
      if (of_parameters) {
        elements.push_back(p_.rows.parameter(static_cast<int>(p_.coefficients.size())));
        p_.coefficients.push_back(element);
      } else {
        elements.push_back(row(element));
      }
    }
    return array_of_[node.elements] = elements;
  }

  RowProgram& p_;
  std::map<std::vector<NodeId>, std::vector<NodeId>> array_of_;
  std::map<NodeId, int> input_of_, coefficient_of_;
  std::map<NodeId, NodeId> row_of_;
};

}  // namespace

RowProgram divide(const Graph& graph, NodeId log_density) {
  RowProgram program;
  program.whole = graph;
  Division(program).divide(log_density);
  return program;
}

}  // namespace emomc::expression
