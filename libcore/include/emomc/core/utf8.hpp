// UTF-8 validation. Names from files become JSON strings, which must be UTF-8.
#pragma once

#include <string_view>

namespace emomc {

/// Whether the bytes are UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing beyond U+10FFFF.
bool is_utf8(std::string_view text);

}  // namespace emomc
