#include <fmt/format.h>
#include <unistd.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "emomc/posterior/tempering_report.hpp"
#include "emomc/posterior/text_table.hpp"
#include "evidence_report.hpp"
#include "progress.hpp"

namespace emomc::app {
namespace {

struct Options {
  std::vector<std::string> runs;
  bool json = false;
};

void print(const RunEvidence& run) {
  const Evidence& e = run.evidence;
  std::cout << fmt::format("{}: {}, {} of each rung\n{}\n\n", run.run, counted(run.rungs.num_chains, "chain"),
                           counted(run.rungs.num_draws, "draw"), describe(run.rungs.exchanges))
            << rungs_text(run, terminal_width(STDOUT_FILENO))
            << fmt::format("\nlog evidence {:.3f}, standard error {:.3f} (stepping stones)\n",
                           e.stepping_stones.value, e.stepping_stones.standard_error)
            << fmt::format(
                   "             {:.3f}, standard error {:.3f}, error of the rule up to {:.3f} "
                   "(thermodynamic integration; between {:.2f} and {:.2f} by any rule)\n",
                   e.thermodynamic.value, e.thermodynamic.standard_error, e.rule_error, e.lower, e.upper);
  if (e.finite_share < 1)
    std::cout << fmt::format("{:.4f} of the prior has a finite density, a factor that is included\n",
                             e.finite_share);
  for (const auto& line : warnings_of(run)) std::cout << "warning: " << line << '\n';
}

int evidence_of_runs(const Options& options) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  bool trusted = true;
  for (const auto& name : options.runs) {
    const RunEvidence run = read_evidence(name);
    trusted = trusted && warnings_of(run).empty();
    if (options.json)
      all.push_back(to_json(run));
    else
      print(run);
  }
  if (options.json) std::cout << (all.size() == 1 ? all[0] : all).dump(1) << '\n';
  return trusted ? kDone : kCheckFailed;
}

}  // namespace

void add_evidence(CLI::App& app, int& status) {
  auto* command = app.add_subcommand(
      "evidence", "The evidence (marginal likelihood) from the rungs of runs with sampler.tempering");
  auto options = std::make_shared<Options>();
  command->add_option("RUN", options->runs, "Run directories")->required();
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "Example: emomc evidence runs/mine, after emomc run mine.yaml --set sampler.tempering.rungs=12\n"
      "All labellings of a mixture's components are part of the evidence: no factor of K! is missing. Exit "
      "code "
      "1 where there is a warning.\n"
      "emomc compare --evidence has the probabilities of several models.");
  command->callback([options, &status] { status = evidence_of_runs(*options); });
}

}  // namespace emomc::app
