// Rows as expressions read them.
#pragma once

#include <string>
#include <vector>

#include "emomc/core/data_units.hpp"
#include "emomc/likelihood/expression.hpp"
#include "emomc/likelihood/table.hpp"

namespace emomc {

/// The names of those of an expression's used columns that are `needed`, an item for each, as
/// Expression::columns_of() has them; `columns` are those that the expression was made with.
std::vector<std::string> names_of_used(const Expression& expression, const std::vector<std::string>& columns,
                                       const std::vector<bool>& needed);

/// The rows of a table as Expression::evaluate_row_outputs and simulate take them: num_rows x
/// used_columns().size(), 0 in columns that are not `needed`. `units` [columns.size()] are those by which
/// columns are standardised; empty: none is. Throws InputError where a column is missing, and as
/// Expression::check_rows does.
std::vector<double> expression_rows(const Expression& expression, const std::vector<std::string>& columns,
                                    const std::vector<bool>& needed, const Table& table,
                                    const ColumnUnits& units);

}  // namespace emomc
