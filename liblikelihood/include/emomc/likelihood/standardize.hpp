// Scales columns to mean 0 and standard deviation 1, or to a common standard deviation, in float64.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "emomc/core/data_units.hpp"

namespace emomc {

/// The range of the numbers of a column.
struct ColumnRange {
  double first = 0, least = 0, most = 0;
  double largest = 0;  ///< the largest absolute value
};
/// The range of each column of `values` (num_rows x dim, row-major); zeros if there are no rows.
std::vector<ColumnRange> column_ranges(std::span<const double> values, std::size_t dim);

/// Mean and population sd (divisor N) of each column of `values` (num_rows x dim, row-major, at least one
/// row), in two passes, in the order of device/column_folds.hpp. A constant column gets sd 1, so it is only
/// centred.
ColumnUnits column_units(std::span<const double> values, std::size_t dim);
/// Mean and population sd of each column from numbers that were found while the rows were read: the columns'
/// means, the sums of squared deviations from the means (`squares`), the sums of deviations, and the ranges.
ColumnUnits units_of_sums(const std::vector<double>& mean, const std::vector<double>& squares,
                          const std::vector<double>& deviations, std::size_t num_rows,
                          const std::vector<ColumnRange>& ranges);

/// Units in which the model's parameters can be expressed: where a scale applies to all columns (spherical
/// mixtures), all columns get one sd, the root mean square of their sds.
ColumnUnits column_units_for(const ParameterLayout& layout, std::span<const double> values, std::size_t dim);
/// The units from `units`, the result of column_units().
ColumnUnits column_units_for(const ParameterLayout& layout, ColumnUnits units);

/// Units close to `units` for which the map to the data's units and back has as little rounding as float64
/// allows: sd is the nearest power of two, and mean is a multiple of it.
ColumnUnits exact_units(const ColumnUnits& units);

/// Columns whose values are equal up to rounding: their range is at most 64 epsilon (2^-52) times their
/// largest absolute value. So small a spread reflects the arithmetic that produced the values.
std::vector<std::size_t> constant_columns(const std::vector<ColumnRange>& ranges);
std::vector<std::size_t> constant_columns(std::span<const double> values, std::size_t dim);

/// Columns of finite values whose squares or squared differences are not finite or not normal: columns with
/// an absolute value above 1e150, and columns with different values that all lie within 1e-150 of each other.
std::vector<std::size_t> columns_out_of_range(const std::vector<ColumnRange>& ranges);
std::vector<std::size_t> columns_out_of_range(std::span<const double> values, std::size_t dim);

/// Replaces x[j] by (x[j] - mean[j]) / sd[j] in each row, in place.
void standardize(const ColumnUnits& units, std::span<double> values);

}  // namespace emomc
