// Samples all posteriors of a plan as one batch into a run directory, or goes on with one.
#pragma once

#include <memory>

#include "class_posteriors.hpp"
#include "emomc/sampler/run_directory.hpp"
#include "run_log.hpp"

namespace emomc::app {

/// What to sample, and where to.
struct EvaluationJob {
  const LabelledFrames& frames;
  const EvaluationPlan& plan;
  const EvaluationConfig& config;  ///< run.output.directory is where
  DataFingerprint data;
  std::string kind;  ///< "evaluation", "model": what the manifest says
  std::vector<std::string> notes;
};

struct SampledPosteriors {
  ClassPosteriors posteriors;
  bool finished = false;  ///< false: a signal stopped it; the checkpoint is there
};

/// Nothing is written before everything has been checked. Throws as `emomc run` does.
SampledPosteriors sample_posteriors(const EvaluationJob& job, ExistingRun policy, Verbosity verbosity);

}  // namespace emomc::app
