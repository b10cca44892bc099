#include "inspection.hpp"

#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "emomc/core/errors.hpp"
#include "emomc/posterior/tempering_report.hpp"
#include "expression_run.hpp"
#include "input_kind.hpp"
#include "netcdf_file.hpp"
#include "run_data.hpp"

namespace emomc::app {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::optional<double> number_at(const nlohmann::json& json, const char* key) {
  if (!json.is_object() || !json.contains(key) || !json[key].is_number()) return std::nullopt;
  return json[key].get<double>();
}

std::vector<double> numbers_at(const nlohmann::json& json, const char* key) {
  std::vector<double> numbers;
  if (json.is_object() && json.contains(key) && json[key].is_array())
    for (const auto& item : json[key]) numbers.push_back(item.is_number() ? item.get<double>() : kNan);
  return numbers;
}

// All files of chains/ may be of another run.
void require_seed_of_manifest(const std::filesystem::path& directory, std::uint64_t seed) {
  const auto manifest = directory / "manifest.json";
  const auto json = read_manifest(manifest);
  if (!json.is_object() || !json.contains("seed") || !json["seed"].is_number_unsigned()) return;
  const auto expected = json["seed"].get<std::uint64_t>();
  if (expected != seed)
    throw InputError((directory / "chains").string() + ": its chains have seed " + std::to_string(seed) +
                     ", but the run of manifest.json has seed " + std::to_string(expected) +
                     "; a run directory has the chains of one run");
}

}  // namespace

RunFacts read_facts(const std::filesystem::path& file, DrawSet& draws) {
  RunFacts facts;
  const auto json = read_manifest(file);
  if (!json.is_object()) return facts;
  if (json.contains("status") && json["status"].is_string()) facts.status = json["status"];
  if (json.contains("order") && json["order"].is_string()) facts.order = json["order"];
  if (json.contains("engine") && json["engine"].is_string()) facts.engine = json["engine"];
  if (json.contains("updated_at") && json["updated_at"].is_string()) facts.updated_at = json["updated_at"];
  // Manifests of earlier versions contain only the block that orders the components.
  const char* exchangeable = "exchangeable_components";
  facts.exchangeable_components = json.contains(exchangeable) && json[exchangeable].is_boolean()
                                      ? json[exchangeable].get<bool>()
                                      : facts.order.empty();
  facts.target_acceptance = number_at(json, "target_acceptance");
  facts.adaptation_drift = numbers_at(json, "adaptation_drift");
  facts.scale_floor = numbers_at(json, "scale_floor");
  facts.faults = number_at(json, "faults");
  facts.evaluations = number_at(json, "evaluations");
  if (json.contains("starts")) facts.starts = starts_of(json["starts"]);
  if (json.contains("tempering")) facts.tempering = tempering_of(json["tempering"]);
  if (json.contains("data")) {
    facts.rows = number_at(json["data"], "rows");
    facts.duplicate_rows = number_at(json["data"], "duplicate_rows");
    facts.columns = strings_at(json["data"], "columns");
    facts.files = strings_at(json["data"], "files");
  }
  if (json.contains("seconds")) {
    draws.warmup_seconds = number_at(json["seconds"], "warmup");
    draws.sampling_seconds = number_at(json["seconds"], "sampling");
  }
  const std::size_t chains = draws.num_chains();
  if (json.value("ensemble", nlohmann::json()) == true) draws.chains_per_ensemble = chains;
  const double superchains = number_at(json, "superchains").value_or(0);
  if (superchains >= 2 && superchains <= static_cast<double>(chains) &&
      chains % static_cast<std::size_t>(superchains) == 0)
    draws.chains_per_superchain = chains / static_cast<std::size_t>(superchains);
  return facts;
}

Inspection inspect_run(const std::filesystem::path& directory, Numbering numbering) {
  refuse_many_posteriors(directory);
  const std::vector<ChainDraws> chains = read_chains(directory);
  require_seed_of_manifest(directory, chains.at(0).header.seed);
  DrawSet draws = run_draws_of(chains, directory);
  RunFacts facts = read_facts(directory / "manifest.json", draws);
  return inspect_draws(std::move(draws), std::move(facts), numbering);
}

std::vector<Inspection> inspect(const std::vector<std::string>& paths, Numbering numbering) {
  std::vector<Inspection> runs;
  std::vector<std::filesystem::path> files;
  for (const auto& path : paths) {
    if (!std::filesystem::exists(path))
      throw InputError(path +
                       ": there is no such file or directory; allowed: run directories, CSV files of "
                       "CmdStan, CSV tables of emomc export, .nc files of ArviZ");
    refuse_if_no_run(path);
    if (std::filesystem::is_directory(path))
      runs.push_back(inspect_run(path, numbering));
    else
      files.emplace_back(path);
  }
  const auto is_netcdf = [](const std::filesystem::path& file) { return file.extension() == ".nc"; };
  for (const auto& file : files)
    if (is_netcdf(file)) runs.push_back(inspect_draws(read_netcdf(file), {}, numbering));
  std::erase_if(files, is_netcdf);
  for (const auto& file : files)
    if (is_draw_table(file)) runs.push_back(inspect_draws(read_draw_table(file), {}, numbering));
  std::erase_if(files, is_draw_table);
  if (!files.empty()) runs.push_back(inspect_draws(read_stan_csv(files), {}, numbering));
  return runs;
}

}  // namespace emomc::app
