// Evaluates mixtures, alone or fused with softmax regression, and writes scores and files.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "emomc/emotion/corpus_features.hpp"
#include "emomc/emotion/evaluation_results.hpp"
#include "mixtures_run.hpp"

namespace emomc::app {

/// Evaluates mixtures and, with ClassifierKind::fused, softmax regression on the functionals of `features`
/// and the product of the probabilities of both. Collective; only the first rank writes files and receives
/// results. Writes predictions.csv, further predictions_*.csv, scores.json and report.html beside the run's
/// files; `scores` receives the content of scores.json. Returns nothing if a signal stopped the work. Throws
/// the same exceptions as sample_posteriors.
std::optional<EvaluationResults> evaluate_mixtures_into(const EvaluationJob& job,
                                                        const CorpusFeatures& features, ExistingRun policy,
                                                        Verbosity verbosity, nlohmann::ordered_json& scores);

}  // namespace emomc::app
