// Evaluates softmax regression on functionals and writes the results to a directory.
#pragma once

#include <optional>

#include "emomc/emotion/corpus_features.hpp"
#include "emomc/emotion/evaluation_plan.hpp"
#include "emomc/emotion/evaluation_results.hpp"
#include "emomc/sampler/run_directory.hpp"
#include "progress.hpp"

namespace emomc::app {

/// An evaluation to be done; the references must be valid until the end of the call.
struct SoftmaxJob {
  const LabelledFrames& frames;
  const EvaluationPlan& plan;
  const EvaluationConfig& config;
  const CorpusFeatures& corpus;
  double extraction_seconds = 0;  ///< duration of reading the corpus, in seconds
};

/// Evaluates softmax regression and writes predictions.csv, predictions_penalised.csv, probability_sd.csv,
/// scores.json, report.html, config.yaml, manifest.json and run.log. Collective; only the first rank writes
/// files and receives the results. There is nothing to resume: with ExistingRun::resume the evaluation begins
/// again. Returns nothing if a signal stopped the evaluation, of which only the log is then written. Throws
/// InputError.
std::optional<EvaluationResults> evaluate_softmax_into(const SoftmaxJob& job, ExistingRun policy,
                                                       Verbosity verbosity, nlohmann::ordered_json& scores);

}  // namespace emomc::app
