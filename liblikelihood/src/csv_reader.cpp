// Numbers from CSV; blank lines at the end are tolerated.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <unordered_set>

#include "emomc/core/errors.hpp"
#include "emomc/core/utf8.hpp"
#include "emomc/likelihood/csv_records.hpp"
#include "emomc/likelihood/table.hpp"
#include "table_file.hpp"

namespace emomc {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// Printable and short, for messages.
std::string shown(std::string_view text) {
  std::string out;
  for (char c : text.substr(0, 40)) out += static_cast<unsigned char>(c) < 32 || c == 127 ? '?' : c;
  return out + (text.size() > 40 ? "..." : "");
}

// `place()` says where, in messages only: millions of values are fine.
template <class Place>
double parse_number(std::string_view text, Place place) {
  std::string_view digits = trimmed(text);
  if (digits.empty())
    throw InputError(place() + ": the value is missing; every value must be a finite number");
  if (digits.front() == '+') digits.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range)
    throw InputError(place() + ": " + shown(text) + " is beyond the range of a double");
  if (error != std::errc() || end != digits.data() + digits.size())
    throw InputError(place() + ": '" + shown(text) + "' is not a number");
  if (!std::isfinite(value))
    throw InputError(place() + ": " + shown(text) + " is not finite; every value must be a finite number");
  return value;
}

std::vector<std::string> read_header(CsvRecords& records, const std::string& name) {
  std::vector<std::string_view> fields;
  if (!records.next(fields))
    throw InputError(name + ": the file is empty; a header line with column names is needed");
  std::vector<std::string> columns;
  for (const auto& field : fields) columns.emplace_back(trimmed(field));
  std::unordered_set<std::string_view> seen;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].empty()) throw InputError(name + ":1: column " + std::to_string(i + 1) + " has no name");
    if (!is_utf8(columns[i]))
      throw InputError(name + ":1: the name of column " + std::to_string(i + 1) + " is not UTF-8");
    if (columns[i].find('\0') != std::string::npos) throw InputError(name + ":1: this is no text file");
    if (!seen.insert(columns[i]).second)
      throw InputError(name + ":1: the column name '" + shown(columns[i]) + "' occurs twice");
  }
  return columns;
}

}  // namespace

TableFile read_csv(const std::filesystem::path& file, const std::vector<std::string>& wanted) {
  const std::string name = file.string();
  const std::string text = read_whole_file(file);
  CsvRecords records(name, text);
  TableFile table;
  table.columns = read_header(records, name);
  table.chosen = choose_columns(name, table.columns, wanted);
  std::vector<std::size_t> label_index;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const auto& reserved = reserved_columns();
    if (std::find(reserved.begin(), reserved.end(), table.columns[i]) == reserved.end() ||
        table.columns[i] == "frame" || table.columns[i] == "start" || table.columns[i] == "end")
      continue;
    label_index.push_back(i);
    table.label_names.push_back(table.columns[i]);
  }
  table.labels.resize(label_index.size());

  std::vector<std::string_view> fields;
  std::size_t blank_line = 0;
  while (records.next(fields)) {
    const auto line = [&] { return std::to_string(records.line()); };
    if (fields.size() == 1 && trimmed(fields[0]).empty() && table.columns.size() > 1) {
      if (!blank_line) blank_line = records.line();
      continue;
    }
    if (blank_line)
      throw InputError(name + ":" + std::to_string(blank_line) + ": a blank line among the rows");
    if (fields.size() != table.columns.size())
      throw InputError(name + ":" + line() + ": " + std::to_string(fields.size()) +
                       " values; the header has " + std::to_string(table.columns.size()) + " columns");
    for (std::size_t index : table.chosen) {
      table.values.push_back(parse_number(
          fields[index], [&] { return name + ":" + line() + ": column " + table.columns[index]; }));
    }
    for (std::size_t l = 0; l < label_index.size(); ++l) table.labels[l].emplace_back(fields[label_index[l]]);
    ++table.num_rows;
  }
  if (table.num_rows == 0) throw InputError(name + ": there are no rows below the header");
  return table;
}

}  // namespace emomc
