// Reads numbers from CSV files. Blank lines at the end are accepted.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>
#include <unordered_set>

#include "csv_dialect.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/core/utf8.hpp"
#include "emomc/likelihood/csv_records.hpp"
#include "emomc/likelihood/table.hpp"
#include "table_file.hpp"

namespace emomc {
namespace {

// The name that messages give to a first column without one.
constexpr const char* kUnnamedIndex = "(index)";

// Texts that R, pandas and spreadsheets write for a missing value. An empty field and NaN, which is a number,
// are treated separately.
constexpr std::string_view kMissing[] = {"NA", "N/A", "#N/A", "<NA>", "NULL", "null", "None"};

// Makes text printable and short for messages.
std::string shown(std::string_view text) {
  std::string out;
  for (char c : text.substr(0, 40)) out += static_cast<unsigned char>(c) < 32 || c == 127 ? '?' : c;
  return out + (text.size() > 40 ? "..." : "");
}

std::string why_no_number(std::string_view digits, char decimal) {
  const char other = decimal == ',' ? '.' : ',';
  double value = 0;
  if (digits.find(other) != std::string_view::npos && read_number(digits, other, value) == std::errc())
    return std::string(" with a decimal ") +
           (decimal == ',' ? "comma, as earlier rows have; data.decimal: point reads it"
                           : "point; data.decimal: comma reads it");
  const auto blank = digits.find_first_of(" \t");
  if (blank != std::string_view::npos && read_number(digits.substr(0, blank), decimal, value) == std::errc())
    return "; columns are separated by commas, semicolons or tabs, not by blanks";
  return "; data.columns names the columns to use";
}

// `place()` describes the position. It is called for messages only, because a file may have millions of
// values.
template <class Place>
double parse_number(std::string_view text, char decimal, Place place) {
  const std::string_view digits = trimmed(text);
  if (digits.empty())
    throw InputError(place() + ": the value is missing; every value must be a finite number");
  if (std::ranges::find(kMissing, digits) != std::end(kMissing))
    throw InputError(place() + ": the value is missing ('" + std::string(digits) +
                     "'); every value must be a finite number");
  double value = 0;
  const std::errc error = read_number(digits, decimal, value);
  if (error == std::errc::result_out_of_range)
    throw InputError(place() + ": " + shown(text) + " is beyond the range of a double");
  if (error != std::errc())
    throw InputError(place() + ": '" + shown(text) + "' is not a number" + why_no_number(digits, decimal));
  if (!std::isfinite(value))
    throw InputError(place() + ": " + shown(text) + " is not finite; every value must be a finite number");
  return value;
}

/// Refuses a comment before the header. A first line that begins with # is taken for names if the next line
/// can be a row below it, as in files of numpy.savetxt.
void refuse_comment(const std::string& name, const CsvText& csv) {
  const std::string_view text = csv.text;
  if (!text.starts_with('#')) return;
  const auto line_from = [&](std::size_t begin) {
    return text.substr(std::min(begin, text.size()), text.find_first_of("\r\n", begin) - begin);
  };
  const std::string_view first = line_from(0),
                         second = line_from(text.find_first_not_of("\r\n", first.size()));
  const auto num_separators = [](std::string_view line) {
    return std::count_if(line.begin(), line.end(), [](char c) { return c == ',' || c == ';' || c == '\t'; });
  };
  double value = 0;
  const bool can_be_row =
      !second.starts_with('#') && num_separators(first) == num_separators(second) &&
      (num_separators(first) > 0 || read_number(trimmed(second), '.', value) == std::errc());
  if (!can_be_row)
    throw InputError(name + ":" + std::to_string(csv.first_line) +
                     ": the line begins with #, and comments are not read; remove the line, or only the # if "
                     "it names the columns");
}

std::vector<std::string> read_header(CsvRecords& records, const std::string& name) {
  std::vector<std::string_view> fields;
  if (!records.next(fields))
    throw InputError(name + ": the file is empty; a header line with column names is needed");
  const std::string place = name + ":" + std::to_string(records.line());
  std::vector<std::string> columns;
  for (const auto& field : fields) columns.emplace_back(trimmed(field));
  if (columns[0].empty() && columns.size() > 1) columns[0] = kUnnamedIndex;
  std::unordered_set<std::string_view> seen;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].empty()) throw InputError(place + ": column " + std::to_string(i + 1) + " has no name");
    if (!is_utf8(columns[i]))
      throw InputError(place + ": the name of column " + std::to_string(i + 1) + " is not UTF-8");
    if (columns[i].find('\0') != std::string::npos) throw InputError(place + ": this is no text file");
    if (!seen.insert(columns[i]).second)
      throw InputError(place + ": the column name '" + shown(columns[i]) + "' occurs twice");
  }
  return columns;
}

/// Names for a file without a header: c0, c1, ... as for a NumPy array, or x for a single column.
std::vector<std::string> names_without_header(const std::string& name, const CsvText& csv, char separator) {
  CsvRecords records(name, csv.text, separator, csv.first_line);
  std::vector<std::string_view> fields;
  if (!records.next(fields)) throw InputError(name + ": the file is empty; rows of numbers are needed");
  std::vector<std::string> columns;
  for (std::size_t i = 0; i < fields.size(); ++i)
    columns.push_back(fields.size() == 1 ? "x" : "c" + std::to_string(i));
  return columns;
}

/// An index identifies rows by names or integers. Other numbers in a column without a name may be data and
/// are refused.
void check_index(const std::string& place, const std::string& column, std::string_view text) {
  double value = 0;
  const std::string_view field = trimmed(text);
  if (read_number(field, '.', value) != std::errc() && read_number(field, ',', value) != std::errc()) return;
  if (value == std::floor(value) && std::isfinite(value)) return;
  throw InputError(
      place + ": the first column, '" + column + "', has no name of its own and holds " + shown(field) +
      ", which is no row number; name it in the header if it is data, or list the columns to use "
      "in data.columns");
}

}  // namespace

TableFile read_csv_header(const std::filesystem::path& file, const std::vector<std::string>& wanted,
                          const CsvFormat& format) {
  const std::string name = file.string();
  const CsvText csv = decode_csv(name, read_whole_file(file));
  refuse_comment(name, csv);
  const CsvDialect dialect = find_dialect(name, csv, format, wanted);
  CsvRecords records(name, csv.text, dialect.separator, csv.first_line);
  TableFile table;
  table.columns =
      dialect.header ? read_header(records, name) : names_without_header(name, csv, dialect.separator);
  return table;
}

TableFile read_csv(const std::filesystem::path& file, const std::vector<std::string>& wanted,
                   const CsvFormat& format, const std::vector<std::string>& text_columns,
                   const std::vector<std::string>& labels, const std::vector<std::string>& integers) {
  const std::string name = file.string();
  const CsvText csv = decode_csv(name, read_whole_file(file));
  refuse_comment(name, csv);
  // The format is detected from the columns of numbers.
  std::vector<std::string> of_numbers;
  for (const std::string& column : wanted)
    if (std::find(text_columns.begin(), text_columns.end(), column) == text_columns.end())
      of_numbers.push_back(column);
  const CsvDialect dialect = find_dialect(name, csv, format, of_numbers.empty() ? wanted : of_numbers);
  CsvRecords records(name, csv.text, dialect.separator, csv.first_line);
  TableFile table;
  table.notes = dialect.notes;
  table.columns =
      dialect.header ? read_header(records, name) : names_without_header(name, csv, dialect.separator);
  const bool has_index = dialect.header && table.columns.size() > 1 &&
                         (table.columns[0] == kUnnamedIndex || is_index_name(table.columns[0]));
  table.chosen = choose_columns(name, table.columns, wanted);
  std::vector<char> is_text(table.columns.size(), 0), needs_integers(table.columns.size(), 0);
  const auto is_in = [](const std::vector<std::string>& names, const std::string& column) {
    return std::find(names.begin(), names.end(), column) != names.end() ? char{1} : char{0};
  };
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    is_text[i] = is_in(text_columns, table.columns[i]);
    needs_integers[i] = is_in(integers, table.columns[i]);
  }
  bool index_is_checked = false;
  if (has_index && std::find(table.chosen.begin(), table.chosen.end(), 0u) != table.chosen.end() &&
      wanted.empty()) {
    std::erase(table.chosen, 0u);
    index_is_checked = true;
    if (table.chosen.empty())
      throw InputError(name + ":" + std::to_string(csv.first_line) +
                       ": there is no data column beside the index");
    table.notes.push_back("the first column, '" + table.columns[0] +
                          "', is taken for row names and left out; data.columns can include it");
  }
  table.texts.resize(table.chosen.size());
  std::vector<std::size_t> label_index;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const std::string& column = table.columns[i];
    const bool is_number = column == "frame" || column == "start" || column == "end";
    if (!is_in(labels, column) && (!is_in(reserved_columns(), column) || is_number)) continue;
    label_index.push_back(i);
    table.label_names.push_back(table.columns[i]);
  }
  table.labels.resize(label_index.size());

  std::vector<std::string_view> fields;
  std::size_t blank_line = 0;
  while (records.next(fields)) {
    const auto line = [&] { return std::to_string(records.line()); };
    if (fields.size() == 1 && trimmed(fields[0]).empty() && !records.has_quotes()) {
      if (!blank_line) blank_line = records.line();
      continue;
    }
    if (blank_line)
      throw InputError(name + ":" + std::to_string(blank_line) + ": a blank line among the rows" +
                       (table.columns.size() == 1 ? ", or a missing value of column " + table.columns[0] +
                                                        "; every value must be a finite number"
                                                  : ""));
    if (fields.size() != table.columns.size())
      throw InputError(name + ":" + line() + ": " + std::to_string(fields.size()) + " values; the " +
                       (dialect.header ? "header" : "first row") + " has " +
                       std::to_string(table.columns.size()) + " columns" +
                       (table.num_rows == 0 && fields.size() == table.columns.size() + 1
                            ? " (R writes row names without a name for their column: add one, or "
                              "write.csv(row.names = FALSE))"
                            : ""));
    if (index_is_checked) check_index(name + ":" + line(), table.columns[0], fields[0]);
    for (std::size_t c = 0; c < table.chosen.size(); ++c) {
      const std::size_t index = table.chosen[c];
      if (is_text[index]) {
        table.texts[c].emplace_back(trimmed(fields[index]));
        if (table.texts[c].back().empty())
          throw InputError(name + ":" + line() + ": column " + table.columns[index] +
                           ": a missing value; every row needs a category");
        table.values.push_back(0);
        continue;
      }
      table.values.push_back(parse_number(fields[index], dialect.decimal, [&] {
        return name + ":" + line() + ": column " + table.columns[index];
      }));
      if (needs_integers[index] && !is_integer(table.values.back()))
        throw InputError(name + ":" + line() + ": column " + table.columns[index] + ": " +
                         shown(trimmed(fields[index])) + " is no integer, as data.kinds says it is; " +
                         "allowed: integers up to 2^53");
    }
    for (std::size_t l = 0; l < label_index.size(); ++l)
      table.labels[l].emplace_back(trimmed(fields[label_index[l]]));
    ++table.num_rows;
  }
  if (table.num_rows == 0) throw InputError(name + ": there are no rows below the header");
  return table;
}

}  // namespace emomc
