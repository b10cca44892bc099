#include "run_summary.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "emomc/core/errors.hpp"
#include "yaml_value.hpp"

namespace emomc::app {
bool is_selected(const std::string& name, const std::vector<std::string>& patterns) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    // A name such as means[0] is compared before it is interpreted as a bracket expression.
    return name == pattern || fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
  });
}

double badness(const QuantitySummary& summary, bool is_constant) {
  if (is_constant) return 0;
  return std::isnan(summary.rhat) ? std::numeric_limits<double>::infinity() : summary.rhat;
}

RunSummary summarize_run(const Inspection& run, const std::vector<std::string>& patterns) {
  const DrawSet& draws = run.draws;
  RunSummary summary;
  summary.source = draws.source;
  summary.is_selected = !patterns.empty();
  summary.num_chains = draws.num_chains();
  summary.num_draws = draws.num_draws;
  summary.warmup_seconds = draws.warmup_seconds;
  summary.sampling_seconds = draws.sampling_seconds;
  summary.labels = run.labels;
  summary.overlap = run.overlap;
  summary.numbered_by = run.numbered_by;
  summary.is_nested = draws.chains_per_superchain > 1;
  for (std::size_t q = 0; q < draws.num_quantities(); ++q) {
    if (summary.is_selected && !is_selected(draws.names[q], patterns)) continue;
    SummaryRow row{draws.names[q], run.summaries[q], std::nullopt, q >= run.first_label_free,
                   run.is_constant(q)};
    if (summary.sampling_seconds && *summary.sampling_seconds > 0)
      row.ess_bulk_per_second = row.summary.ess_bulk / *summary.sampling_seconds;
    summary.rows.push_back(row);
  }
  if (summary.rows.empty())
    throw InputError("--vars: no quantity has such a name; there are: " + draws.names[0] + ", " +
                     draws.names[std::min<std::size_t>(1, draws.num_quantities() - 1)] + ", ...");
  for (const BlockCounts& counts : draws.acceptance) {
    BlockAcceptance block{counts.name, 0, 1, 0};
    std::uint64_t accepted = 0, proposed = 0;
    for (std::size_t c = 0; c < counts.accepted.size(); ++c) {
      if (counts.proposed[c] == 0) continue;
      const double rate = static_cast<double>(counts.accepted[c]) / static_cast<double>(counts.proposed[c]);
      block.lowest = std::min(block.lowest, rate);
      block.highest = std::max(block.highest, rate);
      accepted += counts.accepted[c];
      proposed += counts.proposed[c];
    }
    if (proposed == 0) continue;
    block.rate = static_cast<double>(accepted) / static_cast<double>(proposed);
    summary.acceptance.push_back(block);
  }
  for (std::size_t q = 0; q < draws.num_quantities() && summary.warning.empty(); ++q)
    if (run.is_label_free(q) && !run.is_converged(q))
      summary.warning = fmt::format(
          "warning: not converged: {} ({}), R-hat {:.3f}, ESS {:.0f} bulk, {:.0f} tail; `emomc diagnose` "
          "says "
          "more\n",
          draws.names[q],
          run.has_high_rhat(q) ? "chains differ"
          : run.has_trend(q)   ? "early draws differ from late ones"
          : run.is_judged(q)   ? fmt::format("the ESS is below {:.0f}", run.least_ess())
                               : "no diagnostics",
          run.summaries[q].rhat, run.summaries[q].ess_bulk, run.summaries[q].ess_tail);
  return summary;
}

nlohmann::ordered_json to_json(const RunSummary& summary) {
  // JSON has no NaN; null means that a diagnostic is undefined.
  const auto number = [](double x) {
    return std::isfinite(x) ? nlohmann::ordered_json(x) : nlohmann::ordered_json();
  };
  const auto optional = [&](const std::optional<double>& x) {
    return x ? number(*x) : nlohmann::ordered_json();
  };
  nlohmann::ordered_json json;
  json["chains"] = summary.num_chains;
  json["draws"] = summary.num_draws;
  json["labels"] = summary.labels == Labels::relabelled ? "relabelled"
                   : summary.labels == Labels::unmended ? "unmended"
                                                        : "as_sampled";
  if (summary.labels != Labels::as_sampled) {
    json["numbered_by"] = summary.numbered_by;
    json["overlap"] = {{"share", summary.overlap.share},
                       {"components", {summary.overlap.first, summary.overlap.second}}};
  }
  json["rhat"] = summary.is_nested ? "nested" : "rank-normalised split";
  json["parameters"] = nlohmann::ordered_json::array();
  json["label_free"] = nlohmann::ordered_json::array();
  for (const auto& row : summary.rows) {
    const QuantitySummary& s = row.summary;
    json[row.is_label_free ? "label_free" : "parameters"].push_back(
        {{"name", row.name},
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

static std::string labels_note(const RunSummary& summary) {
  if (summary.labels == Labels::as_sampled) return "";
  const std::string numbers =
      fmt::format("components are matched over draws and numbered by {}; --raw prints them as sampled\n",
                  summary.numbered_by);
  if (summary.labels == Labels::relabelled) return numbers;
  return numbers +
         fmt::format("warning: components {} and {} cannot be told apart in {:.1f} % of the draws\n",
                     summary.overlap.first, summary.overlap.second, 100 * summary.overlap.share);
}

std::string to_text(const RunSummary& summary, std::size_t max_rows) {
  std::vector<const SummaryRow*> rows;
  // A density on a grid is omitted here; it is meant for programs.
  for (const auto& row : summary.rows)
    if (!row.name.starts_with("mixture_density[") || summary.is_selected) rows.push_back(&row);
  const std::size_t num_rows = rows.size();
  const bool cut = num_rows > max_rows;
  if (cut) {
    // Densities come first, then the quantities with the largest R-hat.
    std::stable_sort(rows.begin(), rows.end(), [](const SummaryRow* a, const SummaryRow* b) {
      const auto rank = [](const SummaryRow* r) {
        return std::tuple(r->name.starts_with("log_"), badness(r->summary, r->is_constant));
      };
      return rank(a) > rank(b);
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
    out += fmt::format("... and {} more (the {} with the largest R-hat are shown)\n", num_rows - max_rows,
                       max_rows);
  return out + labels_note(summary) + summary.warning;
}

}  // namespace emomc::app
