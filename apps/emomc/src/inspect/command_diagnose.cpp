#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "emomc/posterior/diagnose.hpp"
#include "emomc/posterior/text_table.hpp"
#include "inspection.hpp"

namespace emomc::app {
namespace {

struct Options {
  std::vector<std::string> runs;
  bool json = false;
};

nlohmann::ordered_json to_json(const Inspection& run, const std::vector<Finding>& findings) {
  nlohmann::ordered_json json;
  json["run"] = run.draws.source;
  json["trusted"] = is_trusted(findings);
  json["findings"] = nlohmann::ordered_json::array();
  for (const Finding& finding : findings)
    json["findings"].push_back({{"severity", severity_name(finding.severity)},
                                {"check", finding.check},
                                {"text", finding.text},
                                {"advice", finding.advice}});
  return json;
}

int diagnose_runs(const Options& options) {
  bool trusted = true;
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  const auto runs = inspect(options.runs, Numbering::mended);
  for (const Inspection& run : runs) {
    const auto findings = diagnose(run);
    trusted = trusted && is_trusted(findings);
    if (options.json) {
      all.push_back(to_json(run, findings));
      continue;
    }
    std::cout << fmt::format("{}: {}, {} each\n", run.draws.source, counted(run.draws.num_chains(), "chain"),
                             counted(run.draws.num_draws, "draw"));
    for (const Finding& finding : findings)
      std::cout << fmt::format("{}: {}\n  -> {}\n", severity_name(finding.severity), finding.text,
                               finding.advice);
    std::cout << (is_trusted(findings) ? "no problem found\n" : "this run should not be trusted as it is\n");
  }
  if (options.json) std::cout << (runs.size() == 1 ? all[0] : all).dump(1) << '\n';
  return trusted ? kDone : kCheckFailed;
}

}  // namespace

void add_diagnose(CLI::App& app, int& status) {
  auto* command = app.add_subcommand(
      "diagnose", "Report what is wrong with a run; exit code 1 if it should not be trusted");
  auto options = std::make_shared<Options>();
  command
      ->add_option("RUN", options->runs,
                   "Run directories, .nc files of ArviZ, CSV tables of emomc export; CSV files of CmdStan "
                   "are together "
                   "the chains of one run")
      ->required();
  command->add_flag("--json", options->json, "Print JSON");
  command->footer("Example: emomc diagnose runs/sad && emomc report runs/sad");
  command->callback([options, &status] { status = diagnose_runs(*options); });
}

}  // namespace emomc::app
