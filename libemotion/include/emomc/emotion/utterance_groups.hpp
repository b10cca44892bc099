// Scores of groups of utterances: by gender, by corpus, or by another column of a table about them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "emomc/emotion/evaluation_results.hpp"

namespace emomc {

/// The groups of EvaluationConfig::by, of tested utterances and others. Throws InputError where an utterance
/// has no row, or where a column has more than kMostGroups values.
std::vector<UtteranceGroups> groups_of(const LabelledFrames& frames, const EvaluationConfig& config);
inline constexpr std::size_t kMostGroups = 100;

/// For each column its values, with numbers of utterances and speakers, UAR with its interval over speakers,
/// accuracy, macro-F1 and log loss of the utterances that were tested: a list of {"column", "values"}.
nlohmann::ordered_json scores_by_group(const LabelledFrames& frames, const MethodResult& method);

/// The means of such scores over seeds, of which each has the same groups.
nlohmann::ordered_json mean_by_group(const std::vector<nlohmann::ordered_json>& seeds);

}  // namespace emomc
