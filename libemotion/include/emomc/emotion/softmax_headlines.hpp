// Scores softmax regression for each kind of knowledge of the test speaker.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "emomc/emotion/evaluation_results.hpp"
#include "emomc/speech/softmax_evaluation.hpp"

namespace emomc {

/// A list with an entry for each SpeakerKnowledge; all entries are of the same utterances. The keys are
/// knowledge, uar, uar_interval, accuracy, log_loss, brier, calibration_error and its range, inner_log_loss,
/// and uar_less_own with its interval, in which the same speaker is left out of both. `own` is the posterior
/// of the evaluation.
nlohmann::ordered_json scores_by_knowledge(const LabelledFrames& frames,
                                           const std::vector<SoftmaxFold>& folds, const MethodResult& own,
                                           std::uint64_t seed);

/// The means, over seeds, of lists of scores_by_knowledge: knowledge, uar, log_loss, calibration_error and
/// inner_log_loss.
nlohmann::ordered_json mean_by_knowledge(const std::vector<nlohmann::ordered_json>& lists);

}  // namespace emomc
