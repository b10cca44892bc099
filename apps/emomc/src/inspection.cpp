#include "inspection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "emomc/core/errors.hpp"
#include "expression_run.hpp"
#include "input_kind.hpp"
#include "netcdf_file.hpp"
#include "quantity_labels.hpp"
#include "run_data.hpp"
#include "start_report.hpp"

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

Inspection inspect_draws(DrawSet draws, RunFacts facts, Numbering numbering) {
  ThreadPool threads(0);
  const bool ordered_by_prior = !facts.exchangeable_components;
  Inspection run{
      diagnose_draws(std::move(draws), numbering, ordered_by_prior, threads), std::move(facts), {}};
  run.quantity_labels = labels_of(run.draws, run.first_label_free, run.facts.columns);
  return run;
}

}  // namespace

namespace {

std::optional<RunFacts::Starts> starts_of(const nlohmann::json& json) {
  if (!json.is_object()) return {};
  const auto points = number_at(json, "points");
  if (!points) return {};
  RunFacts::Starts starts;
  starts.points = *points;
  starts.fits = number_at(json, "fits").value_or(0);
  starts.degenerate_fits = number_at(json, "degenerate_fits").value_or(0);
  starts.followed = number_at(json, "followed_draws").value_or(0);
  const auto optima = json.find("optima");
  if (optima == json.end() || !optima->is_array()) return starts;
  for (const auto& optimum : *optima) {
    if (!optimum.is_object()) continue;
    if (&optimum == &optima->front()) starts.fits_of_best = number_at(optimum, "fits").value_or(0);
    const auto chains = optimum.find("chains");
    const bool has_chain = chains != optimum.end() && chains->is_array() && !chains->empty();
    (has_chain ? starts.optima : starts.left_out) += 1;
    const double share = number_at(optimum, "share").value_or(0);
    if (!has_chain) starts.share_left_out += share;
    const auto count = [&](const char* key) {
      return static_cast<std::size_t>(std::clamp(number_at(optimum, key).value_or(0), 0.0, 1e9));
    };
    StartReport::Place place;
    place.share = share;
    place.num_draws = count("draws");
    place.num_examined = count("examined_draws");
    place.recognised = number_at(optimum, "recognised").value_or(1);
    if (optimum.contains("draws") &&
        is_lost(place, static_cast<std::size_t>(std::clamp(starts.followed, 0.0, 1e9)))) {
      starts.num_lost += 1;
      starts.share_of_lost += share;
    }
  }
  return starts;
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

std::string labels_name(Labels labels) {
  switch (labels) {
    case Labels::as_sampled:
      return "as_sampled";
    case Labels::relabelled:
      return "relabelled";
    case Labels::unmended:
      return "unmended";
  }
  return "";
}

std::string overlap_text(const ComponentOverlap& overlap) {
  return fmt::format("components {} and {} cannot be told apart in {:.1f} % of the draws", overlap.first,
                     overlap.second, 100 * overlap.share);
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
