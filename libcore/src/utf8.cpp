#include "emomc/core/utf8.hpp"

#include <cstddef>

namespace emomc {
namespace {

// Returns the number of bytes that follow the first byte of a code point; -1 if no code point starts with
// this byte.
int num_following(unsigned char first) {
  if (first < 0x80) return 0;
  if (first >= 0xc2 && first < 0xe0) return 1;
  if (first >= 0xe0 && first < 0xf0) return 2;
  if (first >= 0xf0 && first < 0xf5) return 3;
  return -1;
}

}  // namespace

bool is_utf8(std::string_view text) {
  constexpr char32_t kLeast[] = {0, 0x80, 0x800, 0x10000};
  for (std::size_t at = 0; at < text.size();) {
    const auto first = static_cast<unsigned char>(text[at++]);
    const int count = num_following(first);
    if (count < 0 || text.size() - at < static_cast<std::size_t>(count)) return false;
    char32_t code = count == 0 ? first : first & (0x3f >> count);
    for (int i = 0; i < count; ++i) {
      const auto byte = static_cast<unsigned char>(text[at++]);
      if ((byte & 0xc0) != 0x80) return false;
      code = code << 6 | (byte & 0x3f);
    }
    if (code < kLeast[count] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return false;
  }
  return true;
}

}  // namespace emomc
