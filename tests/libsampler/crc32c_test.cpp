// Tests the checksum of chain files and checkpoints.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "bytes.hpp"

namespace emomc {
namespace {

TEST(Crc32c, IsThatOfTheStandard) {
  // The values are those of RFC 3720, appendix B.4, as numbers, and the check value of the Castagnoli
  // polynomial.
  std::string ascending;
  for (int i = 0; i < 32; ++i) ascending += static_cast<char>(i);
  for (const auto& [bytes, expected] : {std::pair<std::string, std::uint32_t>{"123456789", 0xE3069283u},
                                        {std::string(32, '\0'), 0x8A9136AAu},
                                        {std::string(32, '\xff'), 0x62A8AB43u},
                                        {ascending, 0x46DD794Eu},
                                        {"", 0u}}) {
    EXPECT_EQ(crc32c(bytes), expected);
    EXPECT_EQ(crc32c_by_tables(bytes), expected);
  }
}

TEST(Crc32c, HasOneValueHoweverItIsComputed) {
  std::mt19937_64 random(1);
  std::string bytes(4100, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  for (std::size_t begin = 0; begin < 9; ++begin)
    for (const std::size_t size : {0, 1, 7, 8, 9, 63, 64, 1000, 4091}) {
      const std::string_view part = std::string_view(bytes).substr(begin, size);
      const std::uint32_t whole = crc32c(part);
      EXPECT_EQ(crc32c_by_tables(part), whole) << begin << " " << size;
      const std::size_t half = size / 2;
      EXPECT_EQ(crc32c(part.substr(half), crc32c(part.substr(0, half))), whole) << begin << " " << size;
    }
}

}  // namespace
}  // namespace emomc
