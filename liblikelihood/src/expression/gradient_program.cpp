#include "gradient_program.hpp"

#include <array>
#include <set>

namespace emomc::expression {
namespace {

/// The coefficients with respect to which rows have derivatives.
std::set<int> differentiated(const RowProgram& program, const Adjoints& of_row) {
  std::set<int> used;
  for (const auto& [coefficient, adjoint] : of_row.parameters) used.insert(coefficient);
  for (const auto& [number, adjoint] : of_row.product_sums) {
    const ProductSum& sum = program.product_sums[static_cast<std::size_t>(number)];
    if (sum.start >= 0) used.insert(sum.start);
    for (const ProductSum::Product& product : sum.products) used.insert(product.coefficient);
  }
  for (const GatheredAdjoint& gathered : of_row.gathered)
    for (int i = 0; i < gathered.size; ++i) used.insert(gathered.first + i);
  return used;
}

}  // namespace

GradientProgram differentiate(RowProgram& program, int dim) {
  GradientProgram result;
  result.of_row =
      differentiate(program.rows, std::array{Seed{program.log_density, program.rows.constant(1)}});
  result.why_not = result.of_row.why_not;
  if (!result.why_not.empty()) return result;
  const auto num_coefficients = static_cast<int>(program.coefficients.size());
  std::vector<Seed> seeds;
  for (int i : differentiated(program, result.of_row))
    seeds.push_back({program.coefficients[static_cast<std::size_t>(i)], program.whole.parameter(dim + i)});
  if (program.common != kNoNode)
    seeds.push_back({program.common, program.whole.parameter(dim + num_coefficients)});
  result.of_theta = differentiate(program.whole, seeds);
  result.why_not = result.of_theta.why_not;
  if (!result.of_theta.gathered.empty())
    result.why_not = "an element of a list is chosen by what depends on parameters";
  return result;
}

}  // namespace emomc::expression
