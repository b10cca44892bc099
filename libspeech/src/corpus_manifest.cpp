// Lists user-defined corpora: folders named by emotion and speaker, or a table of recordings.
#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>

#include "corpus_kinds.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/core/utf8.hpp"
#include "emomc/likelihood/csv_format.hpp"
#include "emomc/likelihood/csv_records.hpp"

namespace emomc {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 3> kColumns{"path", "label", "speaker"};
constexpr std::size_t kLabel = 1, kNone = static_cast<std::size_t>(-1);

std::string content_of(const fs::path& file) {
  std::error_code error;
  if (fs::is_directory(file, error)) throw InputError(file.string() + ": this is a folder, not a file");
  if (!fs::is_regular_file(file, error)) throw InputError(file.string() + ": this is not a regular file");
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw InputError(file.string() + ": cannot be read");
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  return begin == text.npos ? "" : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// Removes the blanks around each field. Otherwise "happy " would be another class than "happy".
std::vector<std::string_view> trimmed(const std::vector<std::string_view>& fields) {
  std::vector<std::string_view> without;
  for (const auto& field : fields) without.push_back(trimmed(field));
  return without;
}

bool is_required(std::size_t column, ManifestLabels labels) {
  return column != kLabel || labels == ManifestLabels::required;
}

bool has_required_columns(const std::vector<std::string_view>& header, ManifestLabels labels) {
  for (std::size_t i = 0; i < kColumns.size(); ++i)
    if (is_required(i, labels) && std::find(header.begin(), header.end(), kColumns[i]) == header.end())
      return false;
  return true;
}

/// The separator with which the header has the required columns; a comma if none does.
char find_separator(const std::string& name, const CsvText& csv, ManifestLabels labels) {
  if (csv.said_separator) return csv.said_separator;
  for (const char separator : {',', ';', '\t'}) {
    try {
      std::vector<std::string_view> header;
      CsvRecords records(name, csv.text, separator);
      if (!records.next(header)) continue;
      if (has_required_columns(trimmed(header), labels)) return separator;
    } catch (const InputError&) {  // unbalanced quotes: another separator may fit
    }
  }
  return ',';
}

/// The indices of the columns path, label and speaker in a row; kNone for a label that may be missing.
std::array<std::size_t, 3> find_columns(const std::string& place, const std::vector<std::string_view>& header,
                                        ManifestLabels labels) {
  std::array<std::size_t, 3> at{};
  for (std::size_t i = 0; i < kColumns.size(); ++i) {
    const auto count = std::count(header.begin(), header.end(), kColumns[i]);
    if (count == 0 && !is_required(i, labels)) {
      at[i] = kNone;
      continue;
    }
    if (count != 1)
      throw InputError(place + ": a manifest must have the columns " +
                       (is_required(kLabel, labels) ? "path, label" : "path") + " and speaker, each once; '" +
                       kColumns[i] + "' is missing or doubled");
    at[i] = static_cast<std::size_t>(std::find(header.begin(), header.end(), kColumns[i]) - header.begin());
  }
  return at;
}

// Refuses a speaker who occurs in two corpora. People of different corpora often have the same name, such as
// 03, and their recordings would be standardised together.
class SpeakersOfCorpora {
 public:
  explicit SpeakersOfCorpora(const std::vector<std::string_view>& header) {
    const auto at = std::find(header.begin(), header.end(), "corpus");
    if (std::count(header.begin(), header.end(), "corpus") == 1)
      column_ = static_cast<std::size_t>(at - header.begin());
  }
  void check(const std::string& place, std::size_t line, const std::string& speaker,
             const std::vector<std::string_view>& fields) {
    if (!column_) return;
    const std::string corpus(fields[*column_]);
    const auto [at, is_new] = corpora_.try_emplace(speaker, corpus, line);
    if (!is_new && at->second.first != corpus)
      throw InputError(place + "speaker '" + speaker + "' is of corpus '" + corpus + "', and of '" +
                       at->second.first + "' in line " + std::to_string(at->second.second) +
                       "; give people of different corpora different names, as " + corpus + "_" + speaker);
  }

 private:
  std::optional<std::size_t> column_;
  std::map<std::string, std::pair<std::string, std::size_t>> corpora_;  // corpus and first line
};

}  // namespace

CorpusListing list_manifest(const fs::path& manifest, ManifestLabels labels) {
  const std::string name = manifest.string();
  const CsvText csv = decode_csv(name, content_of(manifest));
  const fs::path folder = manifest.parent_path();
  CsvRecords records(name, csv.text, find_separator(name, csv, labels), csv.first_line);
  std::vector<std::string_view> fields;
  if (!records.next(fields))
    throw InputError(name + ": the file is empty; a header with path, label and speaker is needed");
  const auto at = find_columns(name + ":" + std::to_string(records.line()), trimmed(fields), labels);
  SpeakersOfCorpora corpora(trimmed(fields));
  const std::size_t num_columns = fields.size();
  std::map<std::string, std::pair<std::string, std::size_t>> rows;  // path and line of each id
  CorpusListing listing;
  while (records.next(fields)) {
    fields = trimmed(fields);
    if (fields.size() == 1 && fields[0].empty()) continue;  // a blank line
    const std::string place = name + ":" + std::to_string(records.line()) + ": ";
    if (fields.size() != num_columns)
      throw InputError(place + std::to_string(fields.size()) + " values; the header has " +
                       std::to_string(num_columns) + " columns");
    for (std::size_t i = 0; i < kColumns.size(); ++i)
      if (at[i] != kNone && !is_utf8(fields[at[i]]))
        throw InputError(place + "the " + kColumns[i] + " is not UTF-8");
    for (std::size_t i = 0; i < kColumns.size(); ++i)
      if (is_required(i, labels) && fields[at[i]].empty())
        throw InputError(place + "the " + kColumns[i] + " is missing");
    corpora.check(place, records.line(), std::string(fields[at[2]]), fields);
    const fs::path written = fs::path(fields[at[0]]).lexically_normal();
    const fs::path file = folder / written;  // `written` alone if it is absolute
    std::error_code error;
    if (!fs::is_regular_file(file, error))
      throw InputError(place + file.string() + ": there is no such file");
    const std::string id = fs::path(written).replace_extension().generic_string();
    const auto [first, is_new] = rows.try_emplace(id, written.generic_string(), records.line());
    if (!is_new) {
      const auto& [path, line] = first->second;
      throw InputError(place +
                       (path == written ? "a second row of '" + path + "', after that of line "
                                        : "'" + written.generic_string() + "' has the id '" + id +
                                              "', the path without extension, of '" + path + "' in line ") +
                       std::to_string(line));
    }
    listing.utterances.push_back(
        {id, std::string(fields[at[2]]), at[kLabel] == kNone ? "" : std::string(fields[at[kLabel]]), file});
  }
  if (listing.utterances.empty()) throw InputError(name + ": there are no rows below the header");
  return listing;
}

CorpusListing list_folders(const fs::path& root) {
  CorpusListing listing;
  for (const auto& file : audio_files(root)) {
    const fs::path below = file.lexically_relative(root);
    const std::vector<fs::path> parts(below.begin(), below.end());
    if (is_hidden(file))
      listing.unparsed.push_back({file, "a hidden file"});
    else if (parts.size() != 3)
      listing.unparsed.push_back({file, "the path is not of the form emotion/speaker/file"});
    else
      listing.utterances.push_back({utterance_id(file, root), parts[1].string(), parts[0].string(), file});
  }
  return listing;
}

}  // namespace emomc
