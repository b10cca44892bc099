#include "inspection.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "emomc/core/errors.hpp"
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

QuantitySummary summarize_one(const DrawSet& draws, std::size_t q) {
  QuantitySummary summary = summarize(draws.view(q));
  if (draws.chains_per_superchain > 1) summary.rhat = rhat_nested(draws.view(q), draws.chains_per_superchain);
  return summary;
}

double worst_rhat(const std::vector<QuantitySummary>& summaries, std::size_t begin, std::size_t end) {
  double worst = 0;
  for (std::size_t q = begin; q < end; ++q)
    if (!std::isnan(summaries[q].rhat)) worst = std::max(worst, summaries[q].rhat);
  return worst;
}

// The most frequent numbering of each chain is not the same in all.
bool chains_differ(const Relabelling& relabelling, std::size_t num_chains) {
  const auto K = static_cast<std::ptrdiff_t>(relabelling.num_components);
  const auto draws = static_cast<std::ptrdiff_t>(relabelling.permutation.size()) / K;
  const auto per_chain = draws / static_cast<std::ptrdiff_t>(num_chains);
  std::vector<int> first;
  for (std::ptrdiff_t begin = 0; begin < draws; begin += per_chain) {
    std::map<std::vector<int>, int> counts;
    for (std::ptrdiff_t i = begin; i < begin + per_chain; ++i) {
      const auto at = relabelling.permutation.begin() + i * K;
      ++counts[std::vector<int>(at, at + K)];
    }
    const auto& most = std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
                         return a.second < b.second;
                       })->first;
    if (first.empty()) first = most;
    if (most != first) return true;
  }
  return false;
}

void mend_labels(Inspection& run, const MixtureNames& mixture, ThreadPool& threads) {
  DrawSet& draws = run.draws;
  const std::size_t begin = draws.num_log_densities, end = run.first_label_free;
  const Relabelling relabelling = relabel_by_classification(draws, mixture, threads);
  const auto size = static_cast<std::ptrdiff_t>(draws.num_chains() * draws.num_draws);
  const auto first = draws.values.begin() + static_cast<std::ptrdiff_t>(begin) * size,
             last = draws.values.begin() + static_cast<std::ptrdiff_t>(end) * size;
  std::vector<double> sampled(first, last);
  apply(relabelling, draws);
  std::vector<QuantitySummary> summaries = run.summaries;
  threads.for_each(end - begin,
                   [&](std::size_t i, int) { summaries[begin + i] = summarize_one(draws, begin + i); });
  if (worst_rhat(summaries, begin, end) <= run.bounds.rhat) {
    run.labels = Labels::relabelled;
    run.summaries = std::move(summaries);
    return;
  }
  if (chains_differ(relabelling, draws.num_chains())) run.labels = Labels::unmended;
  std::copy(sampled.begin(), sampled.end(), first);
}

void complete(Inspection& run, Numbering numbering) {
  ThreadPool threads(0);
  const auto mixture = find_mixture(run.draws);
  run.first_label_free = run.draws.num_quantities();
  if (mixture && numbering == Numbering::by_order) apply(relabel_by_order(run.draws, *mixture), run.draws);
  if (mixture) append_label_free(run.draws, *mixture);
  run.summaries.resize(run.draws.num_quantities());
  threads.for_each(run.summaries.size(),
                   [&](std::size_t q, int) { run.summaries[q] = summarize_one(run.draws, q); });
  run.worst_raw_rhat = worst_rhat(run.summaries, run.draws.num_log_densities, run.first_label_free);
  if (mixture && numbering == Numbering::mended && run.facts.order.empty() &&
      run.worst_raw_rhat > run.bounds.rhat)
    mend_labels(run, *mixture, threads);
}

}  // namespace

RunFacts read_facts(const std::filesystem::path& file, DrawSet& draws) {
  RunFacts facts;
  const auto json = read_manifest(file);
  if (!json.is_object()) return facts;
  if (json.contains("status") && json["status"].is_string()) facts.status = json["status"];
  if (json.contains("order") && json["order"].is_string()) facts.order = json["order"];
  facts.target_acceptance = number_at(json, "target_acceptance");
  facts.adaptation_drift = numbers_at(json, "adaptation_drift");
  facts.scale_floor = numbers_at(json, "scale_floor");
  facts.faults = number_at(json, "faults");
  facts.evaluations = number_at(json, "evaluations");
  if (json.contains("data")) {
    facts.rows = number_at(json["data"], "rows");
    facts.duplicate_rows = number_at(json["data"], "duplicate_rows");
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

bool Inspection::is_constant(std::size_t q) const {
  const auto size = draws.num_chains() * draws.num_draws;
  const double* x = draws.values.data() + q * size;
  return std::all_of(x, x + size, [&](double value) { return value == x[0]; });
}

double Inspection::least_ess() const {
  constexpr std::size_t kFewChains = 16;
  constexpr double kEssPerChain = 100;
  const bool together = draws.chains_per_ensemble > 1 || draws.chains_per_superchain > 1;
  const std::size_t chains = together || draws.num_chains() > kFewChains ? 1 : draws.num_chains();
  return std::max(bounds.ess, kEssPerChain * static_cast<double>(chains));
}

bool Inspection::is_converged(std::size_t q) const {
  if (is_constant(q)) return true;
  const QuantitySummary& s = summaries[q];
  const bool has_rhat = draws.num_chains() > 1 || draws.num_draws > 3;
  return (!has_rhat || s.rhat <= bounds.rhat) && s.ess_bulk >= least_ess() && s.ess_tail >= least_ess();
}

Inspection inspect_run(const std::filesystem::path& directory, Numbering numbering) {
  refuse_many_posteriors(directory);
  Inspection run;
  run.draws = draw_set_of(read_chains(directory), directory.string());
  run.facts = read_facts(directory / "manifest.json", run.draws);
  complete(run, numbering);
  return run;
}

std::vector<Inspection> inspect(const std::vector<std::string>& paths, Numbering numbering) {
  std::vector<Inspection> runs;
  std::vector<std::filesystem::path> files;
  for (const auto& path : paths) {
    if (!std::filesystem::exists(path))
      throw InputError(path +
                       ": there is no such file or directory; allowed: run directories, CSV files of "
                       "CmdStan, .nc files of ArviZ");
    if (std::filesystem::is_directory(path))
      runs.push_back(inspect_run(path, numbering));
    else
      files.emplace_back(path);
  }
  const auto is_netcdf = [](const std::filesystem::path& file) { return file.extension() == ".nc"; };
  for (const auto& file : files)
    if (is_netcdf(file)) {
      Inspection run;
      run.draws = read_netcdf(file);
      complete(run, numbering);
      runs.push_back(std::move(run));
    }
  std::erase_if(files, is_netcdf);
  if (!files.empty()) {
    Inspection run;
    run.draws = read_stan_csv(files);
    complete(run, numbering);
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace emomc::app
