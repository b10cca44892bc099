// A hash of many rows that threads compute at once: SHA-256 (FIPS 180-4) of every kHashedRows rows, row-major
// in float64, then of every kHashedRows digests, until at most kHashedRows digests are left.
#ifndef EMOMC_DEVICE_ROW_HASH_HPP
#define EMOMC_DEVICE_ROW_HASH_HPP

#include "emomc/device/array_table.hpp"

namespace emomc::device {

inline constexpr i64 kHashedRows = 1024;

struct Digest {
  u32 words[8];
};

/// The hash of a sequence of 32-bit words, each with the most significant byte first.
class Sha256 {
 public:
  EMOMC_HD void add(u32 word) {
    block_[num_words_++ % 16] = word;
    if (num_words_ % 16 == 0) compress();
  }
  /// Adds the 8 bytes of a number, the least significant byte first.
  EMOMC_HD void add(double number) {
    u64 bits;
    __builtin_memcpy(&bits, &number, sizeof bits);
    add(reversed(static_cast<u32>(bits)));
    add(reversed(static_cast<u32>(bits >> 32)));
  }
  EMOMC_HD Digest finish() {
    const u64 num_bits = num_words_ * 32;
    add(0x80000000u);
    while (num_words_ % 16 != 14) add(u32{0});
    add(static_cast<u32>(num_bits >> 32));
    add(static_cast<u32>(num_bits));
    return state_;
  }

 private:
  EMOMC_HD static u32 reversed(u32 x) {
    return (x >> 24) | ((x >> 8) & 0xff00u) | ((x << 8) & 0xff0000u) | (x << 24);
  }
  EMOMC_HD static u32 turned(u32 x, int by) { return (x >> by) | (x << (32 - by)); }

  EMOMC_HD void compress() {
    constexpr u32 kRounds[64] = {
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
        0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
        0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
        0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
        0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
        0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
        0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
    u32 s[8];
    for (int i = 0; i < 8; ++i) s[i] = state_.words[i];
    for (int round = 0; round < 64; ++round) {
      u32& w = block_[round % 16];
      if (round >= 16) {
        const u32 a = block_[(round + 1) % 16], b = block_[(round + 14) % 16];
        w += (turned(a, 7) ^ turned(a, 18) ^ (a >> 3)) + block_[(round + 9) % 16] +
             (turned(b, 17) ^ turned(b, 19) ^ (b >> 10));
      }
      const u32 one = s[7] + (turned(s[4], 6) ^ turned(s[4], 11) ^ turned(s[4], 25)) +
                      ((s[4] & s[5]) ^ (~s[4] & s[6])) + kRounds[round] + w;
      const u32 two = (turned(s[0], 2) ^ turned(s[0], 13) ^ turned(s[0], 22)) +
                      ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
      for (int i = 7; i > 0; --i) s[i] = s[i - 1];
      s[4] += one;
      s[0] = one + two;
    }
    for (int i = 0; i < 8; ++i) state_.words[i] += s[i];
  }

  Digest state_{
      {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
  u32 block_[16] = {};
  u64 num_words_ = 0;
};

/// The digest of up to kHashedRows rows from row kHashedRows x `chunk` on.
EMOMC_HD inline Digest digest_of_rows(const ArrayTable& table, i64 chunk) {
  Sha256 hash;
  const i64 first = chunk * kHashedRows;
  for (i64 row = first; row < table.num_rows && row < first + kHashedRows; ++row)
    for (int j = 0; j < table.num_columns; ++j) hash.add(table(row, j));
  return hash.finish();
}

/// The digest of up to kHashedRows of `count` digests, from digest kHashedRows x `chunk` on.
EMOMC_HD inline Digest digest_of_digests(const Digest* digests, i64 count, i64 chunk) {
  Sha256 hash;
  const i64 first = chunk * kHashedRows;
  for (i64 i = first; i < count && i < first + kHashedRows; ++i)
    for (const u32 word : digests[i].words) hash.add(word);
  return hash.finish();
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_ROW_HASH_HPP
