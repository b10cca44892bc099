#include "emomc/posterior/expression_rows.hpp"

#include "table_columns.hpp"

namespace emomc {

std::vector<std::string> names_of_used(const Expression& expression, const std::vector<std::string>& columns,
                                       const std::vector<bool>& needed) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < needed.size(); ++k)
    if (needed[k]) names.push_back(columns.at(expression.used_columns()[k]));
  return names;
}

std::vector<double> expression_rows(const Expression& expression, const std::vector<std::string>& columns,
                                    const std::vector<bool>& needed, const Table& table,
                                    const ColumnUnits& units) {
  std::vector<double> rows(table.num_rows * needed.size());
  for (std::size_t k = 0; k < needed.size(); ++k) {
    if (!needed[k]) continue;
    const std::size_t column = expression.used_columns()[k];
    const std::size_t place = place_of_column(table, columns.at(column));
    for (std::size_t i = 0; i < table.num_rows; ++i) {
      const double value = table.values[i * table.columns.size() + place];
      rows[i * needed.size() + k] =
          units.is_identity() ? value : (value - units.mean.at(column)) / units.sd.at(column);
    }
  }
  expression.check_rows(rows, needed);
  return rows;
}

}  // namespace emomc
