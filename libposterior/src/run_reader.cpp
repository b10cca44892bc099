#include "emomc/posterior/run_reader.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "emomc/core/errors.hpp"
#include "emomc/likelihood/model_info.hpp"
#include "emomc/posterior/expression_json.hpp"
#include "emomc/posterior/own_code.hpp"
#include "emomc/posterior/run_data.hpp"
#include "emomc/posterior/tempering_report.hpp"
#include "emomc/posterior/written_draws.hpp"
#include "emomc/sampler/run_chains.hpp"

namespace emomc {
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

// Checks the seed, since all files of chains/ may come from another run.
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
  facts.chose_length = json.contains("chooses_draws") && json["chooses_draws"] == true;
  if (json.contains("order") && json["order"].is_string()) facts.order = json["order"];
  if (json.contains("engine") && json["engine"].is_string()) facts.engine = json["engine"];
  if (json.contains("updated_at") && json["updated_at"].is_string()) facts.updated_at = json["updated_at"];
  // Manifests of earlier versions have only the block that orders the components.
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

std::optional<ExpressionSpec> specification_in_manifest(const std::filesystem::path& directory) {
  const std::filesystem::path file = directory / "manifest.json";
  const nlohmann::json manifest = read_manifest(file);
  if (!manifest.is_object() || !manifest.contains("likelihood")) return std::nullopt;
  ExpressionSpec spec = expression_spec_of({manifest["likelihood"], file.string(), "likelihood"});
  if (!spec.code.file.empty()) spec.code.file = code_file(directory).string();
  return spec;
}

std::shared_ptr<const Expression> expression_of_manifest(const std::filesystem::path& directory) {
  const std::optional<ExpressionSpec> spec = specification_in_manifest(directory);
  if (!spec) return nullptr;
  const std::filesystem::path file = directory / "manifest.json";
  const nlohmann::json manifest = read_manifest(file);
  const std::vector<std::string> columns =
      manifest.contains("data") ? strings_at(manifest["data"], "columns") : std::vector<std::string>();
  if (columns.empty()) throw InputError(file.string() + ": the names of the data's columns are missing");
  return std::make_shared<Expression>(*spec, columns);
}

std::optional<KeptProposal> kept_proposal(const std::filesystem::path& directory) {
  const nlohmann::json manifest = read_manifest(directory / "manifest.json");
  const auto proposal = manifest.find("proposal");
  if (proposal == manifest.end() || !proposal->is_object()) return std::nullopt;
  const auto kind = proposal->find("kind"), shape = proposal->find("shape");
  if (kind == proposal->end() || shape == proposal->end() || !kind->is_string() || !shape->is_string())
    return std::nullopt;
  const auto known = proposal_names();
  if (std::find(known.begin(), known.end(), kind->get<std::string>()) == known.end()) return std::nullopt;
  return KeptProposal{*kind, *shape};
}

ParameterLayout layout_of_likelihood(const ParameterLayout& layout, const ModelSpec& model, int dim,
                                     const std::string& run) {
  ParameterLayout own = model_layout(model, dim);
  const bool fits = layout.blocks.size() >= own.blocks.size() &&
                    std::equal(own.blocks.begin(), own.blocks.end(), layout.blocks.begin());
  if (!fits)
    throw InputError(run + ": the parameters of its chains are not those of " + model.name + " in " +
                     std::to_string(dim) + " columns");
  return own;
}

Inspection inspect_directory(const std::filesystem::path& directory, Numbering numbering,
                             const FindExpression& find) {
  refuse_many_posteriors(directory);
  const std::vector<ChainDraws> chains = read_chains(directory);
  require_seed_of_manifest(directory, chains.at(0).header.seed);
  DrawSet draws = draw_set_of(chains, directory.string());
  if (const auto expression = find(directory)) add_derived(*expression, draws);
  RunFacts facts = read_facts(directory / "manifest.json", draws);
  return inspect_draws(std::move(draws), std::move(facts), numbering);
}

}  // namespace emomc
