// Columns of tables by their names.
#pragma once

#include <algorithm>
#include <string>

#include "emomc/core/errors.hpp"
#include "emomc/core/nearest_name.hpp"
#include "emomc/likelihood/table.hpp"
#include "emomc/posterior/text_table.hpp"

namespace emomc {

/// The place of a column in a table. Throws InputError where it is not there.
inline std::size_t place_of_column(const Table& table, const std::string& column) {
  const auto at = std::find(table.columns.begin(), table.columns.end(), column);
  if (at == table.columns.end())
    throw InputError("data: there is no column " + column + "; " +
                     did_you_mean(nearest_name(column, table.columns)) + "found: " + joined(table.columns));
  return static_cast<std::size_t>(at - table.columns.begin());
}

}  // namespace emomc
