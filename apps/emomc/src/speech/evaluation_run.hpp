// Samples all posteriors of a plan as one batch into a run directory, or resumes such a run.
#pragma once

#include <memory>

#include "class_posteriors.hpp"
#include "emomc/sampler/run_directory.hpp"
#include "run_log.hpp"

namespace emomc::app {

/// What to sample and where to write it.
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
  bool finished = false;                   ///< false: a signal stopped the run, and there is a checkpoint
  std::shared_ptr<spdlog::logger> logger;  ///< of the run directory, for what follows; none on further ranks
};

/// A callback that prints how much of a stage is finished and how long the rest will take: after two seconds,
/// then every five. Prints nothing where `verbosity` is quiet. Throws Interrupted after a signal, if there is
/// one rank.
Report show_stage(const std::string& what, Verbosity verbosity);

/// The configuration of this rank: of the GPUs and processors of its machine, those that are its own.
EvaluationConfig config_of_rank(EvaluationConfig config);

/// Collective: the ranks of the program, where there are several, share the work, and the first one writes.
/// Writes nothing before everything has been checked. Throws the same exceptions as `emomc run`.
SampledPosteriors sample_posteriors(const EvaluationJob& job, ExistingRun policy, Verbosity verbosity);

}  // namespace emomc::app
