// Evaluates or trains linear regression of numbers, such as arousal, on a corpus: from labelled functionals
// to scores and a model.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "emomc/emotion/corpus_features.hpp"
#include "emomc/emotion/evaluation_plan.hpp"
#include "emomc/emotion/regression_model_file.hpp"
#include "emomc/speech/regression_evaluation.hpp"

namespace emomc {

/// The functionals of `corpus` and the numbers of the labelled utterances, in the order of `frames`.
RegressionCorpus regression_corpus(const LabelledFrames& frames, const CorpusFeatures& corpus);
RegressionSettings regression_settings(const EvaluationConfig& config);

struct RegressionEvaluation {
  std::vector<RegressionFold> folds;
  std::vector<std::size_t> utterances;  ///< tested ones, increasing indices into LabelledFrames' utterances
  /// [dimensions] predictions of `utterances`, with all recordings of a speaker known.
  std::vector<NumberPredictions> predictions;
  nlohmann::ordered_json scores;  ///< scores.json without `seconds`
};

/// The test speakers of each fold. Throws InputError as require_inner_speakers does.
std::vector<std::vector<int>> regression_tests(const LabelledFrames& frames, const EvaluationPlan& plan,
                                               const EvaluationConfig& config);

/// Evaluates the folds of `plan`. `features` has functionals of the utterances, in any order. Arguments need
/// to exist only during the call. Collective: all ranks call this with equal arguments, except
/// config.run.threads and `report`, and divide the work; every rank receives all results. Throws InputError,
/// StoppedElsewhere, and the exceptions of `report`.
RegressionEvaluation evaluate_regression(const LabelledFrames& frames, const EvaluationPlan& plan,
                                         const EvaluationConfig& config, const CorpusFeatures& features,
                                         const SoftmaxReport& report, Communicator& ranks = single_rank());

/// A CSV table with a row for each tested utterance. For each dimension the columns are the true number, the
/// mean and sd of the predictive distribution, its central 90 % interval and the log density of the true
/// number: utterance, speaker, arousal, arousal_mean, arousal_sd, arousal_low, arousal_high,
/// arousal_log_density, ...
std::string number_predictions_csv(const LabelledFrames& frames, const RegressionEvaluation& evaluation);

/// Trains on all utterances of `frames`, which were read from `corpus`. Collective as evaluate_regression().
/// The caller sets the model's `config` and `trained_on.corpus`. Throws InputError, StoppedElsewhere, and the
/// exceptions of `report`.
RegressionModel train_regression(const LabelledFrames& frames, const CorpusFeatures& corpus,
                                 const EvaluationConfig& config, const SoftmaxReport& report,
                                 Communicator& ranks = single_rank());

}  // namespace emomc
