#include "html_page.hpp"

#include <cctype>
#include <nlohmann/json.hpp>

namespace emomc::app {

std::string script_json(const nlohmann::json& json) {
  const std::string text = json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  // A script element must not contain "</script" or "<!--".
  std::string result;
  for (const char c : text)
    if (c == '<')
      result += "\\u003c";
    else
      result += c;
  return result;
}

std::string html_text(const std::string& text) {
  std::string result;
  for (const char c : text) switch (c) {
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '&':
        result += "&amp;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  return result;
}

std::string fill_page(const std::string& page, const std::map<std::string, std::string>& parts) {
  std::string result;
  std::size_t at = 0;
  while (at < page.size()) {
    const auto mark = page.find('@', at);
    if (mark == std::string::npos) break;
    auto end = mark + 1;
    while (end < page.size() && std::isupper(static_cast<unsigned char>(page[end]))) ++end;
    result.append(page, at, mark - at);
    if (end > mark + 1 && end < page.size() && page[end] == '@') {
      result += parts.at(page.substr(mark + 1, end - mark - 1));
      at = end + 1;
    } else {
      result.append(page, mark, end - mark);
      at = end;
    }
  }
  return result.append(page, at);
}

}  // namespace emomc::app
