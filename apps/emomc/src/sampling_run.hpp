// What run, evaluate and train share between their configuration and their results: hold a run directory,
// sample into it, and say how to go on where that ends early.
#pragma once

#include <new>
#include <optional>
#include <span>
#include <string>

#include "emomc/core/errors.hpp"
#include "emomc/sampler/run_directory.hpp"
#include "run_files.hpp"

namespace emomc::app {

/// A process's hold on its run directory.
class RunClaim {
 public:
  /// Looks, and writes nothing where there is no run to go on with. Throws InputError as check_run_directory
  /// does, or where another process is at work; reads the checkpoint under the lock.
  RunClaim(std::filesystem::path directory, ExistingRun policy);
  /// Where to go on from; nullptr: from the beginning.
  const Checkpoint* checkpoint() const { return checkpoint_ ? &*checkpoint_ : nullptr; }
  /// Locks the directory and makes it ready to be written.
  void begin();

 private:
  std::filesystem::path directory_;
  ExistingRun policy_;
  std::optional<RunLock> lock_;
  std::optional<Checkpoint> checkpoint_;
};

/// run_chains of `setup` into `files`, whose manifest then says how it ended. While it runs, a first signal
/// stops it at the next checkpoint; behind it, a signal ends the process.
RunResult sample_into(RunFiles& files, RunSetup& setup, std::span<const Target> targets,
                      std::span<const double> starts, const Checkpoint* checkpoint, double startup_seconds);

/// "the checkpoint of step 120 is good: when this is mended, go on with: COMMAND", as far as that is so.
std::string way_on(const std::filesystem::path& directory, const std::string& command);

/// Does `work`; a fault of the machine in it says how to go on.
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
