#include "generate.hpp"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <map>
#include <stdexcept>
#include <vector>

namespace emomc::expression {
namespace {

std::string literal(double value) {
  if (std::isnan(value)) return "emomc::device::double_of(0x7ff8000000000000ul)";
  if (std::isinf(value)) return value > 0 ? "emomc::device::kInfinity" : "-emomc::device::kInfinity";
  return fmt::format("{:a}", value);
}

/// Writes the statements of one graph; `type` is that of its values.
class Writer {
 public:
  Writer(const Graph& graph, std::string type, std::string parameters, std::string columns)
      : graph_(graph),
        type_(std::move(type)),
        parameters_(std::move(parameters)),
        columns_(std::move(columns)) {}

  /// Where the value of a node is, once statements() has been written.
  std::string value(NodeId id) const {
    const Node& node = graph_[id];
    if (node.operation == Operation::constant) return fmt::format("{}({})", type_, literal(node.value));
    if (node.operation == Operation::parameter) return fmt::format("{}[{}]", parameters_, node.index);
    if (node.operation == Operation::column) return fmt::format("{}[{}]", columns_, node.index);
    if (node.operation == Operation::product_sum) return fmt::format("s[{}]", node.index);
    return fmt::format("t{}", id);
  }

  std::string statements(const std::vector<NodeId>& roots, const std::string& indent) {
    const std::vector<NodeId> order = needed_by(graph_, roots);
    uses_.assign(graph_.size(), 0);
    for (NodeId root : roots) ++uses_[static_cast<std::size_t>(root)];
    for (NodeId id : order)
      for (int a = 0; a < graph_[id].num_arguments; ++a)
        ++uses_[static_cast<std::size_t>(graph_[id].arguments[static_cast<std::size_t>(a)])];
    // A product that is only a term of one sum is part of its fused operation.
    fused_.assign(graph_.size(), 0);
    for (NodeId id : order)
      if (const NodeId product = product_of_sum(graph_[id]); product != kNoNode)
        fused_[static_cast<std::size_t>(product)] = 1;
    std::string text;
    for (NodeId id : order) {
      const Operation operation = graph_[id].operation;
      const bool is_leaf = operation == Operation::constant || operation == Operation::parameter ||
                           operation == Operation::column || operation == Operation::product_sum;
      if (is_leaf || fused_[static_cast<std::size_t>(id)]) continue;
      text += fmt::format("{}const {} t{} = {};\n", indent, type_, id, formula(graph_[id]));
    }
    return text;
  }

 private:
  /// The factor of a fused multiplication and addition; kNoNode: the sum is none.
  NodeId product_of_sum(const Node& node) const {
    if (node.operation != Operation::add && node.operation != Operation::subtract) return kNoNode;
    for (std::size_t a : {1U, 0U}) {
      const NodeId argument = node.arguments[a];
      const bool fits = graph_[argument].operation == Operation::multiply &&
                        uses_[static_cast<std::size_t>(argument)] == 1 &&
                        graph_[node.arguments[1 - a]].operation != Operation::constant;
      if (fits && node.arguments[0] != node.arguments[1] &&
          !(a == 0 && node.operation == Operation::subtract))
        return argument;
    }
    return kNoNode;
  }

  std::string formula(const Node& node) const {
    const auto a = [&](std::size_t i) { return value(node.arguments[i]); };
    const auto truth = [&](std::size_t i) { return fmt::format("({} != {}(0))", a(i), type_); };
    if (const NodeId product = product_of_sum(node); product != kNoNode) {
      const Node& factors = graph_[product];
      const NodeId other = node.arguments[node.arguments[0] == product ? 1 : 0];
      return fmt::format("emomc::device::fused({}{}, {}, {})",
                         node.operation == Operation::subtract ? "-" : "", value(factors.arguments[0]),
                         value(factors.arguments[1]), value(other));
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
      case Operation::random:  // not in a likelihood
        break;
    }
    return {};
  }

  std::string gathered(const Node& node) const {
    const std::string index = value(node.arguments[0]);
    const Node& first = graph_[node.elements.front()];
    bool is_run = first.operation == Operation::parameter;
    for (std::size_t i = 0; i < node.elements.size(); ++i) {
      const Node& element = graph_[node.elements[i]];
      is_run = is_run && element.operation == Operation::parameter &&
               element.index == first.index + static_cast<int>(i);
    }
    if (is_run)
      return fmt::format("{}[{} + emomc::device::index_below({}, {})]", parameters_, first.index, index,
                         node.elements.size());
    std::string text;
    for (std::size_t i = 0; i + 1 < node.elements.size(); ++i)
      text += fmt::format("{} == {}({}) ? {} : ", index, type_, i, value(node.elements[i]));
    return text + value(node.elements.back());
  }

  const Graph& graph_;
  std::string type_, parameters_, columns_;
  std::vector<int> uses_;
  std::vector<char> fused_;
};

/// Statements of a team that write the coefficients: runs of parameters by all members, the rest by one.
std::string coefficient_statements(const RowProgram& p, int num_coefficients) {
  std::vector<NodeId> computed;
  std::string copies, stores;
  Writer writer(p.whole, "double", "theta", "none");
  std::size_t i = 0;
  while (i < p.coefficients.size()) {
    const Node& node = p.whole[p.coefficients[i]];
    if (node.operation != Operation::parameter) {
      computed.push_back(p.coefficients[i]);
      stores += fmt::format("      coefficients[{}] = {};\n", i, writer.value(p.coefficients[i]));
      ++i;
      continue;
    }
    std::size_t end = i + 1;
    while (end < p.coefficients.size() && p.whole[p.coefficients[end]].operation == Operation::parameter &&
           p.whole[p.coefficients[end]].index == node.index + static_cast<int>(end - i))
      ++end;
    copies += fmt::format(
        "    for (int i = team.rank(); i < {0}; i += team.size()) coefficients[{1} + i] = theta[{2} + i];\n",
        end - i, i, node.index);
    i = end;
  }
  const bool has_common = p.common != kNoNode;
  if (has_common) {
    computed.push_back(p.common);
    stores += fmt::format("      coefficients[{}] = {};\n", num_coefficients - 1, writer.value(p.common));
  }
  std::string text = copies;
  if (!stores.empty())
    text += "    if (team.rank() == 0) {\n" + writer.statements(computed, "      ") + stores + "    }\n";
  text += "    team.sync();\n";
  text +=
      has_common ? fmt::format("    return coefficients[{}];\n", num_coefficients - 1) : "    return 0;\n";
  return text;
}

/// One row's sums of products, in the order in which sum_products() has them.
std::string sums_of_row(const std::vector<ProductSum>& sums) {
  std::string text;
  for (std::size_t l = 0; l < sums.size(); ++l) {
    text +=
        fmt::format("    T s{} = {};\n", l, sums[l].start < 0 ? "T(0)" : fmt::format("c[{}]", sums[l].start));
    for (const ProductSum::Product& p : sums[l].products)
      text +=
          fmt::format("    s{0} = emomc::device::fused(c[{1}], x[{2}], s{0});\n", l, p.coefficient, p.column);
  }
  text += "    const T s[] = {";
  for (std::size_t l = 0; l < sums.size(); ++l) text += fmt::format("{}s{}", l == 0 ? "" : ", ", l);
  return text + "};\n";
}

/// The same for kChains parameter vectors and R rows; runs of products are loops.
std::string sums_of_chains(const std::vector<ProductSum>& sums) {
  std::string text;
  for (std::size_t l = 0; l < sums.size(); ++l) {
    text += fmt::format("    emomc::device::begin_products<{}>(c, stride, s[{}]);\n", sums[l].start, l);
    const auto& products = sums[l].products;
    for (std::size_t begin = 0, end = 0; begin < products.size(); begin = end) {
      const auto continues = [&] {
        const int n = static_cast<int>(end - begin);
        return products[end].coefficient == products[begin].coefficient + n &&
               products[end].column == products[begin].column + n;
      };
      while (end < products.size() && continues()) ++end;
      text += fmt::format("    emomc::device::add_products<{}, {}, {}>(c, stride, x, s[{}]);\n",
                          products[begin].coefficient, products[begin].column, end - begin, l);
    }
  }
  return text;
}

/// log_density() and what it consists of.
std::string row_functions(const RowProgram& program) {
  Writer writer(program.rows, "T", "c", "x");
  const std::string statements = writer.statements({program.log_density}, "    ");
  const std::string body = statements + fmt::format("    return {};\n", writer.value(program.log_density));
  const auto& sums = program.product_sums;
  if (sums.empty())
    return "  template <class T, class Coefficients, class Row>\n"
           "  EMOMC_HD T log_density(const Coefficients& c, const Row& x) const {\n" +
           body + "  }\n";
  return fmt::format(R"(  static constexpr int num_product_sums = {0};

  template <class T, class Coefficients, class Row>
  EMOMC_HD T log_density(const Coefficients& c, const Row& x) const {{
{1}    return log_density_of<T>(c, x, s);
  }}

  template <int kChains, int R, class T, class Rows>
  EMOMC_HD static void sum_products(const T* c, int stride, const Rows& x, T (&s)[{0}][kChains][R]) {{
{2}  }}

  template <class T, class Coefficients, class Row, class Sums>
  EMOMC_HD T log_density_of(const Coefficients& c, const Row& x, const Sums& s) const {{
{3}  }}
)",
                     sums.size(), sums_of_row(sums), sums_of_chains(sums), body);
}

}  // namespace

const char* name_of(Support support) {
  switch (support) {
    case Support::positive:
      return "positive";
    case Support::unit_interval:
      return "unit_interval";
    case Support::simplex:
      return "simplex";
    case Support::covariance:
      throw std::logic_error("no parameter of an expression is a matrix");
    case Support::real:
      break;
  }
  return "real";
}

std::string generate_header(const RowProgram& program, const ParameterLayout& layout) {
  std::string parameters;
  for (std::size_t b = 0; b < layout.blocks.size(); ++b) {
    const ParameterBlock& block = layout.blocks[b];
    parameters += fmt::format("{}{{\"p{}\", emomc::device::Support::{}, {}}}", b == 0 ? "" : ", ", b,
                              name_of(block.support), block.shape.empty() ? 0 : block.size());
  }
  const int num_coefficients =
      static_cast<int>(program.coefficients.size()) + (program.common != kNoNode ? 1 : 0);
  return fmt::format(
      R"(// Generated from the expressions of a configuration.
#ifndef EMOMC_GENERATED_LIKELIHOOD_HPP
#define EMOMC_GENERATED_LIKELIHOOD_HPP

#include "emomc/device/density.hpp"
#include "emomc/device/expression_calls.hpp"

namespace emomc_generated {{

struct Likelihood {{
  static constexpr const char* name = "emomc_generated::Likelihood";
  static constexpr int num_columns = {0};
  static constexpr emomc::device::ParameterDescription parameters[] = {{{1}}};
  static constexpr int num_coefficients = {2};

  template <class Team>
  EMOMC_HD double prepare(const Team& team, const double* theta, double* coefficients) const {{
{3}  }}

{4}}};

}}  // namespace emomc_generated

#endif
)",
      program.inputs.size(), parameters, num_coefficients == 0 ? 1 : num_coefficients,
      coefficient_statements(program, num_coefficients), row_functions(program));
}

}  // namespace emomc::expression
