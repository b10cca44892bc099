#include "emomc/posterior/memory_table.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <unordered_set>

#include "emomc/core/errors.hpp"
#include "table_columns.hpp"

namespace emomc {
namespace {

/// The number of rows that equal an earlier row. Zeros of either sign count as equal.
std::size_t count_duplicates(const std::vector<double>& values, std::size_t dim) {
  std::vector<double> rows = values;
  for (double& x : rows) x += 0.0;
  std::unordered_set<std::string_view> seen;
  for (std::size_t i = 0; i < rows.size(); i += dim)
    seen.emplace(reinterpret_cast<const char*>(rows.data() + i), dim * sizeof(double));
  return rows.size() / dim - seen.size();
}

}  // namespace

Table read_table(const std::string& file) { return read_table(TableRequest{.files = {file}, .columns = {}}); }

namespace {

void check_names(const std::vector<std::string>& columns) {
  std::set<std::string> names;
  for (const std::string& column : columns)
    if (!names.insert(column).second) throw InputError("data: column " + column + " is there twice");
}

[[noreturn]] void refuse_number(const std::vector<std::string>& columns, std::size_t place, double number) {
  const std::size_t dim = columns.size();
  throw InputError("data: row " + std::to_string(place / dim) + ", column " + columns[place % dim] + ": " +
                   std::to_string(number) + " is not a finite number");
}

Table in_memory(std::vector<std::string> columns, std::size_t num_rows) {
  Table table;
  table.columns = std::move(columns);
  table.num_rows = num_rows;
  table.files = {"memory"};
  table.file_first_row = {0};
  return table;
}

}  // namespace

Table make_table(std::vector<std::string> columns, std::vector<double> values) {
  const std::size_t dim = columns.size();
  if (dim == 0) throw InputError("data: there are no columns");
  if (values.empty()) throw InputError("data: there are no rows");
  if (values.size() % dim != 0)
    throw InputError("data: " + std::to_string(values.size()) + " values do not fill rows of " +
                     std::to_string(dim) + " columns");
  check_names(columns);
  const auto at = std::find_if(values.begin(), values.end(), [](double x) { return !std::isfinite(x); });
  if (at != values.end()) refuse_number(columns, static_cast<std::size_t>(at - values.begin()), *at);
  Table table = in_memory(std::move(columns), values.size() / dim);
  table.num_duplicate_rows = count_duplicates(values, dim);
  table.values = std::move(values);
  return table;
}

Table make_table(std::vector<std::string> columns, std::shared_ptr<const DeviceTable> values) {
  const std::size_t dim = columns.size();
  if (dim != values->num_columns())
    throw InputError("data: " + std::to_string(values->num_columns()) + " columns have " +
                     std::to_string(dim) + " names");
  check_names(columns);
  if (const auto at = values->first_not_finite())
    refuse_number(columns, *at, values->rows({*at / dim})[*at % dim]);
  Table table = in_memory(std::move(columns), values->num_rows());
  table.num_duplicate_rows = values->num_duplicate_rows();
  table.on_device = std::move(values);
  return table;
}

Table columns_of(const Table& table, const std::vector<std::string>& columns) {
  std::vector<std::size_t> places;
  for (const std::string& column : columns) places.push_back(place_of_column(table, column));
  Table result = table;
  result.columns = columns;
  std::erase_if(result.categories, [&](const CategoryColumn& category) {
    return std::find(columns.begin(), columns.end(), category.name) == columns.end();
  });
  if (places.empty()) {
    result.values.clear();
    result.on_device.reset();
    return result;
  }
  if (table.on_device) {
    result.on_device = table.on_device->columns_at(places);
    result.num_duplicate_rows = result.on_device->num_duplicate_rows();
    return result;
  }
  result.values.resize(table.num_rows * columns.size());
  for (std::size_t i = 0; i < table.num_rows; ++i)
    for (std::size_t j = 0; j < columns.size(); ++j)
      result.values[i * columns.size() + j] = table.values[i * table.columns.size() + places[j]];
  result.num_duplicate_rows = count_duplicates(result.values, columns.size());
  return result;
}

}  // namespace emomc
