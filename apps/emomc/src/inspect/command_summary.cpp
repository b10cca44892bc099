#include <fmt/format.h>
#include <unistd.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "emomc/posterior/run_summary.hpp"
#include "emomc/posterior/tempering_report.hpp"
#include "emomc/posterior/text_table.hpp"
#include "inspection.hpp"
#include "predictive.hpp"
#include "progress.hpp"

namespace emomc::app {
namespace {

struct Options {
  std::vector<std::string> runs;
  std::vector<std::string> vars;
  bool raw = false, order = false, json = false, predictive = false;
};

void print_predictive(const std::vector<PredictiveCheck>& checks) {
  TextTable table(
      {{"column"}, {"statistic", 0, true}, {"data"}, {"replicates", 1}, {"5 %", 2}, {"95 %", 2}, {"p"}});
  for (const auto& c : checks) {
    const double spread = (c.q95 - c.q5) / 3.29;  // sd of the replicates if they are normal
    table.add({c.column, c.statistic, value_text(c.observed, spread), value_text(c.mean, spread),
               value_text(c.q5, spread), value_text(c.q95, spread), fmt::format("{:.3f}", c.p)});
  }
  std::cout << "\nposterior predictive checks\n" << table.text(terminal_width(STDOUT_FILENO));
}

nlohmann::ordered_json to_json(const std::vector<PredictiveCheck>& checks) {
  auto json = nlohmann::ordered_json::array();
  for (const auto& c : checks)
    json.push_back({{"column", c.column},
                    {"statistic", c.statistic},
                    {"observed", c.observed},
                    {"mean", c.mean},
                    {"q5", c.q5},
                    {"q95", c.q95},
                    {"p", c.p}});
  return json;
}

void print_summary(const Options& options) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  const std::vector<Inspection> runs = inspect(options.runs, options.order ? Numbering::by_order
                                                             : options.raw ? Numbering::raw
                                                                           : Numbering::mended);
  for (const Inspection& run : runs) {
    const RunSummary summary = summarize_run(run, options.vars);
    if (options.json) {
      all.push_back(to_json(summary));
      if (!run.draws.notes.empty()) all.back()["notes"] = run.draws.notes;
      if (!run.draws.approximation.empty()) all.back()["approximation"] = run.draws.approximation;
      all.back()["run"] = summary.source;
      if (options.predictive) all.back()["predictive"] = to_json(predictive_checks(summary.source));
      continue;
    }
    if (runs.size() > 1) std::cout << summary.source << ":\n";
    std::cout << fmt::format("{} chains, {} draws each", summary.num_chains, summary.num_draws);
    if (summary.sampling_seconds)
      std::cout << fmt::format(", warm-up {}, sampling {}", duration_text(summary.warmup_seconds.value_or(0)),
                               duration_text(*summary.sampling_seconds));
    std::cout << '\n';
    if (const std::string text = describe(summary.trajectories); !text.empty()) std::cout << text << '\n';
    if (summary.tempering) std::cout << describe(*summary.tempering) << '\n';
    for (const auto& note : run.draws.notes) std::cout << "note: " << note << '\n';
    if (!run.draws.approximation.empty())
      std::cout << "warning: independent draws of a " << run.draws.approximation
                << " approximation; R-hat and ESS do not measure how near it is to the posterior\n";
    std::cout << '\n' << to_text(summary, SIZE_MAX, terminal_width(STDOUT_FILENO));
    if (!summary.acceptance.empty()) std::cout << "\nacceptance per block (lowest and highest chain)\n";
    for (const auto& block : summary.acceptance)
      std::cout << cut_to(fmt::format("  {:<16} {:.3f} ({:.3f} to {:.3f})", block.name, block.rate,
                                      block.lowest, block.highest),
                          terminal_width(STDOUT_FILENO))
                << '\n';
    if (options.predictive) print_predictive(predictive_checks(summary.source));
  }
  if (options.json) std::cout << (runs.size() == 1 ? all[0] : all).dump(1) << '\n';
}

}  // namespace

void add_summary(CLI::App& app, int&) {
  auto* command = app.add_subcommand("summary", "Posterior means, quantiles, ESS, MCSE and R-hat of runs");
  auto options = std::make_shared<Options>();
  command
      ->add_option("RUN", options->runs,
                   "Run directories, .nc files of ArviZ, CSV tables of emomc export; CSV files of CmdStan "
                   "are together "
                   "the chains of one run")
      ->required();
  command->add_option("--vars", options->vars, "Only quantities of these names; shell globs, one or several")
      ->allow_extra_args(false);
  auto* raw = command->add_flag(
      "--raw", options->raw, "Components numbered as they were sampled, where chains do not agree on them");
  command->add_flag("--order", options->order, "Components numbered in each draw by their first mean")
      ->excludes(raw);
  command->add_flag("--predictive", options->predictive,
                    "Moments and quantiles of the data beside those of replicates from the posterior");
  command->add_flag("--json", options->json, "Print JSON");
  command->footer("Example: emomc summary runs/sad --vars 'log_*' --vars 'weights*'");
  command->callback([options] { print_summary(*options); });
}

}  // namespace emomc::app
