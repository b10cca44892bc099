#include "run_data.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

#include "emomc/core/errors.hpp"
#include "emomc/likelihood/table.hpp"
#include "run_setup.hpp"

namespace emomc::app {
namespace {

std::vector<std::string> strings_at(const nlohmann::json& json, const char* key) {
  std::vector<std::string> list;
  if (json.is_object() && json.contains(key) && json[key].is_array())
    for (const auto& item : json[key])
      if (item.is_string()) list.push_back(item);
  return list;
}

std::vector<double> numbers_at(const nlohmann::json& json, const char* key) {
  std::vector<double> list;
  if (json.contains(key) && json[key].is_array())
    for (const auto& item : json[key])
      if (item.is_number()) list.push_back(item);
  return list;
}

}  // namespace

std::string run_kind(const std::filesystem::path& directory) {
  std::ifstream stream(directory / "manifest.json");
  const auto manifest = nlohmann::json::parse(stream, nullptr, false);
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

RunData read_run_data(const std::filesystem::path& directory, std::size_t most_bytes) {
  RunData result;
  std::ifstream stream(directory / "manifest.json");
  const auto manifest = nlohmann::json::parse(stream, nullptr, false);
  if (!manifest.is_object() || !manifest.contains("data") || !manifest["data"].is_object()) return result;
  const auto& data = manifest["data"];
  result.columns = strings_at(data, "columns");
  result.files = strings_at(data, "files");
  result.mean = numbers_at(data, "mean");
  result.sd = numbers_at(data, "sd");
  if (data.contains("sha256") && data["sha256"].is_string()) result.sha256 = data["sha256"];
  const bool has_rows = data.contains("rows") && data["rows"].is_number_unsigned();
  if (result.files.empty() || result.columns.empty() || !has_rows) return result;
  if (data["rows"].get<std::size_t>() > most_bytes / sizeof(double) / result.columns.size()) return result;
  try {
    Table table = read_table({result.files, result.columns});
    if (hash_table(table) == result.sha256) result.values = std::move(table.values);
  } catch (const InputError&) {
    result.values.clear();
  }
  return result;
}

}  // namespace emomc::app
