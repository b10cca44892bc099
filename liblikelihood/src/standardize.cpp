#include "emomc/likelihood/standardize.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "emomc/device/column_folds.hpp"

namespace emomc {

std::vector<ColumnRange> column_ranges(std::span<const double> values, std::size_t dim) {
  std::vector<ColumnRange> ranges(dim);
  if (dim == 0) return ranges;
  for (std::size_t j = 0; j < dim && j < values.size(); ++j)
    ranges[j] = {values[j], values[j], values[j], std::abs(values[j])};
  for (std::size_t i = dim; i < values.size(); ++i) {
    ColumnRange& range = ranges[i % dim];
    range.least = std::min(range.least, values[i]);
    range.most = std::max(range.most, values[i]);
    range.largest = std::max(range.largest, std::abs(values[i]));
  }
  return ranges;
}

std::vector<std::size_t> constant_columns(const std::vector<ColumnRange>& ranges) {
  constexpr double kRounding = 64 * std::numeric_limits<double>::epsilon();
  std::vector<std::size_t> constant;
  for (std::size_t j = 0; j < ranges.size(); ++j)
    if (ranges[j].most - ranges[j].least <= kRounding * ranges[j].largest) constant.push_back(j);
  return constant;
}
std::vector<std::size_t> constant_columns(std::span<const double> values, std::size_t dim) {
  return constant_columns(column_ranges(values, dim));
}

std::vector<std::size_t> columns_out_of_range(const std::vector<ColumnRange>& ranges) {
  constexpr double kLargest = 1e150;
  std::vector<std::size_t> found;
  for (std::size_t j = 0; j < ranges.size(); ++j)
    if (ranges[j].largest > kLargest ||
        (ranges[j].most > ranges[j].least && ranges[j].most - ranges[j].least < 1 / kLargest))
      found.push_back(j);
  return found;
}
std::vector<std::size_t> columns_out_of_range(std::span<const double> values, std::size_t dim) {
  return columns_out_of_range(column_ranges(values, dim));
}

ColumnUnits exact_units(const ColumnUnits& units) {
  ColumnUnits exact = units;
  for (std::size_t j = 0; j < units.sd.size(); ++j) {
    exact.sd[j] = std::exp2(std::round(std::log2(units.sd[j])));
    exact.mean[j] = std::round(units.mean[j] / exact.sd[j]) * exact.sd[j];
  }
  return exact;
}

ColumnUnits units_of_sums(const std::vector<double>& mean, const std::vector<double>& squares,
                          const std::vector<double>& deviations, std::size_t num_rows,
                          const std::vector<ColumnRange>& ranges) {
  ColumnUnits units{mean, std::vector<double>(mean.size())};
  const auto n = static_cast<double>(num_rows);
  for (std::size_t j = 0; j < mean.size(); ++j) {
    const double variance = (squares[j] - deviations[j] * deviations[j] / n) / n;
    units.sd[j] = std::sqrt(variance);
  }
  for (const std::size_t j : constant_columns(ranges)) {
    units.mean[j] = ranges[j].first;
    units.sd[j] = 1;
  }
  return units;
}

ColumnUnits column_units(std::span<const double> values, std::size_t dim) {
  const std::size_t rows = values.size() / dim, rows_of_block = device::kBlockRows;
  std::vector<double> mean(dim), squares(dim), deviations(dim);  // deviations: rounding errors of means
  std::vector<double> of_block(dim), squares_of_block(dim);
  const auto for_each_block = [&](const auto& use) {
    for (std::size_t first = 0; first < rows; first += rows_of_block)
      use(first, values.subspan(first * dim, std::min(rows_of_block, rows - first) * dim));
  };
  for_each_block([&](std::size_t first, std::span<const double> block) {
    std::fill(of_block.begin(), of_block.end(), 0.0);
    for (std::size_t i = 0; i < block.size(); ++i) {
      const std::size_t row = i / dim;
      of_block[i % dim] += (block[i] - of_block[i % dim]) / static_cast<double>(row + 1);
    }
    for (std::size_t j = 0; j < dim; ++j)
      mean[j] = device::merged_mean(mean[j], static_cast<device::i64>(first), of_block[j],
                                    static_cast<device::i64>(block.size() / dim));
  });
  for_each_block([&](std::size_t, std::span<const double> block) {
    std::fill(of_block.begin(), of_block.end(), 0.0);
    std::fill(squares_of_block.begin(), squares_of_block.end(), 0.0);
    for (std::size_t i = 0; i < block.size(); ++i) {
      const double deviation = block[i] - mean[i % dim];
      squares_of_block[i % dim] += deviation * deviation;
      of_block[i % dim] += deviation;
    }
    for (std::size_t j = 0; j < dim; ++j) {
      squares[j] += squares_of_block[j];
      deviations[j] += of_block[j];
    }
  });
  return units_of_sums(mean, squares, deviations, rows, column_ranges(values, dim));
}

ColumnUnits column_units_for(const ParameterLayout& layout, ColumnUnits units) {
  const bool shared = std::any_of(
      layout.blocks.begin(), layout.blocks.end(),
      [](const ParameterBlock& block) { return block.unit == DataUnit::scale && block.feature_axis < 0; });
  if (!shared) return units;
  double squares = 0;
  for (double sd : units.sd) squares += sd * sd;
  const std::size_t dim = units.sd.size();
  units.sd.assign(dim, std::sqrt(squares / static_cast<double>(dim)));
  return units;
}
ColumnUnits column_units_for(const ParameterLayout& layout, std::span<const double> values, std::size_t dim) {
  return column_units_for(layout, column_units(values, dim));
}

void standardize(const ColumnUnits& units, std::span<double> values) {
  if (units.is_identity()) return;
  const std::size_t dim = units.sd.size();
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = (values[i] - units.mean[i % dim]) / units.sd[i % dim];
}

}  // namespace emomc
