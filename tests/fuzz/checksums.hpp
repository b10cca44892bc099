// Corrects checksums. Otherwise hardly any mutated input would pass the first check.
#pragma once

#include <cstring>
#include <string>

#include "bytes.hpp"

namespace emomc::fuzz {

inline std::uint32_t word_at(const std::string& bytes, std::size_t at) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes.data() + at, sizeof word);
  return word;
}

/// Returns a chain file or a checkpoint (docs/chain-format.md) with correct checksums, as far as its lengths
/// are plausible. Other bytes are returned unchanged.
inline std::string with_checksums(std::string bytes) {
  const auto put_at = [&](std::size_t at, std::uint32_t crc) {
    std::memcpy(bytes.data() + at, &crc, sizeof crc);
  };
  constexpr std::size_t kChainPrefix = 8 + 4 + 4, kCheckpointPrefix = 8 + 8 + 4, kBlockPrefix = 24;
  const std::string_view all(bytes);
  if (all.starts_with("EMOMCCK2") && bytes.size() >= kCheckpointPrefix) {
    put_at(16, crc32c(all.substr(kCheckpointPrefix)));
    const std::uint64_t length = bytes.size() - kCheckpointPrefix;
    std::memcpy(bytes.data() + 8, &length, sizeof length);
  }
  if (!all.starts_with("EMOMCCH1") || bytes.size() < kChainPrefix) return bytes;
  std::size_t at = kChainPrefix + word_at(bytes, 8);
  if (at > bytes.size()) return bytes;
  put_at(12, crc32c(all.substr(kChainPrefix, word_at(bytes, 8))));
  while (at + kBlockPrefix <= bytes.size()) {
    const std::size_t payload = word_at(bytes, at + 4);
    if (at + kBlockPrefix + payload > bytes.size()) break;
    put_at(at + 20, crc32c(all.substr(at + kBlockPrefix, payload), crc32c(all.substr(at, kBlockPrefix - 4))));
    at += kBlockPrefix + payload;
  }
  return bytes;
}

}  // namespace emomc::fuzz
