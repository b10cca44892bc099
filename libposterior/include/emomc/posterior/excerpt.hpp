// Makes texts that users have written safe to quote in messages.
#pragma once

#include <string>
#include <string_view>

namespace emomc {

/// `text` with question marks in place of control characters.
std::string one_line(std::string text);

/// `text` on one line of at most 80 characters, for messages.
std::string excerpt(std::string_view text);

}  // namespace emomc
