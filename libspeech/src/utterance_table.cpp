#include "emomc/speech/utterance_table.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string_view>

#include "arff_records.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/core/nearest_name.hpp"
#include "emomc/likelihood/csv_format.hpp"
#include "emomc/likelihood/csv_records.hpp"
#include "emomc/likelihood/table.hpp"
#include "table_text.hpp"

namespace emomc {
namespace {

namespace fs = std::filesystem;
using Fields = std::vector<std::string_view>;

constexpr std::array kNameColumns{"file", "name", "filename", "path", "utterance", "id"};
constexpr std::array kLabelColumns{"start",   "end",   "frametime", "frameindex", "frame",
                                   "speaker", "label", "emotion",   "class"};

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

// A text for messages: on one line, shortened, in quotes.
std::string shown(std::string_view text) {
  constexpr std::size_t kMost = 40;
  std::string result(text.substr(0, kMost));
  for (char& c : result)
    if (static_cast<unsigned char>(c) < ' ') c = '?';
  return "'" + result + (text.size() > kMost ? "...'" : "'");
}

template <class Names>
bool is_one_of(const std::string& name, const Names& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The use of a file's columns.
struct Plan {
  std::size_t name = 0;
  std::vector<std::size_t> numbers;
};

/// Which columns of a file are not features: `names` has the names of recordings, `labels` what a model
/// predicts.
struct OtherColumns {
  const std::string& names;
  const std::vector<std::string>& labels;
};

// `is_text` states which columns cannot have numbers, according to their type in an ARFF file.
Plan plan_columns(const std::string& place, const std::vector<std::string>& header,
                  const std::vector<bool>& is_text, const OtherColumns& others, UtteranceTable& table) {
  const std::string& names = others.names;
  Plan plan;
  plan.name = header.size();
  if (!names.empty()) {
    plan.name = static_cast<std::size_t>(std::find(header.begin(), header.end(), names) - header.begin());
    if (plan.name == header.size())
      throw InputError(place + ": there is no column " + shown(names) + " (features.table_names); " +
                       did_you_mean(nearest_name(names, header)) + "it has " + std::to_string(header.size()) +
                       " columns");
  }
  for (std::size_t k = 0; k < kNameColumns.size() && plan.name == header.size(); ++k)
    for (std::size_t j = header.size(); j-- > 0;)
      if (lower(header[j]) == kNameColumns[k]) plan.name = j;
  if (plan.name == header.size())
    throw InputError(
        place +
        ": no column names the recordings; allowed: file, name, filename, path, utterance or id, "
        "or another one that features.table_names names");
  std::set<std::string> seen;
  for (std::size_t j = 0; j < header.size(); ++j) {
    if (j == plan.name) continue;
    const std::string name = lower(header[j]);
    const bool is_index = j == 0 && name.empty();
    if (is_text[j] || is_index || is_one_of(name, kLabelColumns) || is_one_of(name, kNameColumns) ||
        is_one_of(header[j], others.labels)) {
      table.skipped.push_back(header[j]);
      continue;
    }
    if (name.empty()) throw InputError(place + ": column " + std::to_string(j + 1) + " has no name");
    if (!seen.insert(header[j]).second)
      throw InputError(place + ": column " + shown(header[j]) + " occurs twice");
    table.columns.push_back(header[j]);
    plan.numbers.push_back(j);
  }
  if (plan.numbers.empty()) throw InputError(place + ": there is no column of numbers");
  return plan;
}

double number(std::string_view text, const std::string& place, const std::string& column) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  if (text.empty() || text == "?" || lower(text) == "nan") return kNaN;
  double value = 0;
  const char* begin = text.data() + (text.front() == '+' ? 1 : 0);
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range && end == text.data() + text.size() &&
      lower(text).find("e-") != std::string::npos)
    return 0;  // an underflow
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    throw InputError(place + ": column " + shown(column) + ": expected a finite number, not " + shown(text));
  constexpr double kLargest = 1e100;  // squares and their sums must be finite
  if (std::abs(value) > kLargest)
    throw InputError(place + ": column " + shown(column) + ": " + shown(text) +
                     " is out of range; allowed: -1e100 to 1e100");
  return value;
}

void append_row(const Fields& fields, std::size_t line, const Plan& plan, std::size_t width,
                UtteranceTable& table) {
  const std::string place = table.file + ":" + std::to_string(line);
  if (fields.size() != width)
    throw InputError(place + ": " + std::to_string(fields.size()) + " values, but there are " +
                     std::to_string(width) + " columns");
  const std::string_view name = trimmed_field(fields[plan.name]);
  if (name.empty()) throw InputError(place + ": the name of the recording is missing");
  table.names.emplace_back(name);
  table.lines.push_back(line);
  for (std::size_t j = 0; j < plan.numbers.size(); ++j)
    table.values.push_back(number(trimmed_field(fields[plan.numbers[j]]), place, table.columns[j]));
}

void read_csv(const fs::path& file, const OtherColumns& others, UtteranceTable& table) {
  const CsvText csv = decode_csv(table.file, content_of(file));
  CsvRecords records(table.file, csv.text, find_separator(table.file, csv), csv.first_line);
  Fields fields;
  if (!records.next(fields)) throw InputError(table.file + ": the file is empty");
  std::vector<std::string> header;
  for (const std::string_view field : fields) header.emplace_back(trimmed_field(field));
  const Plan plan = plan_columns(table.file + ":" + std::to_string(records.line()), header,
                                 std::vector<bool>(header.size()), others, table);
  while (records.next(fields)) {
    if (fields.size() == 1 && trimmed_field(fields[0]).empty()) continue;  // a blank line
    append_row(fields, records.line(), plan, header.size(), table);
  }
}

void read_arff(const fs::path& file, const OtherColumns& others, UtteranceTable& table) {
  const std::string text = content_of(file);
  ArffRecords records(table.file, text);
  const Plan plan = plan_columns(table.file + ":" + std::to_string(records.line()), records.attributes(),
                                 records.is_text(), others, table);
  Fields fields;
  while (records.next(fields)) append_row(fields, records.line(), plan, records.attributes().size(), table);
}

void read_npy(const fs::path& file, const OtherColumns& others, UtteranceTable& table) {
  const std::string& names = others.names;
  if (names.empty())
    throw InputError(table.file +
                     ": an .npy file has no names; features.table_names is a text file with the name of a "
                     "recording on each line");
  std::error_code error;
  if (!fs::is_regular_file(file, error)) throw InputError(table.file + ": there is no such file");
  Table read = read_table({.files = {table.file}, .columns = {}});
  table.columns = std::move(read.columns);
  table.values = std::move(read.values);
  const std::string text = content_of(names);
  std::string_view rest = text;
  while (!rest.empty()) {
    const auto end = std::min(rest.find('\n'), rest.size());
    const std::string_view name = trimmed_field(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (name.empty() && rest.empty()) break;  // blank lines at the end
    if (name.empty())
      throw InputError(names + ":" + std::to_string(table.names.size() + 1) + ": the name is missing");
    table.names.emplace_back(name);
    table.lines.push_back(table.names.size());
  }
  if (table.names.size() != read.num_rows)
    throw InputError(names + ": " + std::to_string(table.names.size()) + " names, but " + table.file +
                     " has " + std::to_string(read.num_rows) + " rows");
}

// The parts of a name's path without its ending, beginning with the file's name.
std::vector<std::string> parts_of(const std::string& name) {
  std::string path = name;
  std::replace(path.begin(), path.end(), '\\', '/');
  const auto slash = path.find_last_of('/'), dot = path.find_last_of('.');
  const bool has_ending = dot != std::string::npos && (slash == std::string::npos || dot > slash + 1) &&
                          dot > 0 && path.size() - dot <= 6 && dot + 1 < path.size() &&
                          std::isalpha(static_cast<unsigned char>(path[dot + 1])) != 0;
  if (has_ending) path.resize(dot);
  std::vector<std::string> parts;
  while (!path.empty()) {
    const auto at = path.find_last_of('/');
    const std::string part = at == std::string::npos ? path : path.substr(at + 1);
    if (!part.empty() && part != ".") parts.push_back(part);
    path.resize(at == std::string::npos ? 0 : at);
  }
  return parts;
}

bool agree(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  const auto common = static_cast<std::ptrdiff_t>(std::min(a.size(), b.size()));
  return common > 0 && std::equal(a.begin(), a.begin() + common, b.begin());
}

}  // namespace

UtteranceTable read_utterance_table(const fs::path& file, const std::string& names,
                                    const std::vector<std::string>& labels) {
  UtteranceTable table;
  table.file = file.string();
  const std::string ending = lower(file.extension().string());
  (ending == ".npy" ? read_npy : ending == ".arff" ? read_arff : read_csv)(file, {names, labels}, table);
  if (table.names.empty()) throw InputError(table.file + ": there are no rows");
  return table;
}

std::vector<std::optional<std::size_t>> rows_of_utterances(const UtteranceTable& table,
                                                           const std::vector<std::string>& ids) {
  std::multimap<std::string, std::size_t> by_last_part;
  std::vector<std::vector<std::string>> parts;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    parts.push_back(parts_of(ids[i]));
    if (!parts.back().empty()) by_last_part.emplace(parts.back()[0], i);
  }
  std::vector<std::optional<std::size_t>> rows(ids.size());
  for (std::size_t row = 0; row < table.names.size(); ++row) {
    const std::vector<std::string> name = parts_of(table.names[row]);
    if (name.empty()) continue;
    std::optional<std::size_t> of;
    const auto [first, last] = by_last_part.equal_range(name[0]);
    for (auto at = first; at != last; ++at) {
      if (!agree(name, parts[at->second])) continue;
      const std::string place = table.file + ":" + std::to_string(table.lines[row]) + ": ";
      if (of)
        throw InputError(place + shown(table.names[row]) + " could be " + shown(ids[*of]) + " or " +
                         shown(ids[at->second]) + "; give names with their folders");
      of = at->second;
    }
    if (!of) continue;
    std::optional<std::size_t>& taken = rows[*of];
    if (taken)
      throw InputError(table.file + ":" + std::to_string(table.lines[row]) + ": a second row of " +
                       shown(ids[*of]) + ", after that of line " + std::to_string(table.lines[*taken]) +
                       "; one row an utterance is needed (functionals, not frames)");
    taken = row;
  }
  return rows;
}

}  // namespace emomc
