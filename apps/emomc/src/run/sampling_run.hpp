// Does the part of run, evaluate and train between their configuration and their results: locks a run
// directory, samples into it, and prints how to resume if the run ends early.
#pragma once

#include <new>
#include <span>
#include <string>

#include "emomc/core/errors.hpp"
#include "emomc/posterior/run_claim.hpp"
#include "emomc/posterior/run_files.hpp"
#include "progress.hpp"

namespace emomc::app {

/// The run files of the program. They show progress, and end a run at the first signal.
class RunFiles final : public emomc::RunFiles {
 public:
  RunFiles(const RunConfig& config, const RunSetup& setup, Verbosity verbosity, RunIdentity identity);
  /// Makes the files of a run of many posteriors.
  RunFiles(const RunConfig& config, const SampledChains& chains, DataFacts data, Verbosity verbosity,
           RunIdentity identity);
  Continue on_progress(const Progress& progress) override;
  void end_progress() { line_.end(); }

 private:
  ProgressLine line_;
};

/// Calls run_chains for `chains` and writes to `files`. Records in the manifest how the run ended. During the
/// run the first signal stops it at the next checkpoint; after the run a signal ends the process.
RunResult sample_into(RunFiles& files, SampledChains& chains, std::span<const Target> targets,
                      std::span<const double> starts, const Checkpoint* checkpoint, double startup_seconds);

/// Returns a text that says how to continue after a fault: "the checkpoint of step 120 is good; when this is
/// mended, go on with: COMMAND", or that there is no checkpoint.
std::string way_on(const std::filesystem::path& directory, const std::string& command);

/// Calls `work` and appends way_on() to the message of a machine fault.
template <class Work>
auto with_way_on(const std::filesystem::path& directory, const std::string& command, const Work& work) {
  try {
    return work();
  } catch (const MachineError& error) {
    throw MachineError(std::string(error.what()) + "; " + way_on(directory, command));
  } catch (const std::filesystem::filesystem_error& error) {
    throw MachineError(error.path1().string() + ": reading the directory failed: " + error.code().message() +
                       "; " + way_on(directory, command));
  } catch (const std::bad_alloc&) {
    throw MachineError("out of memory; " + way_on(directory, command));
  }
}

}  // namespace emomc::app
