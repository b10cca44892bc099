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

/// Columns in which all values are equal.
std::vector<std::size_t> constant_columns(std::span<const double> values, std::size_t dim);

/// In place: x[j] -> (x[j] - mean[j]) / sd[j].
void standardize(const ColumnUnits& units, std::span<double> values);

}  // namespace emomc
