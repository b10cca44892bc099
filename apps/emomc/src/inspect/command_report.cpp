#include <iostream>

#include "commands.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/posterior/run_data.hpp"
#include "emomc/sampler/files.hpp"
#include "emomc/sampler/output_file.hpp"
#include "emomc/sampler/run_directory.hpp"
#include "evaluation_report.hpp"
#include "inspection.hpp"
#include "kept_inputs.hpp"
#include "report.hpp"

namespace emomc::app {
namespace {

struct Options {
  std::vector<std::string> runs, vars;
  std::string output;
  bool raw = false;
};

std::string evaluation_page(const Options& options) {
  if (options.runs.size() != 1) throw InputError("report: allowed: one evaluation");
  if (!options.vars.empty() || options.raw)
    throw InputError("report: --vars and --raw are for runs; " + options.runs[0] + " is an evaluation");
  return evaluation_report_html(options.runs[0]);
}

void report(const Options& options) {
  const bool is_directory = std::filesystem::is_directory(options.runs[0]);
  const std::filesystem::path output =
      !options.output.empty() ? std::filesystem::path(options.output)
      : is_directory
          ? std::filesystem::path(options.runs[0]) / "report.html"
          : throw InputError(
                "-o: missing; name the page to write, which has a default for run directories only");
  // A page inside the run directory must not be written through a link that leads out of that directory,
  // which may come from an untrusted source.
  const FileWriter write = options.output.empty() ? write_file_atomically : write_output;
  require_possible_output(output);
  refuse_input_as_output(output, files_read_from(options.runs));
  if (is_directory && run_kind(options.runs[0]) == "evaluation") {
    write(output, evaluation_page(options));
    std::cout << output.string() << '\n';
    return;
  }
  const auto runs = inspect(options.runs, options.raw ? Numbering::raw : Numbering::mended);
  if (runs.size() != 1)
    throw InputError(
        "report: one run at a time; allowed: a run directory, or files that are the chains of one run");
  write(output, report_html(runs[0], is_directory ? options.runs[0] : "", {options.vars}));
  std::cout << output.string() << '\n';
}

}  // namespace

void add_report(CLI::App& app, int&) {
  auto* command = app.add_subcommand("report", "One HTML page about a run or an evaluation");
  auto options = std::make_shared<Options>();
  command
      ->add_option("RUN", options->runs,
                   "Directory of a run or an evaluation; or CSV files of CmdStan, a CSV table of "
                   "emomc export, a .nc file of ArviZ")
      ->required();
  command->add_option("-o,--output", options->output, "Page to write (report.html in the directory)");
  command
      ->add_option("--vars", options->vars,
                   "Quantities to chart beside the worst; shell globs, one or several")
      ->allow_extra_args(false);
  command->add_flag("--raw", options->raw,
                    "Components numbered as they were sampled, where chains do not agree on them");
  command->footer("Example: emomc report runs/sad -o sad.html");
  command->callback([options] { report(*options); });
}

}  // namespace emomc::app
