// Columns brought to mean 0 and standard deviation 1, or to one standard deviation on average, in float64.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "emomc/core/data_units.hpp"

namespace emomc {

/// Mean and population sd (divisor N) of each column of `values` (num_rows x dim, row-major), in two
/// passes. A constant column gets sd 1, so that it is only centred.
ColumnUnits column_units(std::span<const double> values, std::size_t dim);

/// The units in which a model's parameters can be written: where a scale has no column of its own (a
/// spherical mixture's), all columns get one sd, the root mean square of theirs.
ColumnUnits column_units_for(const ParameterLayout& layout, std::span<const double> values, std::size_t dim);

/// Units close to `units` in which a map to the data's own and back rounds as little as float64 can: sd is
/// the nearest power of two, mean a multiple of it.
ColumnUnits exact_units(const ColumnUnits& units);

/// Columns in which all values are equal but for rounding: none lies further from the first than 64 units in
/// the last place of the largest. What so small a spread shows is the arithmetic that made the values.
std::vector<std::size_t> constant_columns(std::span<const double> values, std::size_t dim);

/// Columns whose values are finite, but too large or too close together for their squares to be: a value
/// above 1e150 in size, or a column that is not constant with all values within 1e-150 of each other.
std::vector<std::size_t> columns_out_of_range(std::span<const double> values, std::size_t dim);

/// In place: x[j] -> (x[j] - mean[j]) / sd[j].
void standardize(const ColumnUnits& units, std::span<double> values);

}  // namespace emomc
