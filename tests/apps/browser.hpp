// Opens pages in headless Chromium.
#pragma once

#include <nlohmann/json.hpp>
#include <utility>

#include "program.hpp"

namespace emomc::testing {

inline bool has_chromium() { return std::system("command -v chromium > /dev/null 2>&1") == 0; }

/// Returns the result of selfTest() in a page of `folder`, after the page has been drawn in a window of
/// `width` pixels.
inline nlohmann::json self_test(const ProgramFolder& folder, const std::string& page, int width = 1200) {
  const std::string command =
      "timeout 120 chromium --headless --no-sandbox --disable-gpu --virtual-time-budget=8000 --window-size=" +
      std::to_string(width) + ",1000 --user-data-dir='" + (folder / "profile").string() +
      "' --dump-dom 'file://" + (folder / page).string() + "#selftest' > '" +
      (folder / "dump.html").string() + "' 2> /dev/null";
  EXPECT_EQ(std::system(command.c_str()), 0);
  const std::string text = folder.read("dump.html"), mark = "data-selftest=\"";
  const auto begin = text.find(mark);
  if (begin == std::string::npos) {
    ADD_FAILURE() << "the page did not run to its end";
    return nlohmann::json::object();
  }
  std::string result =
      text.substr(begin + mark.size(), text.find('"', begin + mark.size()) - begin - mark.size());
  for (const auto& [entity, c] : {std::pair{"&quot;", "\""}, {"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}})
    for (auto at = result.find(entity); at != std::string::npos; at = result.find(entity, at + 1))
      result.replace(at, std::string(entity).size(), c);
  return nlohmann::json::parse(result);
}

}  // namespace emomc::testing
