// SHA-256, by which caches and runs are told apart.
#pragma once

#include <string>
#include <string_view>

namespace emomc {

/// 64 hexadecimal digits. Throws MachineError where OpenSSL has no SHA-256.
std::string sha256_hex(std::string_view bytes);

}  // namespace emomc
