// Formats the scores of evaluations as texts for a terminal.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace emomc::app {

/// The least share of converged pairs of an utterance and a class without a warning (docs/emotion.md).
inline constexpr double kShareAskedFor = 0.95;

/// The words for a kind of knowledge of the test speaker, such as "five others" for "five".
std::string words_of_knowledge(const std::string& knowledge);

/// scores.json as a text whose tables are not wider than `width`.
std::string scores_text(const nlohmann::ordered_json& scores, std::size_t width);
/// scores.json of several seeds as a text; the width of its tables is not limited.
std::string text_of_seeds(const nlohmann::ordered_json& scores);

}  // namespace emomc::app
