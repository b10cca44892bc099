// Evaluates mixtures: samples all posteriors, and scores utterances under the posteriors and under fits by
// EM.
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

/// Evaluates the folds of `job`. Collective. The chains are written to the run directory of `job`. Returns
/// nothing if a signal stopped the work, which can be resumed. Throws the same exceptions as
/// sample_posteriors.
std::optional<MixtureEvaluation> evaluate_mixtures(const EvaluationJob& job, ExistingRun policy,
                                                   Verbosity verbosity);

}  // namespace emomc::app
