// What the draws of a run directory depend on, and in words what has changed of it.
#pragma once

#include <string>
#include <vector>

#include "emomc/sampler/run_directory.hpp"
#include "run_config.hpp"

namespace emomc::app {

struct WrittenKey;
struct RunSetup;

/// What a directory says it is the result of.
struct RunIdentity {
  std::string config_text;  ///< YAML with every key
  std::string depends_on;   ///< `key: value` lines of what draws depend on; other ones refuse to resume
  std::string kind;         ///< "run", "evaluation", "model"
};
/// That of `emomc run`. Its length, sampler.draws, is none of it: a finished run can be made longer.
RunIdentity identity_of(const RunConfig& config);

/// Without what changes no draw: where a run lies, how long it is, on how many threads it runs.
RunConfig without_what_changes_no_draw(RunConfig config);
/// A `key: value` line for each.
std::string lines_of(const std::vector<WrittenKey>& keys);

/// What the draws depend on beside config and data: backend, precision, device.
std::string engine_text(const RunConfig& config, const RunSetup& setup);
/// The same and the number of the arithmetic (emomc/core/arithmetic.hpp), for checkpoints.
std::string arithmetic_text(const RunConfig& config, const RunSetup& setup);

/// The first keys that differ, "sampler.seed was 3, is 4", of two texts of `key: value` lines; empty: none.
std::string changed_keys(const std::string& was, const std::string& is);
/// The same of data: "sad.csv had 300 rows, has 299".
std::string changed_data(const DataFingerprint& was, const DataFingerprint& is);

/// Throws InputError where a checkpoint is of another configuration, other data or another engine, or has
/// more draws than are asked for.
void refuse_another_run(const Checkpoint& checkpoint, const RunIdentity& identity, const RunConfig& config,
                        const RunSetup& setup);

}  // namespace emomc::app
