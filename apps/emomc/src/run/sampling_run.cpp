#include "sampling_run.hpp"

#include "signals.hpp"

namespace emomc::app {

RunFiles::RunFiles(const RunConfig& config, const RunSetup& setup, Verbosity verbosity, RunIdentity identity)
    : emomc::RunFiles(config, setup, std::move(identity)), line_(verbosity) {
  line_.expect_at_most(config.sampler.chooses_draws);
}

RunFiles::RunFiles(const RunConfig& config, const SampledChains& chains, DataFacts data, Verbosity verbosity,
                   RunIdentity identity)
    : emomc::RunFiles(config, chains, std::move(data), std::move(identity)), line_(verbosity) {
  line_.expect_at_most(config.sampler.chooses_draws);
}

Continue RunFiles::on_progress(const Progress& progress) {
  line_.show(progress);
  const Continue next = emomc::RunFiles::on_progress(progress);
  return stop_requested() ? Continue::stop : next;
}

RunResult sample_into(RunFiles& files, SampledChains& chains, std::span<const Target> targets,
                      std::span<const double> starts, const Checkpoint* checkpoint, double startup_seconds) {
  stop_on_signals();
  RunResult result;
  try {
    result = sample_to_files(files, chains, targets, starts, checkpoint, startup_seconds);
  } catch (...) {
    files.end_progress();
    throw;
  }
  files.end_progress();
  if (result.finished || !files.ended_by(result).empty()) leave_on_signals();
  return result;
}

std::string way_on(const std::filesystem::path& directory, const std::string& command) {
  std::string what = "there is no checkpoint to go on from; when this is fixed, begin again with: ";
  try {
    const Checkpoint checkpoint = read_checkpoint(directory / "checkpoint");
    what = "the checkpoint of step " + std::to_string(checkpoint.state.step) +
           " is good; when this is fixed, go on with: ";
  } catch (const std::exception&) {  // the checkpoint is damaged or missing, or its disk has failed
  }
  return what + command;
}

}  // namespace emomc::app
