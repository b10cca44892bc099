// Linear regression of numbers such as arousal, evaluated or trained: the steps from labelled functionals to
// scores and to a model.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "emomc/emotion/corpus_features.hpp"
#include "emomc/emotion/evaluation_plan.hpp"
#include "emomc/emotion/regression_model_file.hpp"
#include "emomc/speech/regression_evaluation.hpp"

namespace emomc {

/// The functionals of `corpus` in the order of the labelled utterances, with their numbers.
RegressionCorpus regression_corpus(const LabelledFrames& frames, const CorpusFeatures& corpus);
RegressionSettings regression_settings(const EvaluationConfig& config);

struct RegressionEvaluation {
  std::vector<RegressionFold> folds;
  std::vector<std::size_t> utterances;  ///< that were tested, increasing; into LabelledFrames' utterances
  std::vector<NumberPredictions> predictions;  ///< [dimensions] of these, with all recordings known
  nlohmann::ordered_json scores;               ///< scores.json without `seconds`
};

/// The test speakers of each fold. Throws InputError as require_inner_speakers does.
std::vector<std::vector<int>> regression_tests(const LabelledFrames& frames, const EvaluationPlan& plan,
                                               const EvaluationConfig& config);

/// Evaluates the folds of `plan`. `features`: functionals of the utterances, in any order; the references
/// must outlive the call alone. Collective: ranks divide the work, and have equal arguments,
/// config.run.threads and `report` apart; every rank has the results. Throws InputError, StoppedElsewhere,
/// and what `report` throws.
RegressionEvaluation evaluate_regression(const LabelledFrames& frames, const EvaluationPlan& plan,
                                         const EvaluationConfig& config, const CorpusFeatures& features,
                                         const SoftmaxReport& report, Communicator& ranks = single_rank());

/// A CSV table of `dimension`s with their true number, the mean and sd of the predictive distribution, its
/// central 90 % interval and the log density of the true number: utterance, speaker, arousal, arousal_mean,
/// arousal_sd, arousal_low, arousal_high, arousal_log_density, ...
std::string number_predictions_csv(const LabelledFrames& frames, const RegressionEvaluation& evaluation);

/// Trains on all utterances of `frames`, which were read from `corpus`. Collective as evaluate_regression().
/// The model's `config` and `trained_on.corpus` are left to the caller. Throws InputError, StoppedElsewhere,
/// and what `report` throws.
RegressionModel train_regression(const LabelledFrames& frames, const CorpusFeatures& corpus,
                                 const EvaluationConfig& config, const SoftmaxReport& report,
                                 Communicator& ranks = single_rank());

}  // namespace emomc
