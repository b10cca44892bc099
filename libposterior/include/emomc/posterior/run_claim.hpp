// Samples into a run directory: its lock, its checkpoint, and a record of how the run ended.
#pragma once

#include <filesystem>
#include <optional>
#include <span>

#include "emomc/posterior/run_files.hpp"
#include "emomc/sampler/run_directory.hpp"

namespace emomc {

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

/// Calls run_chains for `chains`, writes to `files`, and records in the manifest how the run ended.
RunResult sample_to_files(RunFiles& files, SampledChains& chains, std::span<const Target> targets,
                          std::span<const double> starts, const Checkpoint* checkpoint,
                          double startup_seconds);

}  // namespace emomc
