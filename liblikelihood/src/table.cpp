#include "emomc/likelihood/table.hpp"

#include <glob.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "emomc/core/errors.hpp"
#include "emomc/core/input_path.hpp"
#include "emomc/core/nearest_name.hpp"
#include "emomc/core/utf8.hpp"
#include "table_file.hpp"

namespace emomc {
namespace {

constexpr std::size_t kMostFiles = 100'000;
constexpr std::size_t kLongestList = 1000;  // number of characters of a list of names in a message

bool is_reserved(const std::string& name) {
  const auto& names = reserved_columns();
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Escapes existing folders, such as "run[1]", so that only the rest of the path is a pattern.
std::string with_existing_folders_escaped(const std::string& pattern) {
  std::size_t literal = 0;
  for (auto slash = pattern.find('/'); slash != std::string::npos; slash = pattern.find('/', slash + 1))
    if (std::error_code error; std::filesystem::exists(pattern.substr(0, slash + 1), error))
      literal = slash + 1;
  std::string escaped;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (i < literal && std::string_view("*?[]\\").find(pattern[i]) != std::string_view::npos) escaped += '\\';
    escaped += pattern[i];
  }
  return escaped;
}

std::string why_tilde(const std::string& path) {
  return path.starts_with('~') ? "; a ~ is not expanded here, write the folder's whole path" : "";
}

std::vector<std::string> expand(const std::vector<std::string>& patterns) {
  if (patterns.empty()) throw InputError("data.file: no file was named");
  std::vector<std::string> files;
  for (const auto& pattern : patterns) {
    refuse_link_cycle(pattern);
    if (pattern.find_first_of("*?[") == std::string::npos || std::filesystem::exists(pattern)) {
      if (!std::filesystem::exists(pattern) && !why_tilde(pattern).empty())
        throw InputError(pattern + ": there is no such file" + why_tilde(pattern));
      files.push_back(pattern);
      continue;
    }
    glob_t found{};
    const int status = glob(with_existing_folders_escaped(pattern).c_str(), 0, nullptr, &found);
    if (status == 0 && found.gl_pathc > kMostFiles) {
      const std::string count = std::to_string(found.gl_pathc);
      globfree(&found);
      throw InputError(pattern + ": matches " + count + " files; allowed: up to " +
                       std::to_string(kMostFiles));
    }
    for (std::size_t i = 0; status == 0 && i < found.gl_pathc; ++i) files.emplace_back(found.gl_pathv[i]);
    globfree(&found);
    if (status != 0) throw InputError(pattern + ": no file matches" + why_tilde(pattern));
  }
  std::unordered_set<std::string_view> seen;
  for (const auto& file : files)
    if (!seen.insert(file).second)
      throw InputError(file + ": the file is listed twice");
    else if (!is_utf8(file))
      throw InputError(file + ": the file's name is not UTF-8");
  return files;
}

std::size_t count_duplicates(const Table& table) {
  const std::size_t d = table.columns.size();
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> seen;
  seen.reserve(table.num_rows);
  std::size_t duplicates = 0;
  for (std::size_t row = 0; row < table.num_rows; ++row) {
    const double* x = table.values.data() + row * d;
    std::uint64_t hash = 14695981039346656037u;  // FNV-1a over the bits; -0 counts as 0
    for (std::size_t j = 0; j < d; ++j)
      hash = (hash ^ std::bit_cast<std::uint64_t>(x[j] + 0.0)) * 1099511628211u;
    auto& rows = seen[hash ^ (hash >> 29)];
    const bool doubled = std::any_of(rows.begin(), rows.end(), [&](std::size_t other) {
      return std::equal(x, x + d, table.values.data() + other * d);
    });
    if (doubled)
      ++duplicates;
    else
      rows.push_back(row);
  }
  return duplicates;
}

void add_labels(Table& table, const TableFile& file, bool first) {
  if (first)
    for (const auto& name : file.label_names) table.labels.push_back({name, {}, {}});
  std::erase_if(table.labels, [&](const LabelColumn& column) {
    return std::find(file.label_names.begin(), file.label_names.end(), column.name) == file.label_names.end();
  });
  for (auto& column : table.labels) {
    std::map<std::string, std::uint32_t> code_of;
    for (std::size_t i = 0; i < column.levels.size(); ++i)
      code_of[column.levels[i]] = static_cast<std::uint32_t>(i);
    const auto at =
        std::find(file.label_names.begin(), file.label_names.end(), column.name) - file.label_names.begin();
    for (const auto& text : file.labels[static_cast<std::size_t>(at)]) {
      const auto [found, is_new] =
          code_of.try_emplace(text, static_cast<std::uint32_t>(column.levels.size()));
      if (is_new) column.levels.push_back(text);
      column.codes.push_back(found->second);
    }
  }
}

/// Adds columns of a .npy file as labels, with the numbers written as text.
TableFile with_labels(TableFile file, const std::filesystem::path& path,
                      const std::vector<std::string>& labels) {
  for (const std::string& name : labels) {
    if (std::find(file.columns.begin(), file.columns.end(), name) == file.columns.end()) continue;
    file.label_names.push_back(name);
    auto& texts = file.labels.emplace_back();
    for (double x : read_npy(path, {name}).values) {
      std::array<char, 32> text{};
      texts.emplace_back(text.data(), std::to_chars(text.data(), text.data() + text.size(), x).ptr);
    }
  }
  return file;
}

/// Replaces the texts of a column, row by row, by the indices of their levels.
void set_categories(const std::vector<std::string>& texts, CategoryColumn& column, std::size_t place,
                    Table& table) {
  const bool known = !column.levels.empty();
  std::map<std::string, std::size_t> code_of;
  if (known) {
    for (const std::string& level : column.levels) code_of.emplace(level, code_of.size());
  } else {
    for (const std::string& text : texts) code_of.emplace(text, 0);
    for (auto& [level, code] : code_of) {
      code = column.levels.size();
      column.levels.push_back(level);
    }
  }
  const std::size_t d = table.columns.size();
  for (std::size_t row = 0; row < texts.size(); ++row) {
    const auto found = code_of.find(texts[row]);
    if (found == code_of.end())
      throw InputError("data.categories." + column.name + ": " + texts[row] + " in row " +
                       std::to_string(row + 1) + " of the data is none of its " +
                       std::to_string(column.levels.size()) + " levels; " +
                       did_you_mean(nearest_name(texts[row], column.levels)) +
                       "list it, or leave the list out so that the levels are those of the data");
    table.values[row * d + place] = static_cast<double>(found->second);
  }
}

std::vector<std::string> names_in_file(std::vector<std::string> names,
                                       const std::vector<ColumnRename>& renames) {
  for (std::string& name : names) name = name_in_file(name, renames);
  return names;
}

/// `names` as a list for a message, cut off where it is long.
std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && text.size() < kLongestList; ++i)
    text += (i ? ", " : "") + names[i];
  return text.size() >= kLongestList ? text.substr(0, kLongestList) + " ..." : text;
}

/// Throws InputError where a renamed column is missing or its new name is that of another column.
void check_renames(const std::string& file, const std::vector<std::string>& columns,
                   const std::vector<ColumnRename>& renames) {
  for (const ColumnRename& rename : renames) {
    const std::string place = rename.key.empty() ? "data.rename." + rename.name : rename.key;
    if (std::find(columns.begin(), columns.end(), rename.in_file) == columns.end())
      throw InputError(place + ": " + file + " has no column '" + rename.in_file + "'; " +
                       did_you_mean(nearest_name(rename.in_file, columns)) + "there are: " + listed(columns));
    for (const std::string& column : columns)
      if (column != rename.in_file && name_from_file(column, renames) == rename.name)
        throw InputError(place + ": " + file + " has a column " + rename.name +
                         " already; choose another name");
  }
}

}  // namespace

std::string name_in_file(const std::string& name, const std::vector<ColumnRename>& renames) {
  for (const ColumnRename& rename : renames)
    if (rename.name == name) return rename.in_file;
  return name;
}

std::string name_from_file(const std::string& in_file, const std::vector<ColumnRename>& renames) {
  for (const ColumnRename& rename : renames)
    if (rename.in_file == in_file) return rename.name;
  return in_file;
}

bool is_integer(double value) {
  constexpr double kLargest = 9007199254740992.0;  // 2^53
  return value >= -kLargest && value <= kLargest && std::floor(value) == value;
}

const std::vector<std::string>& reserved_columns() {
  static const std::vector<std::string> names{"speaker", "utterance", "frame", "emotion",
                                              "label",   "file",      "start", "end"};
  return names;
}

std::vector<std::size_t> choose_columns(const std::string& file, const std::vector<std::string>& columns,
                                        const std::vector<std::string>& wanted) {
  std::vector<std::size_t> chosen;
  if (wanted.empty()) {
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (!is_reserved(columns[i])) chosen.push_back(i);
    if (chosen.empty()) throw InputError(file + ":1: there is no data column beside the reserved ones");
    return chosen;
  }
  std::unordered_map<std::string_view, std::size_t> index_of;
  for (std::size_t i = 0; i < columns.size(); ++i) index_of.emplace(columns[i], i);
  for (const auto& name : wanted) {
    const auto found = index_of.find(name);
    if (found == index_of.end()) {
      throw InputError(file + ":1: there is no column '" + name + "'" + "; " +
                       did_you_mean(nearest_name(name, columns)) + "there are: " + listed(columns));
    }
    chosen.push_back(found->second);
  }
  return chosen;
}

std::string read_whole_file(const std::filesystem::path& file, std::uintmax_t most_bytes) {
  refuse_link_cycle(file);
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) throw InputError(file.string() + ": there is no such file");
  if (std::filesystem::is_directory(status))
    throw InputError(file.string() + ": this is a directory, not a file");
  // A FIFO may block and a device may never end.
  if (!std::filesystem::is_regular_file(status))
    throw InputError(file.string() + ": this is not a regular file");
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    const std::string what = file.string() + ": cannot be read: " + std::strerror(errno);
    if (errno == EACCES || errno == EPERM) throw InputError(what);
    throw MachineError(what);
  }
  const auto size = std::filesystem::file_size(file, error);
  if (!error && size > most_bytes)
    throw InputError(file.string() + ": " + std::to_string(size) + " bytes; allowed: up to " +
                     std::to_string(most_bytes));
  if (error) throw MachineError(file.string() + ": cannot be read: " + error.message());
  std::string content(size, '\0');
  stream.read(content.data(), static_cast<std::streamsize>(content.size()));
  if (stream.bad()) throw MachineError(file.string() + ": cannot be read: read error");
  if (static_cast<std::uintmax_t>(stream.gcount()) != size)
    throw MachineError(file.string() + ": it became shorter while it was read");
  return content;
}

std::vector<std::string> read_column_names(const TableRequest& request) {
  const std::filesystem::path path = expand(request.files).front();
  const std::vector<std::string> wanted = names_in_file(request.columns, request.renames);
  std::vector<std::string> columns = path.extension() == ".npy"
                                         ? read_npy(path, {}).columns
                                         : read_csv_header(path, wanted, request.format).columns;
  check_renames(path.string(), columns, request.renames);
  for (std::string& column : columns) column = name_from_file(column, request.renames);
  return columns;
}

Table read_table(const TableRequest& request) {
  Table table;
  std::map<std::string, std::vector<std::string>> files_with;  // names of files by note
  std::vector<std::string> text_columns;
  for (const CategoryColumn& column : request.categories)
    text_columns.push_back(name_in_file(column.name, request.renames));
  const std::vector<std::string> wanted = names_in_file(request.columns, request.renames),
                                 labels = names_in_file(request.labels, request.renames),
                                 integers = names_in_file(request.integers, request.renames);
  std::vector<std::vector<std::string>> texts;  // texts of each column
  table.files = expand(request.files);
  for (std::size_t f = 0; f < table.files.size(); ++f) {
    const std::filesystem::path path = table.files[f];
    TableFile file = path.extension() == ".npy"
                         ? with_labels(read_npy(path, wanted, integers), path, labels)
                         : read_csv(path, wanted, request.format, text_columns, labels, integers);
    for (std::string& name : file.label_names)
      for (std::size_t l = 0; l < labels.size(); ++l)
        if (name == labels[l]) name = request.labels[l];
    std::vector<std::string> columns;
    for (std::size_t index : file.chosen)
      columns.push_back(name_from_file(file.columns[index], request.renames));
    if (f == 0) {
      table.columns = columns;
      const std::unordered_set<std::size_t> used(file.chosen.begin(), file.chosen.end());
      for (std::size_t i = 0; i < file.columns.size(); ++i)
        if (!used.contains(i)) table.skipped_columns.push_back(file.columns[i]);
    } else if (columns != table.columns) {
      throw InputError(table.files[f] + ":1: its columns differ from those of " + table.files[0] +
                       "; name the ones to use in data.columns");
    }
    for (const auto& note : file.notes) files_with[note].push_back(table.files[f]);
    table.file_first_row.push_back(table.num_rows);
    table.num_rows += file.num_rows;
    table.values.insert(table.values.end(), file.values.begin(), file.values.end());
    add_labels(table, file, f == 0);
    texts.resize(table.columns.size());
    for (std::size_t c = 0; c < file.texts.size(); ++c)
      texts[c].insert(texts[c].end(), std::make_move_iterator(file.texts[c].begin()),
                      std::make_move_iterator(file.texts[c].end()));
  }
  for (const CategoryColumn& column : request.categories) {
    const auto at = std::find(table.columns.begin(), table.columns.end(), column.name);
    if (at == table.columns.end()) continue;
    const auto place = static_cast<std::size_t>(at - table.columns.begin());
    if (texts[place].empty())
      throw InputError("data.categories." + column.name + ": .npy files have numbers only; remove this key");
    table.categories.push_back(column);
    set_categories(texts[place], table.categories.back(), place, table);
  }
  for (const auto& [note, files] : files_with)
    table.notes.push_back(files[0] +
                          (files.size() > 1 ? " and " + std::to_string(files.size() - 1) + " more" : "") +
                          ": " + note);
  table.num_duplicate_rows = count_duplicates(table);
  return table;
}

}  // namespace emomc
