// Formats the scores of a regression of numbers as a text for a terminal.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace emomc::app {

/// scores.json of a regression as a text whose tables are not wider than `width`.
std::string regression_text(const nlohmann::ordered_json& scores, std::size_t width);

}  // namespace emomc::app
