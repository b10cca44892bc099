#include "generate_gradient.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "emomc/device/gradient_rows.hpp"
#include "writer.hpp"

namespace emomc::expression {
namespace {

/// The numbers that log_density_and_adjoints() writes: all adjoints, then the indices of gathered adjoints.
std::vector<NodeId> row_numbers(const Adjoints& of_row) {
  std::vector<NodeId> nodes;
  for (const auto& [coefficient, adjoint] : of_row.parameters) nodes.push_back(adjoint);
  for (const auto& [number, adjoint] : of_row.product_sums) nodes.push_back(adjoint);
  for (const GatheredAdjoint& gathered : of_row.gathered) nodes.push_back(gathered.adjoint);
  for (const GatheredAdjoint& gathered : of_row.gathered) nodes.push_back(gathered.index);
  return nodes;
}

std::string row_function(const RowProgram& program, const std::vector<NodeId>& numbers) {
  Writer writer(program.rows, "T", "c", "x");
  std::string text = writer.statements({program.log_density}, "    ", numbers);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    text += fmt::format("    a[{}] = {};\n", i, writer.value(numbers[i]));
  return text + fmt::format("    return {};\n", writer.value(program.log_density));
}

/// Statements that add the rows' adjoints to the sums of the coefficients.
std::string sum_statements(const RowProgram& program, const Adjoints& of_row) {
  std::string text;
  int at = 0;
  for (const auto& [coefficient, adjoint] : of_row.parameters)
    text += fmt::format("    sums[{}] += emomc::device::sum_of_rows(a[{}], num_rows);\n", coefficient, at++);
  for (const auto& [number, adjoint] : of_row.product_sums) {
    const ProductSum& sum = program.product_sums[static_cast<std::size_t>(number)];
    if (sum.start >= 0)
      text += fmt::format("    sums[{}] += emomc::device::sum_of_rows(a[{}], num_rows);\n", sum.start, at);
    const auto& products = sum.products;
    for (std::size_t begin = 0, end = 0; begin < products.size(); begin = end) {
      while (end < products.size() &&
             products[end].coefficient == products[begin].coefficient + static_cast<int>(end - begin) &&
             products[end].column == products[begin].column + static_cast<int>(end - begin))
        ++end;
      text += fmt::format("    rows.template add_products_of_rows<{}, {}, {}>(a[{}], num_rows, sums);\n",
                          products[begin].coefficient, products[begin].column, end - begin, at);
    }
    ++at;
  }
  const int num_gathered = static_cast<int>(of_row.gathered.size());
  for (const GatheredAdjoint& gathered : of_row.gathered) {
    text += fmt::format("    emomc::device::add_by_index<{}, {}>(a[{}], a[{}], num_rows, sums);\n",
                        gathered.first, gathered.size, at + num_gathered, at);
    ++at;
  }
  return text;
}

/// The products of a product sum; a product with kNoColumn represents the start.
std::vector<ProductSum::Product> columns_of(const ProductSum& sum) {
  std::vector<ProductSum::Product> columns = sum.products;
  if (sum.start >= 0) columns.push_back({sum.start, device::kNoColumn});
  return columns;
}

std::string list_of(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return text.empty() ? "{}" : text;
}

/// A function that returns element `i` of a table of `type`.
std::string table_function(const std::string& type, const std::string& name,
                           const std::vector<std::string>& items) {
  return fmt::format(R"(
  EMOMC_HD static constexpr emomc::device::{0} {1}(int i) {{
    constexpr emomc::device::{0} all[] = {{{2}}};
    return all[i];
  }}
)",
                     type, name, list_of(items));
}

/// Tables of the columns by which kernels multiply the rows' numbers, and of other sums
/// (device/gradient_rows.hpp).
std::string kernel_tables(const RowProgram& program, const Adjoints& of_row, int num_adjoints) {
  constexpr std::size_t kColumns = device::kGradientTileColumns;
  std::vector<std::string> tiles, plain, gathers;
  int at = 0;
  for (const auto& [coefficient, adjoint] : of_row.parameters)
    plain.push_back(fmt::format("{{{}, {}}}", at++, coefficient));
  for (const auto& [number, adjoint] : of_row.product_sums) {
    const auto columns = columns_of(program.product_sums[static_cast<std::size_t>(number)]);
    for (std::size_t begin = 0; begin < columns.size(); begin += kColumns) {
      std::string first, second, sums;
      for (std::size_t i = begin; i < begin + kColumns; ++i) {
        const bool is_column = i < columns.size();
        const char* comma = i == begin ? "" : ", ";
        first += fmt::format("{}{}", comma, is_column ? columns[i].column : device::kPadding);
        second += fmt::format("{}{}", comma, device::kNoColumn);
        sums += fmt::format("{}{}", comma, is_column ? columns[i].coefficient : device::kNoSum);
      }
      tiles.push_back(fmt::format("{{{}, {{{}}}, {{{}}}, {{{}}}}}", at, first, second, sums));
    }
    ++at;
  }
  const int num_gathered = static_cast<int>(of_row.gathered.size());
  int slot = 0;
  for (const GatheredAdjoint& gathered : of_row.gathered) {
    gathers.push_back(
        fmt::format("{{{}, {}, {}, {}, {}}}", at, at + num_gathered, gathered.first, gathered.size, slot));
    slot += gathered.size;
    ++at;
  }
  return fmt::format(R"(
  static constexpr int num_product_tiles = {}, num_plain_adjoints = {};
  static constexpr int num_gathers = {}, num_gathered_sums = {};
  static_assert(num_adjoints == {});
)",
                     tiles.size(), plain.size(), gathers.size(), slot, num_adjoints) +
         table_function("GradientTile", "product_tile", tiles) +
         table_function("PlainSum", "plain_adjoint", plain) +
         table_function("GatheredSum", "gather", gathers);
}

/// Statements by which a team writes the gradient: all members copy runs of sums, one member writes the rest.
std::string theta_statements(const RowProgram& program, const Adjoints& of_theta, int dim) {
  Writer writer(program.whole, "double", "theta", "none");
  writer.set_second_array(dim, "sums");
  std::vector<NodeId> adjoints(static_cast<std::size_t>(dim), kNoNode), computed;
  for (const auto& [parameter, adjoint] : of_theta.parameters)
    if (parameter < dim) adjoints[static_cast<std::size_t>(parameter)] = adjoint;
  const auto sum_of = [&](std::size_t i) {
    if (i >= adjoints.size() || adjoints[i] == kNoNode) return -1;
    const Node& node = program.whole[adjoints[i]];
    return node.operation == Operation::parameter && node.index >= dim ? node.index - dim : -1;
  };
  std::string copies, stores;
  for (std::size_t i = 0, end = 0; i < adjoints.size(); i = end) {
    end = i + 1;
    if (const int first = sum_of(i); first >= 0) {
      while (sum_of(end) == first + static_cast<int>(end - i)) ++end;
      copies += fmt::format(
          "    for (int i = team.rank(); i < {0}; i += team.size()) gradient[{1} + i] = sums[{2} + i];\n",
          end - i, i, first);
    } else if (adjoints[i] == kNoNode) {
      stores += fmt::format("      gradient[{}] = 0;\n", i);
    } else {
      computed.push_back(adjoints[i]);
      stores += fmt::format("      gradient[{}] = {};\n", i, writer.value(adjoints[i]));
    }
  }
  std::string text = copies;
  if (!stores.empty())
    text += "    if (team.rank() == 0) {\n" + writer.statements(computed, "      ") + stores + "    }\n";
  return text + "    team.sync();\n";
}

}  // namespace

std::string gradient_functions(const RowProgram& program, const GradientProgram& gradient, int dim) {
  if (!gradient.why_not.empty()) return {};
  const std::vector<NodeId> numbers = row_numbers(gradient.of_row);
  return fmt::format(
      R"(
  static constexpr int num_adjoints = {0};
  static constexpr int num_gradient_sums = {4};

  template <class T, class Coefficients, class Row, class Sums>
  EMOMC_HD T log_density_and_adjoints(const Coefficients& c, const Row& x, const Sums& s, T* a) const {{
{1}  }}

  template <int kRows, class Rows, class T>
  EMOMC_HD static void add_adjoints(const Rows& rows, const T (*a)[kRows], int num_rows, double* sums) {{
{2}  }}

  template <class Team>
  EMOMC_HD void prepare_gradient(const Team& team, const double* theta, const double* sums,
                                 double* gradient) const {{
{3}  }}
{5})",
      numbers.empty() ? 1 : numbers.size(), row_function(program, numbers),
      sum_statements(program, gradient.of_row), theta_statements(program, gradient.of_theta, dim),
      program.coefficients.size() + 1,
      kernel_tables(program, gradient.of_row, numbers.empty() ? 1 : static_cast<int>(numbers.size())));
}

device::GradientSizes gradient_sizes(const RowProgram& program, const GradientProgram& gradient, int dim) {
  if (!gradient.why_not.empty()) return {};
  constexpr int kColumns = device::kGradientTileColumns;
  device::GradientSizes sizes;
  for (const auto& [number, adjoint] : gradient.of_row.product_sums) {
    const auto columns = columns_of(program.product_sums[static_cast<std::size_t>(number)]);
    sizes.num_tiles += (static_cast<int>(columns.size()) + kColumns - 1) / kColumns;
    sizes.num_used_columns += static_cast<int>(columns.size());
  }
  for (const GatheredAdjoint& gathered : gradient.of_row.gathered) sizes.num_gathered += gathered.size;
  sizes.num_slots =
      sizes.num_tiles * kColumns + static_cast<int>(gradient.of_row.parameters.size()) + sizes.num_gathered;
  sizes.num_parameters = dim;
  sizes.num_sums = static_cast<int>(program.coefficients.size()) + 1;
  sizes.num_numbers = std::max(1, static_cast<int>(row_numbers(gradient.of_row).size()));
  return sizes;
}

}  // namespace emomc::expression
