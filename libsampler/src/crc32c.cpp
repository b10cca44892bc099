#include <array>

#include "bytes.hpp"

namespace emomc {
namespace {

// kTables[k][b] is the checksum of byte b followed by k zero bytes, so that eight bytes are processed at a
// time (Kounavis and Berry 2005, "A systematic approach to building high performance software-based CRC
// generators").
using Tables = std::array<std::array<std::uint32_t, 256>, 8>;
constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0x82F63B78u : 0u);
    tables[0][i] = crc;
  }
  for (std::size_t k = 1; k < tables.size(); ++k)
    for (std::uint32_t i = 0; i < 256; ++i) {
      const std::uint32_t before = tables[k - 1][i];
      tables[k][i] = (before >> 8) ^ tables[0][before & 0xff];
    }
  return tables;
}
constexpr Tables kTables = make_tables();

std::uint64_t eight_bytes(const char* bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

std::uint32_t by_tables(const char* bytes, std::size_t size, std::uint32_t crc) {
  for (; size >= 8; size -= 8, bytes += 8) {
    const std::uint64_t word = eight_bytes(bytes) ^ crc;
    crc = 0;
    for (std::size_t k = 0; k < 8; ++k) crc ^= kTables[7 - k][word >> (8 * k) & 0xff];
  }
  for (; size > 0; --size, ++bytes)
    crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<unsigned char>(*bytes)) & 0xff];
  return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t by_instruction(const char* bytes, std::size_t size,
                                                               std::uint32_t crc) {
  std::uint64_t wide = crc;
  for (; size >= 8; size -= 8, bytes += 8) wide = __builtin_ia32_crc32di(wide, eight_bytes(bytes));
  crc = static_cast<std::uint32_t>(wide);
  for (; size > 0; --size, ++bytes) crc = __builtin_ia32_crc32qi(crc, static_cast<unsigned char>(*bytes));
  return crc;
}
#endif

}  // namespace

std::uint32_t crc32c_by_tables(std::string_view bytes, std::uint32_t crc) {
  return ~by_tables(bytes.data(), bytes.size(), ~crc);
}

std::uint32_t crc32c(std::string_view bytes, std::uint32_t crc) {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (has_instruction) return ~by_instruction(bytes.data(), bytes.size(), ~crc);
#endif
  return crc32c_by_tables(bytes, crc);
}

}  // namespace emomc
