#include "emomc/core/sha256.hpp"

#include <openssl/evp.h>

#include <array>

#include "emomc/core/errors.hpp"

namespace emomc {

std::string sha256_hex(std::string_view bytes) {
  std::array<unsigned char, 32> digest{};
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha256(), nullptr) != 1)
    throw MachineError("SHA-256 is not available in this OpenSSL");
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (unsigned char byte : digest) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

}  // namespace emomc
