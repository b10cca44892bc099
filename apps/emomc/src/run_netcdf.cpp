#include "run_netcdf.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

#include "emomc/core/errors.hpp"
#include "inspection.hpp"
#include "netcdf_file.hpp"
#include "pointwise.hpp"
#include "run_data.hpp"

namespace emomc::app {
namespace {

constexpr std::size_t kMostDataBytes = 100'000'000;
constexpr std::size_t kMostLogLikelihoods = 125'000'000;

std::vector<double> numbers_at(const nlohmann::json& json, const char* key) {
  std::vector<double> list;
  if (json.is_object() && json.contains(key) && json[key].is_array())
    for (const auto& item : json[key])
      if (item.is_number()) list.push_back(item);
  return list;
}

std::string text_of(const nlohmann::json& json, const char* key) {
  return json.is_object() && json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : "";
}

// chains x draws x rows
std::vector<double> log_likelihoods(const std::filesystem::path& directory, const DrawSet& draws,
                                    double rows) {
  const std::size_t points = draws.num_chains() * draws.num_draws;
  if (rows * static_cast<double>(points) > static_cast<double>(kMostLogLikelihoods))
    throw InputError(directory.string() + ": log likelihoods of " + std::to_string(points) +
                     " draws in each row would take " +
                     "more than 1 GB; `emomc compare` does without storing them");
  const auto num_rows = static_cast<std::size_t>(rows);
  std::vector<double> values(points * num_rows);
  std::size_t row = 0;
  pointwise({directory, "row", points}, [&](std::span<const double> of_row, double) {
    for (std::size_t s = 0; s < points; ++s) values[s * num_rows + row] = of_row[s];
    ++row;
  });
  return values;
}

}  // namespace

void write_run_netcdf(const std::filesystem::path& directory, const std::filesystem::path& file,
                      DrawSet draws, bool with_log_likelihood) {
  NetcdfExtras extras;
  const RunFacts facts = read_facts(directory / "manifest.json", draws);
  std::ifstream stream(directory / "manifest.json");
  const auto manifest = nlohmann::json::parse(stream, nullptr, false);
  const auto data = manifest.is_object() && manifest.contains("data") ? manifest["data"] : nlohmann::json();
  const RunData run_data = read_run_data(directory, kMostDataBytes);
  extras.columns = run_data.columns;
  extras.data_files = run_data.files;
  extras.data_sha256 = run_data.sha256;
  extras.data = run_data.values;
  extras.column_mean = numbers_at(data, "mean");
  extras.column_sd = numbers_at(data, "sd");
  extras.scale_floor = facts.scale_floor;
  extras.created_at = text_of(manifest, "updated_at");
  if (with_log_likelihood) extras.log_likelihood = log_likelihoods(directory, draws, facts.rows.value_or(0));
  const DrawSet warmup = draw_set_of(read_chains(directory), directory.string(), Phase::warmup);
  extras.warmup = &warmup;
  write_netcdf(file, draws, extras);
}

}  // namespace emomc::app
