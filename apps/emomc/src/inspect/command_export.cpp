#include <cmath>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "code_options.hpp"
#include "commands.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/posterior/run_files.hpp"
#include "emomc/sampler/output_file.hpp"
#include "emomc/sampler/run_directory.hpp"
#include "inspection.hpp"
#include "kept_inputs.hpp"
#include "netcdf_file.hpp"
#include "progress.hpp"
#include "run_netcdf.hpp"
#include "stan_csv_writer.hpp"
#include "yaml_value.hpp"

namespace emomc::app {
namespace {

struct Options {
  std::vector<std::string> runs;
  std::string format = "csv", output;
  bool relabel = false;
  RunNetcdfOptions groups;
};

std::string csv_number(double x) {
  if (std::isnan(x)) return "NaN";
  if (std::isinf(x)) return x > 0 ? "Inf" : "-Inf";
  return shortest_text(x);
}

// Returns `text` in double quotes if it has a comma, a quote or a line break (RFC 4180), and else unchanged.
std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

// Returns a CSV table with the columns chain,draw,log_density,log_likelihood,log_prior and then the
// parameters. Draws are counted from 0, after warm-up.
std::string to_csv(const DrawSet& draws) {
  std::string out = "chain,draw";
  for (const auto& name : draws.names) out += "," + csv_text(name);
  out += "\n";
  for (std::size_t c = 0; c < draws.num_chains(); ++c)
    for (std::size_t i = 0; i < draws.num_draws; ++i) {
      out += csv_text(draws.chains[c]) + "," + std::to_string(i);
      for (std::size_t q = 0; q < draws.num_quantities(); ++q)
        out += "," + csv_number(draws.values[(q * draws.num_chains() + c) * draws.num_draws + i]);
      out += "\n";
    }
  return out;
}

// Returns the file of one chain, for example "sad-1.csv" for "sad.csv", as CmdStan names its files.
std::filesystem::path file_of_chain(const std::filesystem::path& output, std::size_t chain) {
  return output.parent_path() /
         (output.stem().string() + "-" + std::to_string(chain + 1) + output.extension().string());
}

DrawSet draws_of(const Options& options) {
  auto runs = inspect(options.runs, options.relabel ? Numbering::mended : Numbering::raw);
  if (runs.size() != 1)
    throw InputError(
        "export: one run at a time; allowed: a run directory, or files that are the chains of one run");
  Inspection& run = runs[0];
  for (const auto& note : run.draws.notes) std::cerr << "note: " << note << '\n';
  if (run.labels == Labels::unmended)
    std::cerr << "emomc: warning: " << run.draws.source << ": " << overlap_text(run.overlap) << '\n';
  run.draws.names.resize(run.first_label_free);
  run.draws.values.resize(run.first_label_free * run.draws.num_chains() * run.draws.num_draws);
  return std::move(run.draws);
}

void write_foreign_netcdf(const std::filesystem::path& file, const DrawSet& draws) {
  NetcdfExtras extras;
  extras.created_at = utc_now();
  write_netcdf(file, draws, extras, write_output);
}

void export_run(const Options& options) {
  const std::filesystem::path output = options.output;
  const bool to_screen = options.output == "-";
  if (to_screen && options.format != "csv")
    throw InputError("-o -: " + options.format + " is one file for each chain, or not text; allowed: a file");
  const std::vector<std::filesystem::path> inputs = files_read_from(options.runs);
  if (!to_screen) {
    require_possible_output(output);
    if (options.format != "stan-csv") refuse_input_as_output(output, inputs);
  }
  const bool is_run = std::filesystem::is_directory(options.runs[0]);
  const RunNetcdfOptions& groups = options.groups;
  for (const auto& [flag, is_given] : {std::pair("--log-likelihood", groups.log_likelihood),
                                       {"--posterior-predictive", groups.posterior_predictive},
                                       {"--prior-predictive", groups.prior_predictive}})
    if (is_given && (options.format != "netcdf" || !is_run))
      throw InputError(std::string(flag) + ": allowed with netcdf and a run directory, whose data are known");
  if (groups.predictive_draws && !groups.posterior_predictive && !groups.prior_predictive)
    throw InputError("--predictive-draws: allowed with --posterior-predictive or --prior-predictive");
  DrawSet draws = draws_of(options);
  if (options.format == "csv") {
    const std::string text = to_csv(draws);
    if (to_screen)
      std::cout << text;
    else
      write_output(output, text);
    return;
  }
  if (options.format == "netcdf") {
    if (is_run)
      write_run_netcdf(options.runs[0], output, std::move(draws), write_output, groups);
    else
      write_foreign_netcdf(output, draws);
    return;
  }
  const std::uint64_t seed = is_run ? read_chains(options.runs[0]).at(0).header.seed : 0;
  for (std::size_t c = 0; c < draws.num_chains(); ++c)
    refuse_input_as_output(file_of_chain(output, c), inputs);
  for (std::size_t c = 0; c < draws.num_chains(); ++c)
    write_output(file_of_chain(output, c), to_stan_csv(draws, c, seed));
}

}  // namespace

void add_export(CLI::App& app, int&) {
  auto* command = app.add_subcommand("export", "Draws of a run as files for other programs");
  auto options = std::make_shared<Options>();
  command
      ->add_option("RUN", options->runs,
                   "Run directory; or CSV files of CmdStan, a CSV table of emomc export, a .nc file of ArviZ")
      ->required();
  command
      ->add_option(
          "--format", options->format,
          "csv: a table of all chains. stan-csv: a file for each chain, FILE-1.csv, FILE-2.csv, ..., as "
          "CmdStan writes them. netcdf: for ArviZ")
      ->check(CLI::IsMember({"csv", "stan-csv", "netcdf"}))
      ->required();
  command->add_option("-o,--output", options->output, "File to write; - for standard output (csv)")
      ->required();
  command->add_flag("--relabel", options->relabel,
                    "Components renumbered so that all draws agree, as summary has them");
  command->add_flag("--log-likelihood", options->groups.log_likelihood,
                    "netcdf: each row's log likelihood for each draw too, up to 1 GB");
  command->add_flag("--posterior-predictive", options->groups.posterior_predictive,
                    "netcdf: at each draw a replicate of the columns that the likelihood is a density of");
  command->add_flag("--prior-predictive", options->groups.prior_predictive,
                    "netcdf: 1,000 draws from the prior, and replicates at these");
  command
      ->add_option("--predictive-draws", options->groups.predictive_draws,
                   "Draws of each chain with replicates, up to 1 GB (default: as many as take 160 MB)")
      ->check(CLI::Range(1, 1'000'000'000));
  command->footer("Example: emomc export runs/sad --format stan-csv -o sad.csv");
  add_code_options(*command);
  command->callback([options] { export_run(*options); });
}

}  // namespace emomc::app
