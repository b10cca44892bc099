#include "csv_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <unordered_map>

#include "emomc/core/errors.hpp"
#include "emomc/core/utf8.hpp"

namespace emomc {
namespace {

constexpr std::size_t kLongestLine = 16 << 20;
constexpr std::size_t kMostColumns = 1 << 20, kLongestName = 1024;
constexpr std::size_t kMostValues = std::size_t{1} << 33;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Parses a number that is out of range: strtod returns infinity or zero, whereas std::from_chars leaves the
// value unchanged.
double value_out_of_range(const CsvLines& lines, std::string_view field) {
  const std::string text(field);
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end != text.c_str() + text.size()) lines.refuse("'" + text.substr(0, 40) + "' is no number");
  return value;
}

}  // namespace

CsvLines::CsvLines(const std::filesystem::path& file) : file_(file) {
  std::error_code error;
  if (std::filesystem::is_regular_file(file, error)) stream_.open(file, std::ios::binary);
  if (!stream_.is_open()) throw InputError(file.string() + ": there is no such file, or it cannot be read");
}

void CsvLines::refuse(const std::string& what) const {
  throw InputError(file_.string() + ":" + std::to_string(number_) + ": " + what);
}

// Reads a line, but at most one buffer more than kLongestLine.
bool CsvLines::read_line() {
  line_.clear();
  std::array<char, 1 << 16> part{};
  while (line_.size() <= kLongestLine) {
    stream_.getline(part.data(), part.size());
    const auto count = static_cast<std::size_t>(stream_.gcount());
    if (stream_.bad() || (count == 0 && stream_.eof())) return !line_.empty();
    // No line break was found in this part, so the line continues.
    const bool full = stream_.fail();
    line_.append(part.data(), count - (full || stream_.eof() ? 0 : 1));
    if (!full) return true;
    stream_.clear();
  }
  return true;
}

bool CsvLines::next() {
  if (!read_line()) return false;
  ++number_;
  if (number_ == 1) {
    if (line_.starts_with("\xFF\xFE") || line_.starts_with("\xFE\xFF"))
      refuse("this is UTF-16; allowed: UTF-8 or ASCII");
    if (line_.starts_with(kByteOrderMark)) line_.erase(0, kByteOrderMark.size());
  }
  if (!line_.empty() && line_.back() == '\r') line_.pop_back();
  if (line_.size() > kLongestLine) refuse("the line is longer than 16 MiB");
  if (line_.find('\0') != std::string::npos) refuse("a zero byte; this is no CSV file");
  return true;
}

std::vector<std::string> csv_fields(const CsvLines& lines) {
  std::vector<std::string> fields;
  std::string_view rest = lines.line();
  while (true) {
    std::string field;
    rest = trimmed(rest);
    if (!rest.empty() && rest.front() == '"') {
      rest.remove_prefix(1);
      for (bool ended = false; !ended;) {
        const auto quote = rest.find('"');
        if (quote == std::string_view::npos) lines.refuse("a quote that does not end");
        const bool twice = quote + 1 < rest.size() && rest[quote + 1] == '"';
        field.append(rest.substr(0, quote + (twice ? 1 : 0)));
        rest.remove_prefix(quote + (twice ? 2 : 1));
        ended = !twice;
      }
      rest = trimmed(rest);
      if (!rest.empty() && rest.front() != ',') lines.refuse("text behind a field in quotes");
    } else {
      const auto field_text = rest.substr(0, rest.find(','));
      rest.remove_prefix(field_text.size());
      field = trimmed(field_text);
    }
    fields.push_back(std::move(field));
    if (fields.size() > kMostColumns) lines.refuse("more than 2^20 columns");
    if (rest.empty()) return fields;
    rest.remove_prefix(1);
  }
}

std::vector<std::string> csv_names(const CsvLines& lines) {
  std::vector<std::string> names = csv_fields(lines);
  std::unordered_map<std::string_view, std::size_t> columns;
  for (std::size_t j = 0; j < names.size(); ++j) {
    if (names[j].empty()) lines.refuse("a column without a name");
    if (!is_utf8(names[j])) lines.refuse("a column's name is not UTF-8");
    if (names[j].size() > kLongestName) lines.refuse("a column's name of more than 1024 bytes");
    const auto [at, is_new] = columns.try_emplace(names[j], j);
    if (!is_new)
      lines.refuse("columns " + std::to_string(at->second + 1) + " and " + std::to_string(j + 1) +
                   " have the same name, " + names[j] + "; names must differ");
  }
  return names;
}

double csv_number(const CsvLines& lines, std::string_view field) {
  if (field.size() >= 2 && field.front() == '"' && field.back() == '"')
    field = field.substr(1, field.size() - 2);
  field = trimmed(field);
  const std::string_view written = field;
  if (field.starts_with('+') && !field.starts_with("+-")) field.remove_prefix(1);
  double value = 0;
  const char *begin = field.data(), *last = begin + field.size();
  const auto [end, error] = std::from_chars(begin, last, value);
  if ((error != std::errc() && error != std::errc::result_out_of_range) || end != last)
    lines.refuse("'" + std::string(written.substr(0, 40)) + "' is no number");
  return error == std::errc() ? value : value_out_of_range(lines, field);
}

void append_csv_numbers(const CsvLines& lines, std::size_t num_columns, std::vector<double>& values) {
  const std::string_view line = lines.line();
  const std::size_t num_fields = 1 + static_cast<std::size_t>(std::count(line.begin(), line.end(), ','));
  if (num_fields != num_columns)
    lines.refuse(std::to_string(num_fields) + " fields, but the header has " + std::to_string(num_columns) +
                 (lines.is_cut() ? "; the file is cut off" : ""));
  if (lines.is_cut()) lines.refuse("the last row has no line break; the file is cut off");
  if (values.size() + num_fields > kMostValues) lines.refuse("more than 2^33 values");
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(',', begin), line.size());
    values.push_back(csv_number(lines, line.substr(begin, end - begin)));
    begin = end + 1;
  }
}

}  // namespace emomc
