#include "emomc/likelihood/standardize.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace emomc {

namespace {

struct ColumnRange {
  double least, most, largest;  ///< of the values; of their absolute values
};

std::vector<ColumnRange> column_ranges(std::span<const double> values, std::size_t dim) {
  std::vector<ColumnRange> ranges(dim);
  if (dim == 0) return ranges;
  for (std::size_t j = 0; j < dim && j < values.size(); ++j)
    ranges[j] = {values[j], values[j], std::abs(values[j])};
  for (std::size_t i = dim; i < values.size(); ++i) {
    ColumnRange& range = ranges[i % dim];
    range.least = std::min(range.least, values[i]);
    range.most = std::max(range.most, values[i]);
    range.largest = std::max(range.largest, std::abs(values[i]));
  }
  return ranges;
}

}  // namespace

std::vector<std::size_t> constant_columns(std::span<const double> values, std::size_t dim) {
  constexpr double kRounding = 64 * std::numeric_limits<double>::epsilon();
  std::vector<std::size_t> constant;
  const std::vector<ColumnRange> ranges = column_ranges(values, dim);
  for (std::size_t j = 0; j < dim; ++j)
    if (ranges[j].most - ranges[j].least <= kRounding * ranges[j].largest) constant.push_back(j);
  return constant;
}

std::vector<std::size_t> columns_out_of_range(std::span<const double> values, std::size_t dim) {
  constexpr double kLargest = 1e150;
  std::vector<std::size_t> found;
  const std::vector<ColumnRange> ranges = column_ranges(values, dim);
  for (std::size_t j = 0; j < dim; ++j)
    if (ranges[j].largest > kLargest ||
        (ranges[j].most > ranges[j].least && ranges[j].most - ranges[j].least < 1 / kLargest))
      found.push_back(j);
  return found;
}

ColumnUnits exact_units(const ColumnUnits& units) {
  ColumnUnits exact = units;
  for (std::size_t j = 0; j < units.sd.size(); ++j) {
    exact.sd[j] = std::exp2(std::round(std::log2(units.sd[j])));
    exact.mean[j] = std::round(units.mean[j] / exact.sd[j]) * exact.sd[j];
  }
  return exact;
}

ColumnUnits column_units(std::span<const double> values, std::size_t dim) {
  const std::size_t rows = values.size() / dim;
  ColumnUnits units{std::vector<double>(dim), std::vector<double>(dim)};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t row = i / dim;
    units.mean[i % dim] += (values[i] - units.mean[i % dim]) / static_cast<double>(row + 1);
  }
  std::vector<double> rest(dim);  // sum of deviations: the rounding error of the mean
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
