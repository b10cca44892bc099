// Pools and scores the results of an evaluation, and formats them as predictions.csv and scores.json.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "emomc/emotion/fold_results.hpp"

namespace emomc {

/// The folds of one method (posteriors or EM), and the predictions and scores of all folds together.
struct MethodResult {
  std::vector<FoldResult> folds;
  Predictions predictions;  ///< in the order of `utterances`
  Scores scores;
};

struct EvaluationResults {
  std::vector<std::size_t> utterances;  ///< indices into LabelledFrames::features.utterances
  MethodResult posterior;
  /// The method for comparison: EM; for softmax regression the penalised fit, for fused classifiers the
  /// mixtures.
  std::optional<MethodResult> em;
  std::string other = "em";  ///< name of the method for comparison
  std::uint64_t seed = 0;
};

/// Pools and scores the predictions of all folds. `utterances`, if given, receives the indices of the test
/// utterances.
MethodResult judge_method(const LabelledFrames& frames, std::vector<FoldResult> folds, std::uint64_t seed,
                          std::vector<std::size_t>* utterances);

/// A CSV table with the columns utterance,speaker,truth,predicted,p_<class>...
std::string predictions_csv(const LabelledFrames& frames, const std::vector<std::size_t>& utterances,
                            const Predictions& predictions);
/// The scores of one method, in the form of scores_json.
nlohmann::ordered_json method_json(const LabelledFrames& frames, const MethodResult& method);
nlohmann::ordered_json scores_json(const LabelledFrames& frames, const EvaluationPlan& plan,
                                   const EvaluationResults& results);
/// The scores of one configuration with several seeds: means over the seeds, and the difference between the
/// methods with its jackknife interval over speakers.
nlohmann::ordered_json scores_of_seeds(const LabelledFrames& frames,
                                       const std::vector<EvaluationResults>& seeds);
/// The posterior's probabilities, averaged over at least one seed; all seeds must have the same utterances in
/// the same order.
Predictions averaged_over_seeds(const std::vector<EvaluationResults>& seeds);

}  // namespace emomc
