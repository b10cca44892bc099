// Describes what the draws of a run directory depend on, and what has changed since a run began.
#pragma once

#include <string>
#include <vector>

#include "emomc/posterior/run_setup.hpp"
#include "emomc/sampler/run_directory.hpp"

namespace emomc {

/// The identity of a run directory's content.
struct RunIdentity {
  std::string config_text;  ///< YAML with every key; empty: the run has no configuration file
  /// `key: value` lines of the settings on which the draws depend; a run with other lines cannot be resumed
  std::string depends_on;
  std::string kind;  ///< "run", "evaluation" or "model"
  /// The names, in messages, of the caller's options to resume a run, to use another directory and to start
  /// over.
  std::string resume = "--resume", elsewhere = "another --output", over = "--force";
};
/// The identity of a run of sample() in config.output.directory, which has no config_text. It does not
/// include the number of draws, since a finished run can be made longer.
RunIdentity identity_of_settings(const RunConfig& config);

/// The configuration with defaults in place of everything that changes no draw, such as the run directory,
/// the number of draws and the number of threads.
RunConfig without_what_changes_no_draw(RunConfig config);

/// What the draws depend on besides configuration and data: backend, precision and device.
std::string engine_text(const RunConfig& config, const SampledChains& chains);
/// engine_text with the version number of the arithmetic (emomc/core/arithmetic.hpp), for checkpoints.
std::string arithmetic_text(const RunConfig& config, const SampledChains& chains);

/// The first keys that differ between two texts of `key: value` lines, as "sampler.seed was 3, is 4"; empty
/// if no key differs.
std::string changed_keys(const std::string& was, const std::string& is);
/// The differences between two data sets, as "sad.csv had 300 rows, has 299".
std::string changed_data(const DataFingerprint& was, const DataFingerprint& is);

/// Throws InputError if a checkpoint belongs to another configuration, other data or another engine, or has
/// more draws than the configuration asks for.
void refuse_another_run(const Checkpoint& checkpoint, const RunIdentity& identity, const RunConfig& config,
                        const SampledChains& chains, const DataFingerprint& data);

}  // namespace emomc
