#include "emomc/posterior/excerpt.hpp"

namespace emomc {

std::string one_line(std::string text) {
  for (char& letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if (code < 0x20 || code == 0x7f) letter = '?';
  }
  return text;
}

std::string excerpt(std::string_view text) {
  constexpr std::size_t longest = 80;
  if (text.size() <= longest) return one_line(std::string(text));
  return one_line(std::string(text.substr(0, longest - 3))) + "...";
}

}  // namespace emomc
