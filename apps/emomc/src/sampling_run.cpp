#include "sampling_run.hpp"

#include "signals.hpp"

namespace emomc::app {

RunClaim::RunClaim(std::filesystem::path directory, ExistingRun policy)
    : directory_(std::move(directory)), policy_(policy) {
  check_run_directory(directory_, policy_);
  const auto file = directory_ / "checkpoint";
  if (policy_ != ExistingRun::resume || !std::filesystem::exists(file)) return;
  lock_.emplace(directory_);
  checkpoint_ = read_checkpoint(file);
}

void RunClaim::begin() {
  if (!lock_) lock_.emplace(directory_);
  if (prepare_run_directory(directory_, policy_) != checkpoint_.has_value())
    throw InputError(directory_.string() +
                     ": another emomc has worked on this run meanwhile; give the command again");
}

RunResult sample_into(RunFiles& files, RunSetup& setup, std::span<const Target> targets,
                      std::span<const double> starts, const Checkpoint* checkpoint, double startup_seconds) {
  stop_on_signals();
  RunResult result;
  try {
    result = run_chains(*setup.engine, targets, setup.proposal, setup.plans, setup.options, starts, files,
                        checkpoint ? &checkpoint->state : nullptr);
  } catch (...) {
    files.end_progress();
    try {
      files.write_manifest("failed", nullptr, startup_seconds);
    } catch (const std::exception&) {  // the first fault is the one to report
    }
    throw;
  }
  files.end_progress();
  const bool finished = result.finished || !files.ended_by(result).empty();
  files.write_manifest(finished ? "finished" : "interrupted", &result, startup_seconds);
  if (finished) leave_on_signals();
  return result;
}

std::string way_on(const std::filesystem::path& directory, const std::string& command) {
  std::string what = "there is no checkpoint to go on from; when this is mended, begin again with: ";
  try {
    const Checkpoint checkpoint = read_checkpoint(directory / "checkpoint");
    what = "the checkpoint of step " + std::to_string(checkpoint.state.step) +
           " is good; when this is mended, go on with: ";
  } catch (const std::exception&) {  // the checkpoint is damaged or missing, or its disk has failed
  }
  return what + command;
}

}  // namespace emomc::app
