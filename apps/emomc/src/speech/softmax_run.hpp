// Evaluates softmax regression on functionals into a directory.
#pragma once

#include <optional>

#include "emomc/emotion/corpus_features.hpp"
#include "emomc/emotion/evaluation_plan.hpp"
#include "emomc/emotion/evaluation_results.hpp"
#include "emomc/sampler/run_directory.hpp"
#include "progress.hpp"

namespace emomc::app {

/// What is evaluated; the references must outlive the call.
struct SoftmaxJob {
  const LabelledFrames& frames;
  const EvaluationPlan& plan;
  const EvaluationConfig& config;
  const CorpusFeatures& corpus;
  double extraction_seconds = 0;  ///< that reading the corpus took
};

/// Collective; the first rank writes and has the results. Evaluates and writes predictions.csv,
/// predictions_penalised.csv, probability_sd.csv, scores.json, report.html, config.yaml, manifest.json and
/// run.log. There is nothing to resume: with ExistingRun::resume it begins again. Returns nothing if a signal
/// stopped it, and nothing but the log is then written. Throws InputError.
std::optional<EvaluationResults> evaluate_softmax_into(const SoftmaxJob& job, ExistingRun policy,
                                                       Verbosity verbosity, nlohmann::ordered_json& scores);

}  // namespace emomc::app
