#include <fmt/format.h>

#include <chrono>

#include "commands.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/core/runtime_kernel.hpp"
#include "netcdf_file.hpp"
#include "run_files.hpp"
#include "run_log.hpp"
#include "run_netcdf.hpp"
#include "run_summary.hpp"
#include "sampling_options.hpp"
#include "yaml_value.hpp"

namespace emomc::app {
namespace {

RunConfig resolved_config(const SamplingOptions& options) {
  RunConfig config = load_run_config(options.config, options.overrides());
  if (config.output.pointwise)
    throw InputError("output.pointwise: true is not available in this version; allowed: false");
  return config;
}

int run(const SamplingOptions& options) {
  const auto began = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  };
  const Verbosity verbosity = options.verbosity();
  const RunConfig config = resolved_config(options);
  const ExistingRun policy = options.policy();
  const std::filesystem::path directory = config.output.directory;
  check_run_directory(directory, policy);
  RunSetup setup = set_up(config);
  const bool may_resume = options.resume && std::filesystem::exists(directory / "checkpoint");
  const std::vector<double> starts = may_resume ? std::vector<double>{} : find_starts(config, setup);

  // Nothing has been written so far.
  RunFiles files(config, setup, verbosity, identity_of(config));
  std::optional<Checkpoint> checkpoint;
  if (may_resume) {
    checkpoint = read_checkpoint(directory / "checkpoint");
    files.refuse_another_run(*checkpoint);
  }
  prepare_run_directory(directory, policy);
  const RunLock lock(directory);
  const auto logger = make_logger(directory, verbosity);
  for (const auto& line : describe(setup.loaded)) logger->info(line);
  for (const auto& line : warnings(setup.loaded)) logger->warn("warning: {}", line);
  if (setup.backend == Backend::cuda)
    if (const auto problem = runtime_compiler_problem(); !problem.empty())
      logger->warn("warning: slower kernels of general sizes are used: {}", problem);
  logger->info("model: {}, {} parameters, {} free; backend {}", setup.model.name, setup.target->dim(),
               setup.target->dim_unconstrained(), RunFiles::engine_text(config, setup));
  if (checkpoint) logger->info("going on from step {}", checkpoint->state.step);
  files.open(checkpoint ? &*checkpoint : nullptr);
  install_signal_handlers();
  const double startup = seconds();
  logger->debug("start-up took {}", duration_text(startup));

  RunResult result;
  try {
    result = run_chains(*setup.engine, *setup.target, setup.proposal, setup.plans, setup.options, starts,
                        files, checkpoint ? &checkpoint->state : nullptr);
  } catch (...) {
    files.end_progress();
    files.write_manifest("failed", nullptr, startup);
    throw;
  }
  files.end_progress();
  const std::string ended_by = files.ended_by(result);
  const bool finished = result.finished || !ended_by.empty();
  files.write_manifest(finished ? "finished" : "interrupted", &result, startup);
  if (!finished) {
    logger->info("stopped after step {}; go on with: emomc run {} --output {} --resume", result.state.step,
                 options.config, directory.string());
    return signal_exit_code();
  }
  const std::int64_t draws = (result.state.step - config.sampler.warmup) / config.sampler.thin;
  if (!ended_by.empty())
    logger->info("sampler.until.{} is reached after {} draws of {}", ended_by, draws, config.sampler.draws);
  else if (config.sampler.until.ess > 0 && draws == config.sampler.draws)
    logger->warn("warning: sampler.until.ess = {} is not reached in sampler.draws = {}",
                 shortest_text(config.sampler.until.ess), config.sampler.draws);
  if (config.sampler.draws > 0) {
    const RunSummary summary = summarize_run(inspect_run(directory, Numbering::mended), {});
    write_file_atomically(directory / "summary.csv", to_csv(summary));
    if (has_netcdf())
      write_run_netcdf(directory, directory / "draws.nc",
                       draw_set_of(read_chains(directory), directory.string()));
    logger->info("\n{}", to_text(summary, 12));
  }
  logger->info("start-up {}, warm-up {}, sampling {}; draws and summary are in {}", duration_text(startup),
               duration_text(result.warmup_seconds), duration_text(result.sampling_seconds),
               directory.string());
  return kDone;
}

}  // namespace

void add_run(CLI::App& app, int& status) {
  auto* command = app.add_subcommand("run", "Sample a posterior and write a run directory");
  auto options = std::make_shared<SamplingOptions>();
  command->add_option("--output", options->output, "Run directory (output.directory)");
  add_sampling_options(*command, *options);
  command->footer(
      "Example: emomc run configs/sad.yaml --output runs/sad --set sampler.draws=2000\n"
      "Ctrl-C stops at the next checkpoint and says how to go on; twice, at once (exit code 130).");
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace emomc::app
