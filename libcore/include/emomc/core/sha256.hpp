// SHA-256 hashes, which identify entries of caches and runs.
#pragma once

#include <string>
#include <string_view>

namespace emomc {

/// The hash of `bytes` as 64 hexadecimal digits. Throws MachineError if OpenSSL has no SHA-256.
std::string sha256_hex(std::string_view bytes);

}  // namespace emomc
