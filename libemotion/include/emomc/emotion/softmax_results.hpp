// Softmax regression of a corpus, evaluated or trained: the steps from labelled functionals to scores and to
// a model.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "emomc/emotion/corpus_features.hpp"
#include "emomc/emotion/evaluation_plan.hpp"
#include "emomc/emotion/evaluation_results.hpp"
#include "emomc/emotion/softmax_job.hpp"
#include "emomc/emotion/softmax_model_file.hpp"
#include "emomc/speech/softmax_evaluation.hpp"

namespace emomc {

struct SoftmaxEvaluation {
  std::vector<SoftmaxFold> folds;
  EvaluationResults results;
  nlohmann::ordered_json scores;  ///< scores.json without `seconds`
};

/// The test speakers of each fold. Throws InputError as require_inner_speakers does.
std::vector<std::vector<int>> softmax_tests(const LabelledFrames& frames, const EvaluationPlan& plan,
                                            const EvaluationConfig& config);

/// Evaluates the folds of `plan`. `features`: functionals of the utterances, in any order, and of clips; the
/// references must outlive the call alone. Collective: ranks divide the work, and have equal arguments,
/// config.run.threads and `report` apart; the folds are known to all, the results and scores to rank 0 alone.
/// Throws InputError, StoppedElsewhere, and what `report` throws.
SoftmaxEvaluation evaluate_softmax(const LabelledFrames& frames, const EvaluationPlan& plan,
                                   const EvaluationConfig& config, const CorpusFeatures& features,
                                   const SoftmaxReport& report, Communicator& ranks = single_rank());

struct TrainedSoftmax {
  SoftmaxModel model;  ///< its `config` and `trained_on.corpus` are left to the caller
  double acceptance = 0;
  /// Of pairs of a training utterance and a class: the share that has converged.
  double converged = 0;
  StrictShare strict;
};

/// Trains on all utterances of `frames`, which were read from `corpus`. Collective as evaluate_softmax();
/// only rank 0 has the result. Throws InputError, StoppedElsewhere, and what `report` throws.
TrainedSoftmax train_softmax(const LabelledFrames& frames, const CorpusFeatures& corpus,
                             const EvaluationConfig& config, const SoftmaxReport& report,
                             Communicator& ranks = single_rank());

}  // namespace emomc
