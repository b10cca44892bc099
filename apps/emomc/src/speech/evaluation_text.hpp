// The scores of evaluations as texts for a terminal.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace emomc::app {

/// What is known of the test speaker, in words: "five others" of "five".
std::string words_of_knowledge(const std::string& knowledge);

/// The scores as a text whose tables are not wider than `width`.
std::string scores_text(const nlohmann::ordered_json& scores, std::size_t width);
/// The same of several seeds.
std::string text_of_seeds(const nlohmann::ordered_json& scores);

}  // namespace emomc::app
