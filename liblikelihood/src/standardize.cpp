#include "emomc/likelihood/standardize.hpp"

#include <algorithm>
#include <cmath>

namespace emomc {

std::vector<std::size_t> constant_columns(std::span<const double> values, std::size_t dim) {
  std::vector<std::size_t> constant;
  for (std::size_t j = 0; j < dim; ++j) {
    bool equal = true;
    for (std::size_t i = j; i < values.size() && equal; i += dim) equal = values[i] == values[j];
    if (equal) constant.push_back(j);
  }
  return constant;
}

ColumnUnits column_units(std::span<const double> values, std::size_t dim) {
  const std::size_t rows = values.size() / dim;
  ColumnUnits units{std::vector<double>(dim), std::vector<double>(dim)};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t row = i / dim;
    units.mean[i % dim] += (values[i] - units.mean[i % dim]) / static_cast<double>(row + 1);
  }
  std::vector<double> rest(dim);  // what is left of the mean's rounding
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double deviation = values[i] - units.mean[i % dim];
    units.sd[i % dim] += deviation * deviation;
    rest[i % dim] += deviation;
  }
  for (std::size_t j = 0; j < dim; ++j) {
    const auto n = static_cast<double>(rows);
    const double variance = (units.sd[j] - rest[j] * rest[j] / n) / n;
    units.sd[j] = std::sqrt(variance);
  }
  for (std::size_t j : constant_columns(values, dim)) {
    units.mean[j] = values[j];
    units.sd[j] = 1;
  }
  return units;
}

ColumnUnits column_units_for(const ParameterLayout& layout, std::span<const double> values, std::size_t dim) {
  ColumnUnits units = column_units(values, dim);
  const bool shared = std::any_of(
      layout.blocks.begin(), layout.blocks.end(),
      [](const ParameterBlock& block) { return block.unit == DataUnit::scale && block.feature_axis < 0; });
  if (!shared) return units;
  double squares = 0;
  for (double sd : units.sd) squares += sd * sd;
  units.sd.assign(dim, std::sqrt(squares / static_cast<double>(dim)));
  return units;
}

void standardize(const ColumnUnits& units, std::span<double> values) {
  if (units.is_identity()) return;
  const std::size_t dim = units.sd.size();
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = (values[i] - units.mean[i % dim]) / units.sd[i % dim];
}

}  // namespace emomc
