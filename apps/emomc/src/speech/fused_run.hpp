// Scores and files of an evaluation of mixtures, alone or fused with softmax regression.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "emomc/emotion/corpus_features.hpp"
#include "emomc/emotion/evaluation_results.hpp"
#include "mixtures_run.hpp"

namespace emomc::app {

/// Collective; the first rank writes and has the results. Evaluates mixtures and, with ClassifierKind::fused,
/// softmax regression on the functionals of `features`, and the product of both. Writes predictions.csv,
/// further predictions_*.csv, scores.json and report.html beside the run's files; `scores` becomes what
/// scores.json has. Returns nothing if a signal stopped the work. Throws the same exceptions as
/// sample_posteriors.
std::optional<EvaluationResults> evaluate_mixtures_into(const EvaluationJob& job,
                                                        const CorpusFeatures& features, ExistingRun policy,
                                                        Verbosity verbosity, nlohmann::ordered_json& scores);

}  // namespace emomc::app
