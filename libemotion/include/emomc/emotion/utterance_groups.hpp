// Scores groups of utterances: by gender, by corpus, or by another column of a table about them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "emomc/emotion/evaluation_results.hpp"

namespace emomc {

/// The groups of EvaluationConfig::by, for all utterances, tested or not. Throws InputError if an utterance
/// has no row, or if a column has more than kMostGroups values.
std::vector<UtteranceGroups> groups_of(const LabelledFrames& frames, const EvaluationConfig& config);
inline constexpr std::size_t kMostGroups = 100;

/// A list of {"column", "values"}: for each value of a column, the numbers of utterances and speakers, UAR
/// with its interval over speakers, accuracy, macro-F1 and log loss of the tested utterances.
nlohmann::ordered_json scores_by_group(const LabelledFrames& frames, const MethodResult& method);

/// The means of the scores of scores_by_group over seeds; each seed must have the same groups.
nlohmann::ordered_json mean_by_group(const std::vector<nlohmann::ordered_json>& seeds);

}  // namespace emomc
