#include "run_netcdf.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

#include "emomc/core/errors.hpp"
#include "emomc/likelihood/table.hpp"
#include "inspection.hpp"
#include "netcdf_file.hpp"
#include "run_setup.hpp"

namespace emomc::app {
namespace {

constexpr std::size_t kMostDataBytes = 100'000'000;

template <class T>
std::vector<T> list_of(const nlohmann::json& json, const char* key) {
  std::vector<T> list;
  if (json.is_object() && json.contains(key) && json[key].is_array())
    for (const auto& item : json[key]) {
      if constexpr (std::is_same_v<T, std::string>) {
        if (item.is_string()) list.push_back(item);
      } else {
        if (item.is_number()) list.push_back(item);
      }
    }
  return list;
}

std::string text_of(const nlohmann::json& json, const char* key) {
  return json.is_object() && json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : "";
}

// Empty where the files are gone or have changed.
std::vector<double> data_of(const NetcdfExtras& extras, std::size_t rows) {
  if (extras.data_files.empty() || extras.columns.empty() ||
      rows > kMostDataBytes / sizeof(double) / extras.columns.size())
    return {};
  try {
    const Table table = read_table({extras.data_files, extras.columns});
    if (hash_table(table) == extras.data_sha256) return table.values;
  } catch (const InputError&) {
  }
  return {};
}

}  // namespace

void write_run_netcdf(const std::filesystem::path& directory, const std::filesystem::path& file,
                      DrawSet draws) {
  NetcdfExtras extras;
  const RunFacts facts = read_facts(directory / "manifest.json", draws);
  std::ifstream stream(directory / "manifest.json");
  const auto manifest = nlohmann::json::parse(stream, nullptr, false);
  const auto data = manifest.is_object() && manifest.contains("data") ? manifest["data"] : nlohmann::json();
  extras.columns = list_of<std::string>(data, "columns");
  extras.data_files = list_of<std::string>(data, "files");
  extras.data_sha256 = text_of(data, "sha256");
  extras.column_mean = list_of<double>(data, "mean");
  extras.column_sd = list_of<double>(data, "sd");
  extras.scale_floor = facts.scale_floor;
  extras.created_at = text_of(manifest, "updated_at");
  extras.data = data_of(extras, static_cast<std::size_t>(facts.rows.value_or(0)));
  const DrawSet warmup = draw_set_of(read_chains(directory), directory.string(), Phase::warmup);
  extras.warmup = &warmup;
  write_netcdf(file, draws, extras);
}

}  // namespace emomc::app
