// What an evaluation found: predictions.csv, scores.json and a text.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "utterance_scores.hpp"

namespace emomc::app {

/// Folds of one method and their predictions together.
struct MethodResult {
  std::vector<FoldResult> folds;
  Predictions predictions;  ///< in the order of `utterances`
  Scores scores;
};

struct EvaluationResults {
  std::vector<std::size_t> utterances;  ///< into LabelledFrames
  MethodResult posterior;
  std::optional<MethodResult> em;
  std::uint64_t seed = 0;
};

MethodResult judge_method(const LabelledFrames& frames, std::vector<FoldResult> folds, std::uint64_t seed,
                          std::vector<std::size_t>* utterances);

/// utterance,speaker,truth,predicted,p_<class>...
std::string predictions_csv(const LabelledFrames& frames, const std::vector<std::size_t>& utterances,
                            const Predictions& predictions);
nlohmann::ordered_json scores_json(const LabelledFrames& frames, const EvaluationPlan& plan,
                                   const EvaluationResults& results);
/// For a terminal.
std::string scores_text(const nlohmann::ordered_json& scores);

/// Scores of one configuration with several seeds: means over seeds, and the difference of the methods with
/// speakers drawn with replacement, the same for all seeds.
nlohmann::ordered_json scores_of_seeds(const LabelledFrames& frames,
                                       const std::vector<EvaluationResults>& seeds);
std::string text_of_seeds(const nlohmann::ordered_json& scores);

}  // namespace emomc::app
