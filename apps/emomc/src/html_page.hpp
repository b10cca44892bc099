// Fills HTML templates in which @NAME@ marks the content that comes from a run.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace emomc::app {

/// Returns JSON that is safe inside a script element, whatever its strings contain. Bytes that are not UTF-8
/// become U+FFFD.
std::string script_json(const nlohmann::json& json);

/// Escapes a text for use inside an HTML element.
std::string html_text(const std::string& text);

/// Returns `page` with each mark @NAME@ replaced by the part of that name; marks inside the parts are kept.
/// Throws std::out_of_range if a part is missing.
std::string fill_page(const std::string& page, const std::map<std::string, std::string>& parts);

}  // namespace emomc::app
