#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "code_options.hpp"
#include "commands.hpp"
#include "config_identity.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/core/runtime_kernel.hpp"
#include "emomc/posterior/chain_starts.hpp"
#include "emomc/posterior/diagnose.hpp"
#include "emomc/posterior/run_reader.hpp"
#include "emomc/posterior/run_summary.hpp"
#include "emomc/posterior/text_table.hpp"
#include "emomc/sampler/files.hpp"
#include "expression_run.hpp"
#include "inspection.hpp"
#include "netcdf_file.hpp"
#include "precision_check.hpp"
#include "rank_setup.hpp"
#include "ranks.hpp"
#include "run_config.hpp"
#include "run_log.hpp"
#include "run_netcdf.hpp"
#include "sampling_options.hpp"
#include "sampling_run.hpp"
#include "signals.hpp"
#include "yaml_value.hpp"

namespace emomc::app {
namespace {

RunConfig resolved_config(const SamplingOptions& options) {
  RunConfig config = load_run_config(options.config, options.overrides());
  if (config.output.pointwise)
    throw InputError("output.pointwise: true is not available in this version; allowed: false");
  return config;
}

/// Runs a chain sampler from its first draw, or from its checkpoint, up to its summary.
class Sampling {
 public:
  Sampling(const SamplingOptions& options, const RunConfig& config)
      : options_(options),
        config_(config),
        directory_(config.output.directory),
        claim_(directory_, options.policy()),
        setup_(set_up_rank(config, agree_on_resuming(claim_.checkpoint() != nullptr))),
        starts_(claim_.checkpoint() ? std::vector<double>{} : find_starts(config, setup_)),
        identity_(identity_of(config)),
        files_(config, setup_, options.verbosity(), identity_) {
    allow_open_files(setup_.plans.size() * static_cast<std::size_t>(config.sampler.tempering.rungs));
    if (!claim_.checkpoint()) {
      if (config.shard == Shard::chains || !is_several())
        precision_ = measure_mixed_precision(config, setup_, starts_, options.verbosity());
      files_.set_precision(to_json(precision_));
      return;
    }
    refuse_another_run(*claim_.checkpoint(), identity_, config, setup_, setup_.loaded.fingerprint);
    files_.check(*claim_.checkpoint());
  }

  int run() {
    // No file has been written before this point.
    claim_.begin();
    starts_of_first(starts_);
    const auto logger = make_logger(directory_, options_.verbosity());
    for (const auto& line : describe(setup_)) logger->info(line);
    for (const auto& line : warnings(setup_)) logger->warn("warning: {}", line);
    if (setup_.backend == Backend::cuda)
      if (const auto problem = runtime_compiler_problem(); !problem.empty())
        logger->warn("warning: slower kernels of general sizes are used: {}", problem);
    logger->info("{}, {} parameters, {} free; backend {}",
                 setup_.expression
                     ? "likelihood: " + (config_.likelihood.has_code()
                                             ? config_.likelihood.expression.code.file
                                             : excerpt(config_.likelihood.expression.log_density.text))
                     : "model: " + setup_.model.name,
                 setup_.target->dim(), setup_.target->dim_unconstrained(), engine_text(config_, setup_));
    if (is_several())
      logger->info("{} chains are spread over {} ranks ({})", setup_.plans.size(), world().size(),
                   world().kind());
    const StartLines about_starts = describe(setup_.starts);  // empty in a resumed run
    for (const auto& line : about_starts.said) logger->info(line);
    for (const auto& line : about_starts.warned) logger->warn("warning: {}", line);
    const StartLines about_precision = describe(precision_);
    for (const auto& line : about_precision.said) logger->info(line);
    for (const auto& line : about_precision.warned) logger->warn("warning: {}", line);
    if (claim_.checkpoint()) logger->info("going on from step {}", claim_.checkpoint()->state.step);
    files_.tell_to([&](const std::string& news) { logger->info(news); });
    files_.open(claim_.checkpoint());
    settle();
    enter(RankPhase::sampling);
    const double startup = seconds();
    logger->debug("start-up took {}", duration_text(startup));
    const RunResult result =
        sample_into(files_, setup_, {setup_.target.get(), 1}, starts_, claim_.checkpoint(), startup);
    enter(RankPhase::finishing);
    if (!result.finished && files_.ended_by(result).empty()) {
      logger->info("stopped after step {}; go on with: {}", result.state.step,
                   options_.command_to_go_on("run"));
      return signal_exit_code();
    }
    tell_end(*logger, result);
    if (config_.sampler.draws > 0) write_results(*logger, result, startup);
    logger->info("start-up {}, warm-up {}, sampling {}; draws and summary are in {}", duration_text(startup),
                 duration_text(result.warmup_seconds), duration_text(result.sampling_seconds),
                 directory_.string());
    return kDone;
  }

 private:
  void tell_end(spdlog::logger& logger, const RunResult& result) const {
    const SamplerConfig& sampler = config_.sampler;
    const SamplerState& state = result.state;
    const std::int64_t draws = (state.step - state.warmup_begin - state.warmup) / sampler.thin;
    const std::string until = files_.ended_by(result);
    if (until == "converged")
      logger.info("the draws have converged after {} of each chain", draws);
    else if (!until.empty())
      logger.info("sampler.until.{} is reached after {} draws of {}", until, draws, sampler.draws);
  }

  // Logs the verdict of `emomc diagnose` about the run. A run also ends as converged if no number of draws
  // would suffice, for example because a column is constant. A negative verdict is shown with --quiet, too.
  void tell_verdict(spdlog::logger& logger, const Inspection& run) const {
    const auto findings = diagnose(run);
    const auto of_severity = [&](Severity severity) {
      return static_cast<std::size_t>(
          std::count_if(findings.begin(), findings.end(),
                        [&](const Finding& finding) { return finding.severity == severity; }));
    };
    if (const std::size_t problems = of_severity(Severity::problem); problems > 0)
      logger.error(
          "warning: this run should not be trusted as it is: diagnose finds {}{}: {}; advice: emomc diagnose "
          "{}",
          counted(problems, "problem"), problems > 1 ? ", the first" : "", findings.front().text,
          directory_.string());
    else if (const std::size_t warnings = of_severity(Severity::warning); warnings > 0)
      logger.warn("diagnose finds no problem, but {}{}: {}; advice: emomc diagnose {}",
                  counted(warnings, "warning"), warnings > 1 ? ", the first" : "", findings.front().text,
                  directory_.string());
    else
      logger.info("diagnose finds no problem");
  }

  void write_results(spdlog::logger& logger, const RunResult& result, double startup) {
    try {
      Inspection inspected = inspect_run(directory_, Numbering::mended);
      StartReport starts = start_report_of(files_.starts());
      if (starts.optima.size() > 1) logger.info("following draws to the optima of the starts");
      follow_draws_to_optima(config_, setup_, inspected.draws, starts);
      add_followed(starts, files_.starts());
      if (starts.num_followed > 0) files_.write_manifest("finished", &result, startup);
      for (const auto& line : describe_lost(starts)) logger.warn("warning: {}", line);
      warn_of_the_worst(logger, inspected);
      const RunSummary summary = summarize_run(inspected, {});
      write_file_atomically(directory_ / "summary.csv", to_csv(summary));
      if (has_netcdf())
        write_run_netcdf(directory_, directory_ / "draws.nc", read_run_draws(directory_),
                         write_file_atomically);
      inspected.facts.starts = starts_of(files_.starts());  // with the draws that were followed just now
      tell_verdict(logger, inspected);
      log_in_both(logger, "\n" + to_text(summary, 12, terminal_width(STDERR_FILENO)),
                  "\n" + to_text(summary, 12));
    } catch (const InputError& error) {  // another program has moved or changed the files of this run
      throw MachineError(error.what());
    }
  }

  // Warns if the run was to continue until its draws can be trusted, but ended before.
  void warn_of_the_worst(spdlog::logger& logger, const Inspection& run) const {
    const SamplerConfig& sampler = config_.sampler;
    if (!sampler.chooses_draws && sampler.until.ess == 0) return;
    const std::string worst = worst_of(run, sampler.until.ess, run.quantity_labels);
    if (!worst.empty()) logger.warn("warning: after {} draws of each chain {}", run.draws.num_draws, worst);
  }

  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  }

  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  const SamplingOptions& options_;
  const RunConfig& config_;
  std::filesystem::path directory_;
  RunClaim claim_;
  RunSetup setup_;
  PrecisionError precision_;  ///< errors of mixed precision for an expression, if they were measured
  std::vector<double> starts_;
  RunIdentity identity_;
  RunFiles files_;
};

// Does the part of any rank but the first in a run; it writes nothing.
int follow(const RunConfig& config) {
  const bool resumes = agree_on_resuming(false);
  RunSetup setup = set_up_rank(config, resumes);
  std::optional<Checkpoint> checkpoint;
  if (resumes) checkpoint = read_checkpoint(config.output.directory / "checkpoint");
  std::vector<double> starts;
  // The engine's rows are on all ranks, which evaluate the density together.
  if (config.shard == Shard::rows && !resumes) starts = find_starts(config, setup);
  starts = starts_of_first(std::move(starts));
  settle();
  sample_along(setup, {setup.target.get(), 1}, starts, checkpoint ? &checkpoint->state : nullptr);
  return wait_for_first();
}

int run(const SamplingOptions& options) {
  const RunConfig config = resolved_config(options);
  if (!is_first()) return follow(config);
  return with_way_on(config.output.directory, options.command_to_go_on("run"),
                     [&] { return Sampling(options, config).run(); });
}

}  // namespace

void add_run(CLI::App& app, int& status) {
  auto* command = app.add_subcommand("run", "Sample a posterior and write a run directory");
  auto options = std::make_shared<SamplingOptions>();
  command->add_option("-o,--output", options->output, "Run directory (output.directory)");
  add_sampling_options(*command, *options);
  command->add_option("--devices", options->devices, "GPUs to use: all, or as 0,1 (devices)");
  command->footer(
      "Example: emomc run configs/sad.yaml --output runs/sad --set sampler.draws=2000\n"
      "Ctrl-C stops after the current steps and prints how to go on; pressed twice, at once (exit code "
      "130).\n--resume --set sampler.draws=5000 makes a finished run longer.");
  add_code_options(*command);
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace emomc::app
