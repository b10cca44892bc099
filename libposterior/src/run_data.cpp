#include "emomc/posterior/run_data.hpp"

#include <nlohmann/json.hpp>

#include "emomc/core/errors.hpp"
#include "emomc/likelihood/table.hpp"
#include "emomc/posterior/json_value.hpp"
#include "emomc/posterior/memory_table.hpp"
#include "emomc/posterior/run_setup.hpp"

namespace emomc {
namespace {

constexpr const char* kInMemory = "memory";  // the source name of tables from make_table

char mark_at(const nlohmann::json& json, const char* key, std::string_view allowed) {
  if (!json.contains(key) || !json[key].is_string()) return 0;
  const std::string mark = json[key];
  return mark.size() == 1 && allowed.find(mark[0]) != std::string_view::npos ? mark[0] : '\0';
}

CsvFormat format_of(const nlohmann::json& data) {
  CsvFormat format;
  if (!data.contains("format") || !data["format"].is_object()) return format;
  const auto& json = data["format"];
  if (json.contains("header") && json["header"].is_boolean()) format.header = json["header"].get<bool>();
  format.separator = mark_at(json, "separator", ",;\t");
  format.decimal = mark_at(json, "decimal", ".,");
  return format;
}

std::vector<double> numbers_at(const nlohmann::json& json, const char* key) {
  std::vector<double> list;
  if (json.contains(key) && json[key].is_array())
    for (const auto& item : json[key])
      if (item.is_number()) list.push_back(item);
  return list;
}

// Manifests of earlier versions lack the working directory.
std::vector<std::string> paths_of(const nlohmann::json& data, const std::vector<std::string>& files) {
  if (!data.contains("working_directory") || !data["working_directory"].is_string()) return files;
  const std::filesystem::path from = data["working_directory"].get<std::string>();
  std::vector<std::string> paths;
  for (const auto& file : files) {
    std::error_code error;
    const std::filesystem::path there = from / file;
    paths.push_back(std::filesystem::exists(there, error) ? there.string() : file);
  }
  return paths;
}

// Maximum number of bytes for a number as text, with its separator and a share of the skipped columns. The
// manifest's number of rows may be wrong; the size of the files bounds the amount that is read.
constexpr std::size_t kMostTextPerNumber = 64;

std::uintmax_t bytes_of(const std::vector<std::string>& files) {
  std::uintmax_t sum = 0;
  std::error_code error;
  for (const auto& file : files) {
    const auto size = std::filesystem::file_size(file, error);
    sum += error ? 0 : size;
  }
  return sum;
}

}  // namespace

std::vector<std::string> strings_at(const nlohmann::json& json, const char* key) {
  std::vector<std::string> list;
  if (json.is_object() && json.contains(key) && json[key].is_array())
    for (const auto& item : json[key])
      if (item.is_string()) list.push_back(item);
  return list;
}

nlohmann::json read_manifest(const std::filesystem::path& manifest) {
  constexpr std::uintmax_t kMostBytes = 16 << 20;  // JSON takes up to 32 times as much memory
  std::error_code error;
  if (!std::filesystem::is_regular_file(manifest, error) ||
      std::filesystem::file_size(manifest, error) > kMostBytes || error)
    return nullptr;
  const std::string text = read_text(manifest, kMostBytes);  // throws if the file exists and cannot be read
  try {
    auto json = parse_json(text);
    return json.is_object() ? json : nlohmann::json();
  } catch (const InputError&) {
    return nullptr;
  }
}

void check_data_files(const std::filesystem::path& directory, const RunData& data) {
  for (const auto& file : data.paths) {
    const std::string place = (directory / "manifest.json").string() + ": data.files: " + file;
    std::error_code error;
    const auto status = std::filesystem::status(file, error);
    if (!std::filesystem::exists(status))
      throw InputError(
          file == kInMemory
              ? directory.string() +
                    ": the data of this run were in the memory of a program, and only the program can use "
                    "them; in Python by emomc.compare, Draws.predict and to_inferencedata"
              : place + ": there is no such file");
    if (!std::filesystem::is_regular_file(status)) throw InputError(place + ": this is not a regular file");
  }
}

std::string run_kind(const std::filesystem::path& directory) {
  const auto manifest = read_manifest(directory / "manifest.json");
  if (!manifest.is_object() || !manifest.contains("kind") || !manifest["kind"].is_string()) return "";
  return manifest["kind"];
}

void refuse_many_posteriors(const std::filesystem::path& directory) {
  const std::string kind = run_kind(directory), name = directory.string();
  if (kind == "evaluation")
    throw InputError(
        name + ": an evaluation of many posteriors, not a run; see its scores.json, or emomc report " + name);
  if (kind == "model") throw InputError(name + ": a model of many posteriors, not a run");
  const auto first = directory / "seed-1";
  if (kind.empty() && run_kind(first) == "evaluation")
    throw InputError(name +
                     ": evaluations of several seeds, not a run; see its scores.json, or emomc report " +
                     first.string());
}

nlohmann::ordered_json to_json(const CsvFormat& format) {
  const auto mark = [](char c) {
    return c ? nlohmann::ordered_json(std::string(1, c)) : nlohmann::ordered_json();
  };
  return {{"header", format.header ? nlohmann::ordered_json(*format.header) : nlohmann::ordered_json()},
          {"separator", mark(format.separator)},
          {"decimal", mark(format.decimal)}};
}

ColumnUnits RunData::units() const {
  const bool fits = mean.size() == columns.size() && sd.size() == columns.size();
  return fits ? ColumnUnits{mean, sd} : ColumnUnits{};
}

TableRequest RunData::request(std::vector<std::string> of_columns) const {
  return {paths, std::move(of_columns), format, categories, {}, renames, integers};
}

RunData read_run_data(const std::filesystem::path& directory, std::size_t most_bytes) {
  RunData result;
  const auto manifest = read_manifest(directory / "manifest.json");
  if (!manifest.is_object() || !manifest.contains("data") || !manifest["data"].is_object()) return result;
  const auto& data = manifest["data"];
  result.columns = strings_at(data, "columns");
  result.files = strings_at(data, "files");
  result.paths = paths_of(data, result.files);
  result.format = format_of(data);
  if (data.contains("categories") && data["categories"].is_object())
    for (const auto& [name, levels] : data["categories"].items())
      result.categories.push_back({name, strings_at(data["categories"], name.c_str())});
  if (data.contains("rename") && data["rename"].is_object())
    for (const auto& [name, in_file] : data["rename"].items())
      if (in_file.is_string())
        result.renames.push_back(
            {name, in_file, (directory / "manifest.json").string() + ": data.rename." + name});
  result.integers = strings_at(data, "integers");
  result.mean = numbers_at(data, "mean");
  result.sd = numbers_at(data, "sd");
  if (data.contains("sha256") && data["sha256"].is_string()) result.sha256 = data["sha256"];
  const bool has_rows = data.contains("rows") && data["rows"].is_number_unsigned();
  if (result.files.empty() || result.columns.empty() || !has_rows) return result;
  if (data["rows"].get<std::size_t>() > most_bytes / sizeof(double) / result.columns.size()) return result;
  try {
    check_data_files(directory, result);
    if (bytes_of(result.paths) > kMostTextPerNumber * (most_bytes / sizeof(double))) return result;
    Table table = read_table(result.request(result.columns));
    if (hash_table(table) == result.sha256) result.values = std::move(table.values);
  } catch (const InputError&) {
    result.values.clear();
  }
  return result;
}

Table data_of_run(const std::filesystem::path& directory) {
  constexpr std::size_t kMostDataBytes = 2'000'000'000;
  RunData data = read_run_data(directory, kMostDataBytes);
  check_data_files(directory, data);
  if (data.values.empty())
    throw InputError(directory.string() + ": its data have changed, or take more than 2 GB");
  return make_table(std::move(data.columns), std::move(data.values));
}

}  // namespace emomc
