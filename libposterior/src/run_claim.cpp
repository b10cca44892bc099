#include "emomc/posterior/run_claim.hpp"

#include "emomc/core/errors.hpp"
#include "emomc/posterior/spread_chains.hpp"

namespace emomc {

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
                     ": another emomc has worked on this run meanwhile; start the command again");
}

RunResult sample_to_files(RunFiles& files, SampledChains& chains, std::span<const Target> targets,
                          std::span<const double> starts, const Checkpoint* checkpoint,
                          double startup_seconds) {
  RunResult result;
  try {
    result = run_spread_chains(chains, targets, starts, files, checkpoint ? &checkpoint->state : nullptr);
  } catch (...) {
    try {
      files.write_manifest("failed", nullptr, startup_seconds);
    } catch (const std::exception&) {  // the first exception is the one to report
    }
    throw;
  }
  const bool finished = result.finished || !files.ended_by(result).empty();
  files.write_manifest(finished ? files.status_of_sampled() : "interrupted", &result, startup_seconds);
  return result;
}

}  // namespace emomc
