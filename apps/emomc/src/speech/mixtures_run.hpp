// Evaluates mixtures: samples all posteriors, scores utterances under them, and EM's fits beside them.
#pragma once

#include <optional>
#include <vector>

#include "emomc/emotion/fold_results.hpp"
#include "evaluation_run.hpp"

namespace emomc::app {

struct MixtureEvaluation {
  std::vector<FoldResult> posterior;
  std::vector<FoldResult> em;  ///< empty without a baseline
};

/// Collective. The chains are in the run directory of `job` afterwards. Returns nothing if a signal stopped
/// the work, which can be resumed. Throws the same exceptions as sample_posteriors.
std::optional<MixtureEvaluation> evaluate_mixtures(const EvaluationJob& job, ExistingRun policy,
                                                   Verbosity verbosity);

}  // namespace emomc::app
