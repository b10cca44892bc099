// The part of run, evaluate and train between their configuration and their results: they lock a run
// directory, sample into it, and print how to resume if the run ends early.
#pragma once

#include <new>
#include <optional>
#include <span>
#include <string>

#include "emomc/core/errors.hpp"
#include "emomc/sampler/run_directory.hpp"
#include "run_files.hpp"

namespace emomc::app {

/// A process's lock on its run directory.
class RunClaim {
 public:
  /// Checks the directory; it is not changed unless there is a checkpoint to resume from, which is read under
  /// the lock. Throws InputError as check_run_directory does, or if another process is using the directory.
  RunClaim(std::filesystem::path directory, ExistingRun policy);
  /// The checkpoint to resume from; nullptr: the run starts from the beginning.
  const Checkpoint* checkpoint() const { return checkpoint_ ? &*checkpoint_ : nullptr; }
  /// Locks the directory and prepares it for writing. Throws InputError if another process has changed it
  /// since.
  void begin();

 private:
  std::filesystem::path directory_;
  ExistingRun policy_;
  std::optional<RunLock> lock_;
  std::optional<Checkpoint> checkpoint_;
};

/// Calls run_chains for `setup`, writes to `files`, and records in the manifest how the run ended. During the
/// run the first signal stops it at the next checkpoint; after the run a signal ends the process.
RunResult sample_into(RunFiles& files, RunSetup& setup, std::span<const Target> targets,
                      std::span<const double> starts, const Checkpoint* checkpoint, double startup_seconds);

/// A text that says how to continue after a fault: "the checkpoint of step 120 is good; when this is mended,
/// go on with: COMMAND", or that there is no checkpoint.
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
