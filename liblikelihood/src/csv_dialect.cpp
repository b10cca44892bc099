#include "csv_dialect.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <unordered_set>

#include "emomc/core/errors.hpp"
#include "emomc/likelihood/csv_records.hpp"
#include "emomc/likelihood/table.hpp"

namespace emomc {
namespace {

constexpr std::array<char, 3> kSeparators{',', ';', '\t'};
constexpr std::size_t kSampledRecords = 100;

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_finite_number(std::string_view text, char decimal) {
  double value = 0;
  return read_number(trimmed(text), decimal, value) == std::errc() && std::isfinite(value);
}

/// The first records of a file, split by one separator.
struct Sample {
  char separator = ',';
  std::vector<std::vector<std::string>> records;  ///< fields are not trimmed
  bool even = false;                              ///< all records have as many fields as the first
  bool has_columns() const { return even && records[0].size() >= 2; }
};

Sample sample_of(const std::string& name, const CsvText& csv, char separator) {
  Sample sample{separator, {}, true};
  try {
    CsvRecords records(name, csv.text, separator, csv.first_line);
    std::vector<std::string_view> fields;
    while (sample.records.size() < kSampledRecords && records.next(fields)) {
      if (fields.size() == 1 && trimmed(fields[0]).empty()) continue;  // a blank line
      sample.records.emplace_back(fields.begin(), fields.end());
      sample.even = sample.even && fields.size() == sample.records[0].size();
    }
  } catch (const InputError&) {  // a quote fails with this separator; the file may have another one
    sample.even = false;
  }
  sample.even = sample.even && !sample.records.empty();
  return sample;
}

/// Indices of the columns with data, by the names in the first record.
std::vector<std::size_t> data_columns(const std::vector<std::string>& names, bool header,
                                      const std::vector<std::string>& wanted) {
  std::vector<std::size_t> columns;
  const std::unordered_set<std::string_view> asked(wanted.begin(), wanted.end());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string column(trimmed(names[i]));
    const bool left_out = contains(reserved_columns(), column) || (i == 0 && is_index_name(column));
    if (!header || (wanted.empty() ? !left_out : asked.contains(column))) columns.push_back(i);
  }
  return columns;
}

bool holds_numbers(const Sample& sample, const CsvFormat& format, const std::vector<std::string>& wanted) {
  if (!sample.even) return false;
  const bool header = format.header.value_or(true);
  const auto columns = data_columns(sample.records[0], header, wanted);
  const std::string_view decimals = format.decimal == ',' ? "," : format.decimal == '.' ? "." : ".,";
  return !columns.empty() && std::any_of(decimals.begin(), decimals.end(), [&](char decimal) {
    return std::all_of(sample.records.begin() + (header ? 1 : 0), sample.records.end(),
                       [&](const std::vector<std::string>& record) {
                         return std::all_of(columns.begin(), columns.end(), [&](std::size_t i) {
                           return is_finite_number(record[i], decimal);
                         });
                       });
  });
}

/// Whether the rows, split into two columns at commas, could also be one column of numbers with decimal
/// commas. A header with a blank after the comma, such as "height, m", suggests one column.
bool can_be_decimal_commas(const Sample& by_commas) {
  const auto& records = by_commas.records;
  const auto is_digits = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  return records.size() > 1 && records[0].size() == 2 && records[0][1].starts_with(' ') &&
         std::all_of(records.begin() + 1, records.end(), [&](const auto& record) {
           const std::string_view whole = record[0];
           return is_digits(record[1]) && is_digits(whole.substr(whole.starts_with('-') ? 1 : 0));
         });
}

[[noreturn]] void refuse_two_separators(const std::string& name, const CsvText& csv, char one, char other) {
  throw InputError(name + ":" + std::to_string(csv.first_line) + ": the columns can be separated by " +
                   separator_name(one) + " or by " + separator_name(other) +
                   "; write data.separator: comma, semicolon or tab");
}

char find_separator(const std::string& name, const CsvText& csv, const CsvFormat& format,
                    const std::vector<std::string>& wanted) {
  if (format.separator) return format.separator;
  if (csv.said_separator) return csv.said_separator;
  std::vector<Sample> samples;
  for (const char separator : kSeparators) samples.push_back(sample_of(name, csv, separator));
  const Sample& by_commas = samples[0];
  // In a file with decimal commas, commas separate columns only where numbers are in quotes.
  const bool quoted_numbers =
      std::any_of(by_commas.records.begin(), by_commas.records.end(), [](const auto& record) {
        return std::any_of(record.begin(), record.end(),
                           [](const auto& field) { return is_finite_number(field, ','); }) &&
               std::any_of(record.begin(), record.end(),
                           [](const auto& field) { return field.find(',') != std::string::npos; });
      });
  std::vector<char> of_numbers, of_columns;
  for (const Sample& sample : samples) {
    if (!sample.has_columns() || (sample.separator == ',' && format.decimal == ',' && !quoted_numbers))
      continue;
    of_columns.push_back(sample.separator);
    if (holds_numbers(sample, format, wanted)) of_numbers.push_back(sample.separator);
  }
  const auto& fitting = of_numbers.empty() ? of_columns : of_numbers;
  if (fitting.size() > 1) refuse_two_separators(name, csv, fitting[0], fitting[1]);
  if (fitting.size() == 1) {
    if (fitting[0] == ',' && !format.decimal && can_be_decimal_commas(by_commas))
      throw InputError(name + ":" + std::to_string(csv.first_line) + ": '" + by_commas.records[0][0] + "," +
                       by_commas.records[0][1] +
                       "' can be the names of two columns, or of one column with decimal commas; write "
                       "data.separator: comma for two columns, or data.decimal: comma for one");
    return fitting[0];
  }
  // A column of numbers with decimal commas: its header has no comma, or the user states the decimal mark.
  // Below a header `a,b`, rows with different numbers of commas are a damaged table instead.
  const Sample& whole_lines = samples[1];
  const bool one_name = !by_commas.records.empty() && by_commas.records[0].size() == 1;
  if (((!by_commas.even && one_name) || format.decimal == ',') && holds_numbers(whole_lines, format, wanted))
    return ';';
  const auto most = std::max_element(samples.begin(), samples.end(), [](const auto& a, const auto& b) {
    return (a.records.empty() ? 0 : a.records[0].size()) < (b.records.empty() ? 0 : b.records[0].size());
  });
  return most->separator;
}

/// The decimal mark of a file; the first number that is valid with only one of the marks decides.
char find_decimal(const std::string& name, const CsvText& csv, const CsvFormat& format, char separator,
                  const std::vector<std::string>& wanted) {
  if (format.decimal) return format.decimal;
  if (csv.text.find(separator == ',' ? '"' : ',') == std::string::npos) return '.';
  try {
    CsvRecords records(name, csv.text, separator, csv.first_line);
    std::vector<std::string_view> fields;
    std::vector<std::size_t> columns;
    for (bool is_first = true; records.next(fields); is_first = false) {
      if (is_first) {
        const bool header = format.header.value_or(true);
        columns = data_columns({fields.begin(), fields.end()}, header, wanted);
        if (header) continue;
      }
      for (const std::size_t i : columns) {
        if (i >= fields.size()) break;
        const std::string_view field = trimmed(fields[i]);
        if (field.find('.') != std::string_view::npos && is_finite_number(field, '.')) return '.';
        if (field.find(',') == std::string_view::npos || !is_finite_number(field, ',')) continue;
        const std::size_t comma = field.find(',');
        if (separator == ',' && field.size() - comma == 4 && field.find_first_of("eE") == field.npos)
          throw InputError(name + ":" + std::to_string(records.line()) + ": '" + std::string(field) +
                           "' can have a decimal comma or one between thousands; write data.decimal: comma, "
                           "or write the numbers without commas");
        return ',';
      }
    }
  } catch (const InputError& error) {
    if (std::string_view(error.what()).find("data.decimal") != std::string_view::npos) throw;
  }
  return '.';  // only integers, or content that the reader refuses
}

bool has_header(const std::string& name, const CsvText& csv, const CsvFormat& format,
                const CsvDialect& dialect, const std::vector<std::string>& wanted) {
  if (format.header) return *format.header;
  CsvRecords records(name, csv.text, dialect.separator, csv.first_line);
  std::vector<std::string_view> fields;
  if (!records.next(fields)) return true;
  const bool all_numbers = std::all_of(fields.begin(), fields.end(), [&](std::string_view field) {
    double value = 0;
    return read_number(trimmed(field), dialect.decimal, value) == std::errc() || trimmed(field) == "NA";
  });
  std::unordered_set<std::string_view> names;
  for (const std::string_view field : fields) names.insert(trimmed(field));
  const bool names_wanted =
      !wanted.empty() && std::all_of(wanted.begin(), wanted.end(),
                                     [&](const std::string& column) { return names.contains(column); });
  if (!all_numbers || names_wanted) return true;
  throw InputError(name + ":" + std::to_string(csv.first_line) +
                   ": the first row is all numbers: names of columns, or a row of data without a header "
                   "above it; write data.header: false if it is data (columns are c0, c1, ... then), or "
                   "data.header: true if these are names");
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::errc read_number(std::string_view digits, char decimal, double& value) {
  std::string with_point;
  if (decimal == ',') {
    if (digits.find('.') != std::string_view::npos) return std::errc::invalid_argument;
    if (const auto comma = digits.find(','); comma != std::string_view::npos) {
      with_point = digits;
      with_point[comma] = '.';
      digits = with_point;
    }
  }
  if (digits.starts_with('+')) {
    digits.remove_prefix(1);
    if (digits.starts_with('-')) return std::errc::invalid_argument;
  }
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc() && end != digits.data() + digits.size()) return std::errc::invalid_argument;
  return error;
}

bool is_index_name(std::string_view name) {
  return name.empty() || name.starts_with("Unnamed: 0") || name == "...1";
}

CsvDialect find_dialect(const std::string& name, const CsvText& csv, const CsvFormat& format,
                        const std::vector<std::string>& wanted) {
  CsvDialect dialect;
  dialect.separator = find_separator(name, csv, format, wanted);
  dialect.decimal = find_decimal(name, csv, format, dialect.separator, wanted);
  dialect.header = has_header(name, csv, format, dialect, wanted);
  if (csv.was_utf16) dialect.notes.push_back("read as UTF-16");
  if (csv.text.find(dialect.separator) != std::string::npos && dialect.separator != ',')
    dialect.notes.push_back("columns separated by " + separator_name(dialect.separator));
  if (dialect.decimal == ',') dialect.notes.push_back("decimal commas: 1,5 is 1.5");
  if (!dialect.header) dialect.notes.push_back("no header: the first row is data");
  return dialect;
}

}  // namespace emomc
