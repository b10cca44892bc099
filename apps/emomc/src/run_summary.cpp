#include "run_summary.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "emomc/core/errors.hpp"
#include "yaml_value.hpp"

namespace emomc::app {
namespace {

bool selected(const std::string& name, const std::vector<std::string>& patterns) {
  return patterns.empty() || std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
           // means[0] is a name before it is a bracket expression.
           return name == pattern || fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
         });
}

void read_manifest(const std::filesystem::path& manifest, RunSummary& summary) {
  std::ifstream stream(manifest);
  if (!stream) return;
  const auto json = nlohmann::json::parse(stream, nullptr, false);
  if (!json.is_object()) return;
  summary.is_ensemble = json.value("ensemble", nlohmann::json()) == true;
  if (!json.contains("seconds")) return;
  const auto& seconds = json["seconds"];
  const auto get = [&](const char* key) -> std::optional<double> {
    if (!seconds.is_object() || !seconds.contains(key) || !seconds[key].is_number()) return std::nullopt;
    return seconds[key].get<double>();
  };
  summary.warmup_seconds = get("warmup");
  summary.sampling_seconds = get("sampling");
}

std::vector<std::string> quantity_names(const ChainHeader& header) {
  std::vector<std::string> names{"log_density", "log_likelihood", "log_prior"};
  const auto elements = element_names(header.layout);
  names.insert(names.end(), elements.begin(), elements.end());
  return names;
}

}  // namespace

RunSummary summarize_run(const std::filesystem::path& directory, const std::vector<std::string>& patterns) {
  const auto chains = read_chains(directory);
  RunSummary summary;
  summary.num_chains = chains.size();
  // Warm-up draws, if kept, do not count; a running chain may be ahead of another.
  std::vector<std::size_t> first;
  summary.num_draws = SIZE_MAX;
  for (const auto& chain : chains) {
    const auto begin =
        std::upper_bound(chain.steps.begin(), chain.steps.end(), chain.header.warmup) - chain.steps.begin();
    first.push_back(static_cast<std::size_t>(begin));
    summary.num_draws = std::min(summary.num_draws, chain.steps.size() - static_cast<std::size_t>(begin));
  }
  if (summary.num_draws == 0) throw InputError(directory.string() + ": there are no draws after warm-up yet");
  read_manifest(directory / "manifest.json", summary);

  const auto names = quantity_names(chains[0].header);
  const auto dim = static_cast<std::size_t>(chains[0].header.layout.dim());
  std::vector<double> draws(summary.num_chains * summary.num_draws);
  bool any = false;
  for (std::size_t q = 0; q < names.size(); ++q) {
    if (!selected(names[q], patterns)) continue;
    any = true;
    for (std::size_t c = 0; c < chains.size(); ++c)
      for (std::size_t i = 0; i < summary.num_draws; ++i) {
        const std::size_t at = first[c] + i;
        const ChainDraws& chain = chains[c];
        draws[c * summary.num_draws + i] = q == 0   ? chain.log_prior[at] + chain.log_likelihood[at]
                                           : q == 1 ? chain.log_likelihood[at]
                                           : q == 2 ? chain.log_prior[at]
                                                    : chain.parameters[at * dim + q - 3];
      }
    SummaryRow row{names[q],
                   summarize({draws.data(), summary.num_draws, summary.num_chains, 1,
                              static_cast<std::ptrdiff_t>(summary.num_draws),
                              summary.is_ensemble ? summary.num_chains : 1}),
                   std::nullopt};
    if (summary.sampling_seconds && *summary.sampling_seconds > 0)
      row.ess_bulk_per_second = row.summary.ess_bulk / *summary.sampling_seconds;
    summary.rows.push_back(row);
  }
  if (!any)
    throw InputError("--vars: no quantity has such a name; there are: " + names[0] + ", " + names[1] + ", " +
                     names[2] + ", " + names[3] + ", ...");

  for (std::size_t b = 0; b < chains[0].header.block_names.size(); ++b) {
    BlockAcceptance block{chains[0].header.block_names[b], 0, 1, 0};
    std::uint64_t accepted = 0, proposed = 0;
    for (const auto& chain : chains) {
      if (chain.proposed[b] == 0) continue;
      const double rate = static_cast<double>(chain.accepted[b]) / static_cast<double>(chain.proposed[b]);
      block.lowest = std::min(block.lowest, rate);
      block.highest = std::max(block.highest, rate);
      accepted += chain.accepted[b];
      proposed += chain.proposed[b];
    }
    if (proposed == 0) continue;
    block.rate = static_cast<double>(accepted) / static_cast<double>(proposed);
    summary.acceptance.push_back(block);
  }
  return summary;
}

nlohmann::ordered_json to_json(const RunSummary& summary) {
  // JSON has no NaN; null says that a diagnostic is undefined.
  const auto number = [](double x) {
    return std::isfinite(x) ? nlohmann::ordered_json(x) : nlohmann::ordered_json();
  };
  const auto optional = [&](const std::optional<double>& x) {
    return x ? number(*x) : nlohmann::ordered_json();
  };
  nlohmann::ordered_json json;
  json["chains"] = summary.num_chains;
  json["draws"] = summary.num_draws;
  json["parameters"] = nlohmann::ordered_json::array();
  for (const auto& row : summary.rows) {
    const QuantitySummary& s = row.summary;
    json["parameters"].push_back({{"name", row.name},
                                  {"mean", number(s.mean)},
                                  {"sd", number(s.sd)},
                                  {"q5", number(s.q5)},
                                  {"q50", number(s.q50)},
                                  {"q95", number(s.q95)},
                                  {"mcse_mean", number(s.mcse_mean)},
                                  {"mcse_sd", number(s.mcse_sd)},
                                  {"ess_bulk", number(s.ess_bulk)},
                                  {"ess_tail", number(s.ess_tail)},
                                  {"ess_bulk_per_second", optional(row.ess_bulk_per_second)},
                                  {"rhat", number(s.rhat)}});
  }
  json["acceptance"] = nlohmann::ordered_json::array();
  for (const auto& block : summary.acceptance)
    json["acceptance"].push_back(
        {{"block", block.name}, {"rate", block.rate}, {"lowest", block.lowest}, {"highest", block.highest}});
  json["seconds"] = {{"warmup", optional(summary.warmup_seconds)},
                     {"sampling", optional(summary.sampling_seconds)}};
  return json;
}

std::string to_csv(const RunSummary& summary) {
  std::string out = "name,mean,sd,q5,q50,q95,mcse_mean,mcse_sd,ess_bulk,ess_tail,rhat\n";
  for (const auto& row : summary.rows) {
    const bool quote = row.name.find(',') != std::string::npos;
    out += quote ? '"' + row.name + '"' : row.name;
    const QuantitySummary& s = row.summary;
    for (double x :
         {s.mean, s.sd, s.q5, s.q50, s.q95, s.mcse_mean, s.mcse_sd, s.ess_bulk, s.ess_tail, s.rhat})
      out += "," + (std::isfinite(x) ? shortest_text(x) : std::string("NaN"));
    out += "\n";
  }
  return out;
}

// Bounds of Vehtari et al. 2021, section 4. The log density does not depend on the components' labels.
static std::string convergence_warning(const RunSummary& summary) {
  constexpr double kRhatBound = 1.01, kLeastEss = 400, kEssPerChain = 100;
  constexpr std::size_t kFewChains = 16;
  const std::size_t chains = summary.is_ensemble ? 1 : std::min(summary.num_chains, kFewChains);
  const double ess_bound = std::max(kLeastEss, kEssPerChain * static_cast<double>(chains));
  for (const auto& row : summary.rows) {
    if (row.name != "log_density") continue;
    const QuantitySummary& s = row.summary;
    if (s.rhat <= kRhatBound && s.ess_bulk >= ess_bound && s.ess_tail >= ess_bound) break;
    return fmt::format(
        "warning: not converged: log_density has R-hat {:.3f} (at most {} is wanted) and ESS {:.0f} bulk, "
        "{:.0f} tail (at least {:.0f}); run longer\n",
        s.rhat, kRhatBound, s.ess_bulk, s.ess_tail, ess_bound);
  }
  return "";
}

std::string to_text(const RunSummary& summary, std::size_t max_rows) {
  std::vector<const SummaryRow*> rows;
  for (const auto& row : summary.rows) rows.push_back(&row);
  const bool cut = rows.size() > max_rows;
  if (cut) {
    // Densities stay on top, then what has mixed worst.
    std::stable_sort(rows.begin(), rows.end(), [](const SummaryRow* a, const SummaryRow* b) {
      const auto badness = [](const SummaryRow* r) {
        if (r->name.rfind("log_", 0) == 0) return 1e9;
        return std::isnan(r->summary.rhat) ? 0.0 : r->summary.rhat;
      };
      return badness(a) > badness(b);
    });
    rows.resize(max_rows);
  }
  std::size_t width = 4;
  for (const auto* row : rows) width = std::max(width, row->name.size());
  std::string out =
      fmt::format("{:<{}} {:>11} {:>10} {:>11} {:>11} {:>11} {:>10} {:>8} {:>8} {:>7}\n", "name", width,
                  "mean", "sd", "5 %", "50 %", "95 %", "mcse", "ess_bulk", "ess_tail", "rhat");
  for (const auto* row : rows) {
    const QuantitySummary& s = row->summary;
    out += fmt::format(
        "{:<{}} {:>11.5g} {:>10.3g} {:>11.5g} {:>11.5g} {:>11.5g} {:>10.2g} {:>8.0f} {:>8.0f} {:>7.3f}\n",
        row->name, width, s.mean, s.sd, s.q5, s.q50, s.q95, s.mcse_mean, s.ess_bulk, s.ess_tail, s.rhat);
  }
  if (cut)
    out += fmt::format("... and {} more (the {} with the largest R-hat are shown)\n",
                       summary.rows.size() - max_rows, max_rows);
  return out + convergence_warning(summary);
}

}  // namespace emomc::app
