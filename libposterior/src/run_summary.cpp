#include "emomc/posterior/run_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "emomc/core/errors.hpp"
#include "emomc/posterior/quantity_labels.hpp"
#include "emomc/posterior/tempering_report.hpp"

namespace emomc {
namespace {

// The quantities that determine the verdict, the worst first (see worst_of), then the quantity with the least
// ESS, which decides when sampler.until.ess ends a run. `num_failed` receives the number of these quantities
// that fail a check.
std::vector<std::size_t> named_by_verdict(const DrawDiagnostics& run, std::size_t& num_failed) {
  const ConvergenceVerdict verdict = judge_convergence(run);
  std::vector<std::size_t> named;
  const auto add = [&](std::size_t q) {
    if (std::find(named.begin(), named.end(), q) == named.end()) named.push_back(q);
  };
  for (const FailedQuantities* failed : {&verdict.label_free, &verdict.parameters})
    for (const auto* list : {&failed->rhat, &failed->trend, &failed->ess})
      if (!list->empty()) add(list->front());
  num_failed = named.size();
  std::size_t least = 0;
  double least_ess = std::numeric_limits<double>::infinity();
  for (std::size_t q = 0; q < run.draws.num_quantities(); ++q) {
    const double ess = std::min(run.summaries[q].ess_bulk, run.summaries[q].ess_tail);
    if (run.is_constant(q) || !(ess < least_ess)) continue;
    least_ess = ess;
    least = q;
  }
  if (std::isfinite(least_ess)) add(least);
  return named;
}

// The quantity about which a summary warns; empty if the label-free quantities have converged.
std::optional<std::size_t> first_fault(const Inspection& run) {
  const FailedQuantities failed = judge_convergence(run).label_free;
  for (const auto* list : {&failed.rhat, &failed.trend, &failed.ess})
    if (!list->empty()) return list->front();
  for (std::size_t q = 0; q < run.draws.num_quantities(); ++q)
    if (run.is_label_free(q) && !run.is_converged(q)) return q;
  return std::nullopt;
}

}  // namespace

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
  summary.tempering = run.facts.tempering;
  summary.warmup_seconds = draws.warmup_seconds;
  summary.sampling_seconds = draws.sampling_seconds;
  summary.labels = run.labels;
  summary.overlap = run.overlap;
  summary.numbered_by = run.numbered_by;
  summary.numbering_label = numbering_label(run.numbered_by, draws.names, run.quantity_labels);
  summary.is_nested = draws.chains_per_superchain > 1;
  const std::vector<std::size_t> named = named_by_verdict(run, summary.num_failed);
  for (std::size_t q = 0; q < draws.num_quantities(); ++q) {
    const std::string& label = run.quantity_labels[q];
    if (summary.is_selected && !is_selected(draws.names[q], label, patterns)) continue;
    SummaryRow row{draws.names[q],    label, run.summaries[q], std::nullopt, q >= run.first_label_free,
                   run.is_constant(q)};
    const auto at = std::find(named.begin(), named.end(), q);
    if (at != named.end()) row.named = static_cast<std::size_t>(at - named.begin());
    if (summary.warmup_seconds && summary.sampling_seconds) {
      const double seconds = *summary.warmup_seconds + *summary.sampling_seconds;
      if (seconds > 0) row.ess_bulk_per_second = row.summary.ess_bulk / seconds;
    }
    summary.rows.push_back(row);
  }
  if (summary.rows.empty())
    throw InputError("--vars: no quantity has such a name; there are: " + draws.names[0] + ", " +
                     draws.names[std::min<std::size_t>(1, draws.num_quantities() - 1)] + ", ...");
  summary.trajectories = summarize_trajectories(draws);
  if (summary.trajectories.num_draws > 0)
    summary.acceptance.push_back({"trajectories", summary.trajectories.acceptance,
                                  summary.trajectories.lowest_acceptance,
                                  summary.trajectories.highest_acceptance});
  for (const BlockCounts& counts : draws.acceptance) {
    if (summary.trajectories.num_draws > 0) break;
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
  if (const auto fault = first_fault(run)) {
    const std::size_t q = *fault;
    summary.warning = fmt::format(
        "warning: not converged: {} ({}), R-hat {:.3f}, ESS {:.0f} bulk, {:.0f} tail; `emomc diagnose` "
        "says more\n",
        run.quantity_labels[q],
        run.has_high_rhat(q) ? "chains differ"
        : run.has_trend(q)   ? "early draws differ from late ones"
        : run.is_judged(q)   ? fmt::format("the ESS is below {:.0f}", run.least_ess())
                             : "no diagnostics",
        run.summaries[q].rhat, run.summaries[q].ess_bulk, run.summaries[q].ess_tail);
  }
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
  json["labels"] = labels_name(summary.labels);
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
         {"label", row.label},
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
  if (summary.trajectories.num_draws > 0) json["trajectories"] = to_json(summary.trajectories);
  if (summary.tempering) json["tempering"] = to_json(*summary.tempering);
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
  std::string numbers =
      fmt::format("components are matched over draws and numbered by {}; --raw prints them as sampled\n",
                  summary.numbering_label);
  if (summary.labels == Labels::relabelled) return numbers;
  return numbers + "warning: " + overlap_text(summary.overlap) + "\n";
}

std::string to_text(const RunSummary& summary, std::size_t max_rows, std::size_t width) {
  std::vector<const SummaryRow*> rows;
  // A density on a grid is meant for programs and is omitted here, unless it fails a check of the verdict.
  for (const auto& row : summary.rows)
    if (!row.name.starts_with("mixture_density[") || summary.is_selected || row.named < summary.num_failed)
      rows.push_back(&row);
  const std::size_t num_rows = rows.size();
  const bool cut = num_rows > max_rows;
  if (cut) {
    const auto rank = [](const SummaryRow* row) {
      if (row->name.starts_with("log_")) return std::size_t{0};
      return row->named == SummaryRow::kUnnamed ? SummaryRow::kUnnamed : row->named + 1;
    };
    std::stable_sort(rows.begin(), rows.end(), [&](const SummaryRow* a, const SummaryRow* b) {
      if (rank(a) != rank(b)) return rank(a) < rank(b);
      if (rank(a) == 0) return false;
      return badness(a->summary, a->is_constant) > badness(b->summary, b->is_constant);
    });
    rows.resize(max_rows);
  }
  // On a narrow terminal, columns that others can replace are left out first.
  TextTable table({{"name"},
                   {"mean"},
                   {"sd"},
                   {"5 %", 3},
                   {"50 %", 6},
                   {"95 %", 3},
                   {"mcse", 4},
                   {"ess_bulk", 1},
                   {"ess_tail", 5},
                   {"rhat"}});
  for (const auto* row : rows) {
    const QuantitySummary& s = row->summary;
    table.add({row->label, value_text(s.mean, s.sd), significant_text(s.sd, 3), value_text(s.q5, s.sd),
               value_text(s.q50, s.sd), value_text(s.q95, s.sd), significant_text(s.mcse_mean, 2),
               fmt::format("{:.0f}", s.ess_bulk), fmt::format("{:.0f}", s.ess_tail),
               fmt::format("{:.3f}", s.rhat)});
  }
  std::string out = table.text(width);
  if (cut)
    out += wrapped(fmt::format("... and {} more (shown are the log densities, the worst of each check of "
                               "diagnose, and the largest R-hat)",
                               num_rows - max_rows),
                   width) +
           "\n";
  std::istringstream sentences(labels_note(summary) + summary.warning);
  for (std::string line; std::getline(sentences, line);) out += wrapped(line, width) + "\n";
  return out;
}

}  // namespace emomc
