// Samples all posteriors of an evaluation's plan as one batch into a run directory, or resumes such a run.
#pragma once

#include <memory>

#include "class_posteriors.hpp"
#include "emomc/sampler/run_directory.hpp"
#include "run_log.hpp"

namespace emomc::app {

/// The posteriors to sample, and the run directory.
struct EvaluationJob {
  const LabelledFrames& frames;
  const EvaluationPlan& plan;
  const EvaluationConfig& config;  ///< run.output.directory is the run directory
  DataFingerprint data;
  std::string kind;  ///< "evaluation" or "model", as the manifest states it
  std::vector<std::string> notes;
};

struct SampledPosteriors {
  ClassPosteriors posteriors;
  bool finished = false;  ///< false: a signal stopped the run, which can be resumed
  /// Logger of the run directory, for later stages; null on ranks other than the first.
  std::shared_ptr<spdlog::logger> logger;
};

/// Returns a callback that prints how much of a stage is finished and how long the rest will take: first
/// after two seconds, then every five seconds. The callback prints nothing if `verbosity` is quiet. With a
/// single rank, the callback throws Interrupted after a signal.
Report show_stage(const std::string& what, Verbosity verbosity);

/// Returns the configuration of this rank, with its own part of the GPUs and processors of the machine.
EvaluationConfig config_of_rank(EvaluationConfig config);

/// Samples the posteriors. Collective: several ranks divide the work, and the first one writes the files.
/// Nothing is written before everything has been checked. Throws the same exceptions as `emomc run`.
SampledPosteriors sample_posteriors(const EvaluationJob& job, ExistingRun policy, Verbosity verbosity);

}  // namespace emomc::app
