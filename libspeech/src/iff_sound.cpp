#include "iff_sound.hpp"

#include <array>
#include <fstream>
#include <string_view>

namespace emomc {
namespace {

constexpr std::uint64_t kOpenLength = 0xffffffff;
// A damaged file may consist of gigabytes of chunks of length 0.
constexpr int kMostChunks = 10000;

std::uint64_t unsigned_of(std::string_view bytes, bool big_endian) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    value = value << 8 | static_cast<unsigned char>(bytes[big_endian ? i : bytes.size() - 1 - i]);
  return value;
}

/// Whether a program that wrote into a pipe, and therefore could not determine the length, left it open. SoX
/// writes 0x7ffff000; others write 2^31 - 1 or 2^32 - 1, sometimes less the size of the header.
bool is_open_length(std::uint64_t length) {
  constexpr std::uint64_t kHeader = 0x1000;
  return (length >= 0x80000000 - kHeader && length < 0x80000000) ||
         (length > kOpenLength - kHeader && length <= kOpenLength);
}

}  // namespace

std::optional<IffSound> find_iff_sound(const std::filesystem::path& file) {
  std::error_code error;
  const std::uint64_t file_bytes = std::filesystem::file_size(file, error);
  std::ifstream stream(file, std::ios::binary);
  std::array<char, 12> head{};
  if (error || !stream.read(head.data(), head.size())) return std::nullopt;
  const std::string_view form(head.data(), 4), type(head.data() + 8, 4);
  const bool wav = (form == "RIFF" || form == "RIFX" || form == "RF64") && type == "WAVE";
  const bool aiff = form == "FORM" && (type == "AIFF" || type == "AIFC");
  if (!wav && !aiff) return std::nullopt;
  const bool big_endian = aiff || form == "RIFX";
  const std::uint64_t form_length = unsigned_of({head.data() + 4, 4}, big_endian);
  std::uint64_t long_length = kOpenLength;  // length in an RF64 file, whose 32-bit length has all bits set
  std::uint64_t at = head.size();
  for (int chunk = 0; chunk < kMostChunks && at + 8 <= file_bytes; ++chunk) {
    std::array<char, 24> bytes{};
    stream.seekg(static_cast<std::streamoff>(at));
    if (!stream.read(bytes.data(), 8)) return std::nullopt;
    const std::string_view name(bytes.data(), 4);
    std::uint64_t length = unsigned_of({bytes.data() + 4, 4}, big_endian);
    at += 8;
    if (name == (wav ? "data" : "SSND")) {
      if (length == kOpenLength) length = long_length;
      const std::uint64_t present = file_bytes - at;
      const bool unclosed = length == 0 && present > 0 && form_length + 8 < at;
      const bool open = length == kOpenLength || (length > present && is_open_length(length)) || unclosed;
      return IffSound{open ? present : length, present, unclosed};
    }
    if (name == "ds64" && stream.read(bytes.data() + 8, 16))  // lengths of the file and of the sound
      long_length = unsigned_of({bytes.data() + 16, 8}, false);
    at += length + length % 2;
  }
  return std::nullopt;
}

}  // namespace emomc
