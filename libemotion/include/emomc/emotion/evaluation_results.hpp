// The results of an evaluation: predictions.csv, scores.json and a text.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "emomc/emotion/fold_results.hpp"

namespace emomc {

/// The folds of one method (posteriors or EM), and the predictions of all folds together.
struct MethodResult {
  std::vector<FoldResult> folds;
  Predictions predictions;  ///< in the order of `utterances`
  Scores scores;
};

struct EvaluationResults {
  std::vector<std::size_t> utterances;  ///< indices into LabelledFrames::features.utterances
  MethodResult posterior;
  /// The other method: EM; of softmax regression the penalised fit, of fused classifiers the mixtures.
  std::optional<MethodResult> em;
  std::string other = "em";  ///< its name
  std::uint64_t seed = 0;
};

/// Pools and scores the predictions of all folds. `utterances`, if given, receives the indices of the test
/// utterances.
MethodResult judge_method(const LabelledFrames& frames, std::vector<FoldResult> folds, std::uint64_t seed,
                          std::vector<std::size_t>* utterances);

/// A CSV table with the columns utterance,speaker,truth,predicted,p_<class>...
std::string predictions_csv(const LabelledFrames& frames, const std::vector<std::size_t>& utterances,
                            const Predictions& predictions);
/// The scores of one method, as scores_json has them.
nlohmann::ordered_json method_json(const LabelledFrames& frames, const MethodResult& method);
nlohmann::ordered_json scores_json(const LabelledFrames& frames, const EvaluationPlan& plan,
                                   const EvaluationResults& results);
/// The scores of one configuration with several seeds: means over the seeds, and the difference between the
/// methods with its jackknife interval over speakers.
nlohmann::ordered_json scores_of_seeds(const LabelledFrames& frames,
                                       const std::vector<EvaluationResults>& seeds);
/// The probabilities of the posteriors averaged over seeds, of which there is at least one; all have the same
/// utterances in the same order.
Predictions averaged_over_seeds(const std::vector<EvaluationResults>& seeds);

}  // namespace emomc
