#include <algorithm>
#include <set>

#include "emomc/core/errors.hpp"
#include "emomc/likelihood/table.hpp"
#include "emomc/speech/feature_set.hpp"
#include "name_pattern.hpp"

namespace emomc {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_of(const fs::path& directory) {
  std::error_code error;
  if (!fs::is_directory(directory, error)) throw InputError(directory.string() + ": there is no such folder");
  fs::directory_iterator entries(directory, error);
  if (error) throw InputError(directory.string() + ": cannot be read: " + error.message());
  std::vector<fs::path> files;
  for (const auto& entry : entries)
    if (entry.is_regular_file(error)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

const LabelColumn& utterance_column(const Table& table, const std::string& file) {
  const auto found = std::find_if(table.labels.begin(), table.labels.end(),
                                  [](const LabelColumn& column) { return column.name == "utterance"; });
  if (found == table.labels.end())
    throw InputError(file + ":1: there is no column 'utterance', which says what rows belong together");
  return *found;
}

void append(FeatureSet& features, const Table& table, const NameLabels& labels, std::set<std::string>& ids) {
  const std::string& file = table.files[0];
  const LabelColumn& names = utterance_column(table, file);
  const std::size_t first = features.num_rows();
  std::vector<bool> begun(names.levels.size());
  for (std::size_t row = 0; row < table.num_rows; ++row) {
    const std::uint32_t code = names.codes[row];
    if (row > 0 && code == names.codes[row - 1]) {
      ++features.utterances.back().num_rows;
      continue;
    }
    const std::string& name = names.levels[code];
    const auto row_number = [&] { return std::to_string(row + 1); };
    if (name.empty()) throw InputError(file + ": row " + row_number() + ": the utterance is missing");
    if (begun[code])
      throw InputError(file + ": row " + row_number() + ": utterance '" + name +
                       "' goes on after another one; its rows must stand one after another");
    begun[code] = true;
    std::string id = labels.emotion;
    id += '_' + labels.speaker + '_' + name;
    if (!ids.insert(id).second)
      throw InputError(file + ": row " + row_number() + ": the utterance id '" + id + "' occurs twice");
    features.utterances.push_back({id, labels.speaker, labels.emotion, first + row, 1});
  }
  features.values.insert(features.values.end(), table.values.begin(), table.values.end());
}

}  // namespace

FeatureSet read_feature_tables(const fs::path& directory, const std::string& pattern,
                               std::vector<fs::path>* unmatched) {
  const NamePattern names(pattern);
  FeatureSet features;
  std::set<std::string> ids;
  std::string first_file;
  const auto files = files_of(directory);
  for (const auto& file : files) {
    const auto labels = names.match(file.filename().string());
    if (!labels) {
      if (unmatched) unmatched->push_back(file);
      continue;
    }
    const Table table = read_table({.files = {file.string()}, .columns = {}});
    if (first_file.empty()) {
      first_file = file.string();
      features.columns = table.columns;
    } else if (table.columns != features.columns) {
      throw InputError(file.string() + ":1: its columns differ from those of " + first_file +
                       "; all tables must have the same ones in the same order");
    }
    append(features, table, *labels, ids);
  }
  if (first_file.empty())
    throw InputError(directory.string() + ": no file's name matches '" + pattern + "'" +
                     (files.empty() ? "; the folder is empty"
                                    : "; the first one there is " + files[0].filename().string()));
  return features;
}

}  // namespace emomc
