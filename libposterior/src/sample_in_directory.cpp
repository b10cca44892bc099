#include "sample_in_directory.hpp"

#include <chrono>
#include <nlohmann/json.hpp>

#include "emomc/posterior/chain_starts.hpp"
#include "emomc/posterior/run_claim.hpp"
#include "emomc/posterior/run_reader.hpp"
#include "emomc/sampler/files.hpp"

namespace emomc {
namespace {

/// Refuses an existing run with a message for callers of sample(); the message of check_run_directory names
/// options of the command line.
void refuse_existing(const std::filesystem::path& directory, ExistingRun existing) {
  std::error_code error;
  if (existing != ExistingRun::refuse || !std::filesystem::is_directory(directory, error)) return;
  if (std::filesystem::is_empty(directory, error) || error) return;
  throw InputError("directory: " + directory.string() +
                   " is not empty; allowed: another one, or to resume or overwrite the run that it has");
}

RunEnd end_of(const RunConfig& config, const SamplerState& state) {
  RunEnd end(config.sampler);
  end.resume(state);
  return end;
}

/// The draws in the directory after a run, with the counts of draws at the optima of the starts.
Draws results_of(const RunConfig& config, const RunSetup& setup, RunFiles& files, const RunResult& result,
                 double startup_seconds) {
  Draws draws;
  draws.ended_by = files.ended_by(result);
  draws.finished = result.finished || !draws.ended_by.empty();
  draws.starts = start_report_of(files.starts());
  if (result.state.step <= end_of(config, result.state).warmup_end()) return draws;
  const std::filesystem::path& directory = config.output.directory;
  try {
    draws.run = inspect_directory(directory, Numbering::mended,
                                  [&](const std::filesystem::path&) { return setup.expression; });
    draws.chains = read_chains(directory);
    if (config.sampler.tempering.is_on()) draws.rungs = read_rungs(directory);
    follow_draws_to_optima(config, setup, draws.run.draws, draws.starts);
    add_followed(draws.starts, files.starts());
    draws.run.facts.starts = starts_of(nlohmann::json(files.starts()));
    if (!draws.finished) return draws;
    if (draws.starts.num_followed > 0) files.write_manifest("finished", &result, startup_seconds);
    write_file_atomically(directory / "summary.csv", to_csv(summarize_run(draws.run, {})));
  } catch (const InputError& error) {  // another program has moved or changed the files of this run
    throw MachineError(error.what());
  }
  return draws;
}

}  // namespace

Draws sample_in_directory(const Posterior& posterior, const RunConfig& config, const SampleOptions& options) {
  const auto began = std::chrono::steady_clock::now();
  const std::filesystem::path& directory = config.output.directory;
  refuse_existing(directory, options.existing);
  RunClaim claim(directory, options.existing);
  const Checkpoint* checkpoint = claim.checkpoint();
  const RunIdentity identity = identity_of_settings(config);
  RunSetup setup = set_up(config, &posterior.data(), checkpoint ? kept_proposal(directory) : std::nullopt);
  std::vector<double> starts;
  if (!checkpoint) starts = find_starts(config, setup);
  RunFiles files(config, setup, identity, [&](const Progress& progress) {
    return !options.on_progress || options.on_progress(progress) ? Continue::yes : Continue::stop;
  });
  if (checkpoint) {
    refuse_another_run(*checkpoint, identity, config, setup, setup.loaded.fingerprint);
    files.check(*checkpoint);
  }
  std::vector<std::string> about = warnings(setup);
  for (const std::string& line : describe(setup.starts).warned) about.push_back(line);
  // Nothing has been written up to here.
  claim.begin();
  files.open(checkpoint);
  const double startup = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  const RunResult result =
      sample_to_files(files, setup, {setup.target.get(), 1}, starts, checkpoint, startup);
  Draws draws = results_of(config, setup, files, result, startup);
  draws.backend = backend_name(setup.backend);
  draws.directory = directory;
  for (const std::string& line : describe_lost(draws.starts)) about.push_back(line);
  draws.warnings = std::move(about);
  return draws;
}

Draws read_run(const std::filesystem::path& directory) {
  Draws draws;
  draws.run = inspect_directory(directory, Numbering::mended);
  draws.chains = read_chains(directory);
  if (draws.run.facts.tempering) draws.rungs = read_rungs(directory);
  draws.finished = draws.run.facts.status == "finished";
  draws.directory = directory;
  draws.backend = draws.run.facts.engine.substr(0, draws.run.facts.engine.find(','));
  return draws;
}

}  // namespace emomc
