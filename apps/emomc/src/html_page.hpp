// HTML pages of templates in which @NAME@ marks what comes from a run.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace emomc::app {

/// JSON that may stand inside a script element, whatever its texts are; bytes that are not UTF-8 become
/// U+FFFD.
std::string script_json(const nlohmann::json& json);

/// Text that may stand inside an element.
std::string html_text(const std::string& text);

/// `page` with each mark @NAME@ replaced by the part of that name; marks inside parts stay. Throws
/// std::out_of_range where a part is missing.
std::string fill_page(const std::string& page, const std::map<std::string, std::string>& parts);

}  // namespace emomc::app
