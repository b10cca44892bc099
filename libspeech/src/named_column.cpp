#include "emomc/speech/named_column.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "emomc/core/errors.hpp"
#include "emomc/core/nearest_name.hpp"
#include "emomc/core/utf8.hpp"
#include "emomc/likelihood/csv_records.hpp"
#include "emomc/speech/utterance_table.hpp"
#include "table_text.hpp"

namespace emomc {
namespace {

namespace fs = std::filesystem;
using Fields = std::vector<std::string_view>;

constexpr std::array<const char*, 4> kRecordingColumns{"recording", "path", "utterance", "file"};

// The index of a column; header.size() if there is no such column.
std::size_t index_in(const std::vector<std::string>& header, const std::string& name) {
  return static_cast<std::size_t>(std::find(header.begin(), header.end(), name) - header.begin());
}

// The indices of the columns that are read.
struct Places {
  std::size_t name, value;
};

Places find_places(const std::string& place, const std::vector<std::string>& header, NamedColumn& result) {
  for (const std::string& name : header)
    if (!name.empty() && std::count(header.begin(), header.end(), name) > 1)
      throw InputError(place + ": the column '" + name + "' is doubled");
  std::size_t name = header.size();
  for (const char* one : kRecordingColumns)
    if (name == header.size()) name = index_in(header, one);
  result.is_about_speakers = name == header.size();
  if (result.is_about_speakers) name = index_in(header, "speaker");
  if (name == header.size())
    throw InputError(
        place +
        ": no column names the recordings or speakers; allowed: recording, path, utterance or file, "
        "or speaker");
  const std::size_t value = index_in(header, result.column);
  if (value == header.size()) {
    std::string all;
    for (const std::string& one : header) all += (all.empty() ? "" : ", ") + one;
    throw InputError(place + ": there is no column '" + result.column + "'; " +
                     did_you_mean(nearest_name(result.column, header)) + "found: " + all);
  }
  return {name, value};
}

std::string place_of(const NamedColumn& column, std::size_t row) {
  return column.file + ":" + std::to_string(column.lines[row]) + ": ";
}

void refuse_doubled_recordings(const NamedColumn& column, const std::string& key) {
  std::map<std::string, std::size_t> rows;
  for (std::size_t row = 0; row < column.names.size(); ++row)
    if (const auto [at, is_new] = rows.emplace(column.names[row], row); !is_new)
      throw InputError(key + ": " + place_of(column, row) + "a second row of recording '" +
                       column.names[row] + "', after that of line " +
                       std::to_string(column.lines[at->second]));
}

// The row of each speaker. Throws InputError if a speaker has two values.
std::map<std::string, std::size_t> rows_of_speakers(const NamedColumn& column, const std::string& key) {
  std::map<std::string, std::size_t> rows;
  for (std::size_t row = 0; row < column.names.size(); ++row) {
    const auto [at, is_new] = rows.emplace(column.names[row], row);
    if (!is_new && column.values[at->second] != column.values[row])
      throw InputError(key + ": " + place_of(column, row) + "speaker '" + column.names[row] + "' has " +
                       column.column + " '" + column.values[row] + "', and '" + column.values[at->second] +
                       "' in line " + std::to_string(column.lines[at->second]));
  }
  return rows;
}

}  // namespace

NamedColumn read_named_column(const fs::path& file, const std::string& column) {
  NamedColumn result;
  result.file = file.string();
  result.column = column;
  const CsvText csv = decode_csv(result.file, content_of(file));
  CsvRecords records(result.file, csv.text, find_separator(result.file, csv), csv.first_line);
  Fields fields;
  if (!records.next(fields)) throw InputError(result.file + ": the file is empty; a header is needed");
  for (std::string_view& field : fields) field = trimmed_field(field);
  const std::vector<std::string> header(fields.begin(), fields.end());
  const Places places = find_places(result.file + ":" + std::to_string(records.line()), header, result);
  while (records.next(fields)) {
    for (std::string_view& field : fields) field = trimmed_field(field);
    if (fields.size() == 1 && fields[0].empty()) continue;  // a blank line
    const std::string place = result.file + ":" + std::to_string(records.line()) + ": ";
    if (fields.size() != header.size())
      throw InputError(place + std::to_string(fields.size()) + " values; the header has " +
                       std::to_string(header.size()) + " columns");
    for (const std::size_t at : {places.name, places.value})
      if (!is_utf8(fields[at])) throw InputError(place + "the " + header[at] + " is not UTF-8");
    if (fields[places.name].empty()) throw InputError(place + "the " + header[places.name] + " is missing");
    result.names.emplace_back(fields[places.name]);
    result.values.emplace_back(fields[places.value]);
    result.lines.push_back(records.line());
  }
  if (result.names.empty()) throw InputError(result.file + ": there are no rows below the header");
  return result;
}

std::vector<std::string> values_of_utterances(const NamedColumn& column, const std::vector<std::string>& ids,
                                              const std::vector<std::string>& speakers,
                                              const std::string& key) {
  std::vector<std::optional<std::size_t>> rows(ids.size());
  if (column.is_about_speakers) {
    const auto by_speaker = rows_of_speakers(column, key);
    for (std::size_t u = 0; u < ids.size(); ++u)
      if (const auto at = by_speaker.find(speakers[u]); at != by_speaker.end()) rows[u] = at->second;
  } else {
    refuse_doubled_recordings(column, key);
    UtteranceTable table;
    table.file = column.file;
    table.names = column.names;
    table.lines = column.lines;
    rows = rows_of_utterances(table, ids);
  }
  std::vector<std::string> values;
  std::size_t missing = 0;
  for (const auto& row : rows) missing += row ? 0 : 1;
  for (std::size_t u = 0; u < ids.size(); ++u) {
    const std::optional<std::size_t>& row = rows[u];
    if (!row)
      throw InputError(key + ": " + column.file + ": " +
                       (column.is_about_speakers ? "speaker '" + speakers[u] : "recording '" + ids[u]) +
                       "' has no row (" + std::to_string(missing) + " of " + std::to_string(ids.size()) +
                       " recordings have none); the first name in the file is '" + column.names[0] + "'");
    values.push_back(column.values[*row]);
  }
  return values;
}

}  // namespace emomc
