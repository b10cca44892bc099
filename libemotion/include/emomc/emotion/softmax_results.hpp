// Evaluates or trains softmax regression on a corpus: from labelled functionals to scores and a model.
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

/// Evaluates the folds of `plan`. `features` has functionals of the utterances, in any order, and of clips.
/// Arguments need to exist only during the call. Collective: all ranks call this with equal arguments, except
/// config.run.threads and `report`, and divide the work. Every rank receives the folds; only rank 0 receives
/// results and scores. Throws InputError, StoppedElsewhere, and the exceptions of `report`.
SoftmaxEvaluation evaluate_softmax(const LabelledFrames& frames, const EvaluationPlan& plan,
                                   const EvaluationConfig& config, const CorpusFeatures& features,
                                   const SoftmaxReport& report, Communicator& ranks = single_rank());

/// The prior sds whose posteriors a fold averages, and their weights; empty with the horseshoe.
nlohmann::ordered_json prior_sds_json(const SoftmaxFold& fold);

struct TrainedSoftmax {
  SoftmaxModel model;  ///< model whose `config` and `trained_on.corpus` the caller sets
  double acceptance = 0;
  /// The share of pairs of a training utterance and a class that have converged.
  double converged = 0;
  StrictShare strict;
};

/// Trains on all utterances of `frames`, which were read from `corpus`. Collective as evaluate_softmax();
/// only rank 0 receives the result. Throws InputError, StoppedElsewhere, and the exceptions of `report`.
TrainedSoftmax train_softmax(const LabelledFrames& frames, const CorpusFeatures& corpus,
                             const EvaluationConfig& config, const SoftmaxReport& report,
                             Communicator& ranks = single_rank());

}  // namespace emomc
