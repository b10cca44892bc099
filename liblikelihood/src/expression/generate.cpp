#include "generate.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <vector>

#include "generate_gradient.hpp"
#include "writer.hpp"

namespace emomc::expression {
namespace {

/// The function parameter_of() (device/density.hpp) if all coefficients are parameters; otherwise empty.
std::string parameter_of_coefficient(const RowProgram& program) {
  std::string text;
  int end = 0;
  for (const ParameterRun& run : parameter_runs(program)) {
    end += run.count;
    text += fmt::format("    if (i < {}) return i + {};\n", end, run.parameter - (end - run.count));
  }
  if (text.empty()) return text;
  return "  EMOMC_HD static int parameter_of(int i) {\n" + text + "    return -1;\n  }\n\n";
}

/// Statements by which a team writes the coefficients: all members copy runs of parameters, one member writes
/// the rest.
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

/// Statements that compute one row's sums of products, in the order of sum_products().
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

/// Statements that compute the sums of products for kChains parameter vectors and R rows; runs of products
/// are loops.
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

/// log_density() and the functions of its parts.
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
    case Support::circular:
      return "circular";
    case Support::covariance:
      throw std::logic_error("no parameter of an expression is a matrix");
    case Support::real:
      break;
  }
  return "real";
}

std::vector<ParameterRun> parameter_runs(const RowProgram& program) {
  constexpr std::size_t kMostRuns = 8;  // since a kernel goes through all runs for each coefficient
  std::vector<ParameterRun> runs;
  if (program.common != kNoNode) return runs;
  for (const NodeId id : program.coefficients) {
    const Node& node = program.whole[id];
    if (node.operation != Operation::parameter) return {};
    if (runs.empty() || node.index != runs.back().parameter + runs.back().count)
      runs.push_back({node.index, 0});
    ++runs.back().count;
  }
  return runs.size() <= kMostRuns ? runs : std::vector<ParameterRun>{};
}

std::string generate_header(const RowProgram& program, const GradientProgram& gradient,
                            const ParameterLayout& layout) {
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
      coefficient_statements(program, num_coefficients),
      parameter_of_coefficient(program) + row_functions(program) +
          gradient_functions(program, gradient, layout.dim()));
}

}  // namespace emomc::expression
