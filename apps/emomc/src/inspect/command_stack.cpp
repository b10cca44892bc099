#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "code_options.hpp"
#include "commands.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/posterior/diagnose.hpp"
#include "emomc/posterior/stacking.hpp"
#include "emomc/posterior/text_table.hpp"
#include "input_kind.hpp"
#include "inspection.hpp"
#include "pointwise.hpp"
#include "progress.hpp"

namespace emomc::app {
namespace {

struct Options {
  std::string run, by;
  std::vector<std::size_t> clusters;
  std::vector<std::string> vars;
  std::size_t draws = 500;
  bool json = false;
};

std::string chains_of(const StackedCluster& cluster) {
  std::vector<std::string> names;
  for (const std::size_t chain : cluster.chains) names.push_back(std::to_string(chain));
  return joined(names);
}

void print(const Options& options, const Stacking& stacking, const PointwiseRun& facts,
           const std::vector<StackedRow>& rows) {
  const std::size_t width = terminal_width(STDOUT_FILENO);
  std::cout << wrapped(std::string(stacking_caveat()), width) << "\n\n";
  std::cout << fmt::format("{}: left out by {}, {} of them; {} of each chain\n\n", options.run,
                           facts.grouping.by, stacking.num_groups,
                           counted(stacking.num_draws / stacking.chain_weights.size(), "draw"));
  TextTable table({{"chain", 0, true},
                   {"weight"},
                   {"mean log density", 1},
                   {"elpd", 2},
                   {"p", 4},
                   {"k > 0.7"},
                   {"worst k", 3}});
  for (const StackedCluster& c : stacking.clusters)
    table.add({chains_of(c), fmt::format("{:.4f}", c.weight), fmt::format("{:.2f}", c.mean_log_density),
               fmt::format("{:.2f}", c.elpd), fmt::format("{:.2f}", c.p), std::to_string(c.num_bad),
               fmt::format("{:.2f}", c.worst_k)});
  std::cout << table.text(width)
            << fmt::format("\nelpd of the mixture {:.2f}, with equal weights {:.2f}\n\n", stacking.elpd,
                           stacking.elpd_of_equal_weights);
  TextTable quantities({{"quantity", 0, true}, {"mean"}, {"sd"}, {"5 %", 1}, {"50 %", 2}, {"95 %", 1}});
  for (const StackedRow& row : rows)
    quantities.add({row.label, value_text(row.mean, row.sd), value_text(row.sd, row.sd),
                    value_text(row.q5, row.sd), value_text(row.q50, row.sd), value_text(row.q95, row.sd)});
  std::cout << quantities.text(width);
  for (const std::string& warning : stacking.warnings) std::cout << "warning: " << warning << '\n';
}

nlohmann::ordered_json to_json(const Options& options, const Stacking& stacking, const PointwiseRun& facts,
                               const std::vector<StackedRow>& rows) {
  const auto number = [](double x) {
    return std::isfinite(x) ? nlohmann::ordered_json(x) : nlohmann::ordered_json();
  };
  nlohmann::ordered_json json{{"run", options.run},
                              {"left_out_by", facts.grouping.by},
                              {"groups", stacking.num_groups},
                              {"draws", stacking.num_draws},
                              {"chain_weights", stacking.chain_weights},
                              {"elpd_loo", stacking.elpd},
                              {"elpd_loo_of_equal_weights", stacking.elpd_of_equal_weights},
                              {"clusters", nlohmann::ordered_json::array()},
                              {"quantities", nlohmann::ordered_json::array()},
                              {"warnings", stacking.warnings}};
  for (const StackedCluster& c : stacking.clusters)
    json["clusters"].push_back({{"chains", c.chains},
                                {"weight", c.weight},
                                {"mean_log_density", number(c.mean_log_density)},
                                {"elpd_loo", c.elpd},
                                {"p_loo", c.p},
                                {"pareto_k_above_0.7", c.num_bad},
                                {"worst_pareto_k", number(c.worst_k)}});
  for (const StackedRow& row : rows)
    json["quantities"].push_back({{"name", row.name},
                                  {"label", row.label},
                                  {"mean", number(row.mean)},
                                  {"sd", number(row.sd)},
                                  {"q5", number(row.q5)},
                                  {"q50", number(row.q50)},
                                  {"q95", number(row.q95)}});
  return json;
}

int stack_chains(const Options& options) {
  refuse_if_no_run(options.run);
  if (!std::filesystem::is_directory(options.run))
    throw InputError(options.run + ": a file has no data to leave out; allowed: a run directory");
  const Inspection run = inspect_run(options.run, Numbering::mended);
  StackingScores scores(run.draws, options.clusters, options.draws);
  const PointwiseRun facts =
      pointwise({options.run, options.by, scores.num_draws()},
                [&](std::span<const double> log_likelihood, double) { scores.add(log_likelihood); });
  Stacking stacking = scores.result();
  if (is_trusted(diagnose(run)))
    stacking.warnings.push_back(
        "emomc diagnose finds no problem: the draws represent the posterior without weights");
  const auto rows = stacked_summary(run, stacking.chain_weights, options.vars);
  if (options.json)
    std::cout << to_json(options, stacking, facts, rows).dump(1) << '\n';
  else
    print(options, stacking, facts, rows);
  return stacking.warnings.empty() ? kDone : kCheckFailed;
}

}  // namespace

void add_stack(CLI::App& app, int& status) {
  auto* command = app.add_subcommand(
      "stack", "Weights for chains in different modes, by how well they predict: a cheap approximation");
  auto options = std::make_shared<Options>();
  command->add_option("RUN", options->run, "A run directory")->required();
  command->add_option("--loo-by,--by", options->by,
                      "What is left out together: row, file, or a column of the data (as emomc compare)");
  command
      ->add_option("--clusters", options->clusters,
                   "The cluster of each chain, such as 0,0,1,1, whose chains have one weight together; "
                   "default: a weight for each chain")
      ->delimiter(',');
  command->add_option("--vars", options->vars, "Only quantities of these names; shell globs, one or several")
      ->allow_extra_args(false);
  command->add_option("--draws", options->draws, "Draws of each chain that are used to leave out rows")
      ->check(CLI::Range(100, 1000000))
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "Example: emomc stack runs/mine --vars 'log_*'\n"
      "Leaves out each row by importance sampling and finds the weights with which the chains together "
      "predict best. They are not the posterior's mass in the chains' modes; sampler.tempering.rungs samples "
      "that. Exit code 1 where there is a warning.");
  add_code_options(*command);
  command->callback([options, &status] { status = stack_chains(*options); });
}

}  // namespace emomc::app
