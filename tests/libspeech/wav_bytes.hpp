// Makes WAV files byte by byte, so that they can be invalid.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace emomc::testing {

inline std::string little_endian(std::uint64_t value, int num_bytes) {
  std::string bytes;
  for (int i = 0; i < num_bytes; ++i) bytes += static_cast<char>(value >> (8 * i) & 255);
  return bytes;
}

struct Wav {
  int bits = 16, num_channels = 1, sample_rate = 16000;
  bool is_float = false;
  std::vector<double> samples{};  ///< interleaved; for PCM in units of the last bit
  std::string before_data{};      ///< chunks between fmt and data

  std::string data() const {
    std::string bytes;
    for (double x : samples) {
      if (is_float && bits == 32)
        bytes += little_endian(std::bit_cast<std::uint32_t>(static_cast<float>(x)), 4);
      else if (is_float)
        bytes += little_endian(std::bit_cast<std::uint64_t>(x), 8);
      else  // 8-bit samples are unsigned
        bytes += little_endian(
            static_cast<std::uint64_t>(static_cast<std::int64_t>(x) + (bits == 8 ? 128 : 0)), bits / 8);
    }
    return bytes;
  }
  std::string bytes() const { return bytes(data().size()); }
  /// Returns the bytes of a file whose header states `num_bytes` of samples.
  std::string bytes(std::uint64_t num_bytes) const {
    const int frame_bytes = bits / 8 * num_channels;
    const std::string format = little_endian(is_float ? 3 : 1, 2) + little_endian(num_channels, 2) +
                               little_endian(sample_rate, 4) + little_endian(sample_rate * frame_bytes, 4) +
                               little_endian(frame_bytes, 2) + little_endian(bits, 2);
    const std::string body = "WAVEfmt " + little_endian(16, 4) + format + before_data + "data" +
                             little_endian(num_bytes, 4) + data();
    return "RIFF" + little_endian(body.size(), 4) + body;
  }
};

}  // namespace emomc::testing
