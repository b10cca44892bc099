// Serialisation: little-endian fields of fixed width in a string, and a reader that checks every size.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace emomc {

static_assert(std::endian::native == std::endian::little, "chain files are little endian");

/// CRC-32C (Castagnoli), as in iSCSI and ext4.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t crc = 0);
/// Computes crc32c without the processor's CRC instruction.
std::uint32_t crc32c_by_tables(std::string_view bytes, std::uint32_t crc = 0);

template <class T>
void put(std::string& out, const T& value) {
  static_assert(std::is_arithmetic_v<T>);
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}
/// Appends the elements alone, without their number.
template <class T>
void put_all(std::string& out, std::span<const T> values) {
  static_assert(std::is_arithmetic_v<T>);
  out.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
}
inline void put(std::string& out, const std::string& text) {
  put(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}
template <class T>
void put(std::string& out, const std::vector<T>& values) {
  put(out, static_cast<std::uint64_t>(values.size()));
  if constexpr (std::is_arithmetic_v<T>)
    put_all(out, std::span<const T>(values));
  else
    for (const T& value : values) put(out, value);
}

/// Thrown by Fields if the bytes end early or a length is impossible.
struct DamagedBytes : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Reads fields from the front of `bytes`, which must outlive the object.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : bytes_(bytes) {}
  std::size_t left() const { return bytes_.size(); }

  template <class T>
  T get() {
    if constexpr (std::is_arithmetic_v<T>) {
      const std::string_view raw = take(sizeof(T));
      T value;
      std::memcpy(&value, raw.data(), sizeof value);
      return value;
    } else if constexpr (std::is_same_v<T, std::string>) {
      return std::string(take(get<std::uint32_t>()));
    } else {
      const auto count = get<std::uint64_t>();
      // Every element takes at least one byte.
      if (count > bytes_.size())
        throw DamagedBytes("a length of " + std::to_string(count) + " exceeds the file");
      T values;
      values.reserve(static_cast<std::size_t>(count));
      for (std::uint64_t i = 0; i < count; ++i) values.push_back(get<typename T::value_type>());
      return values;
    }
  }

 private:
  std::string_view take(std::size_t count) {
    if (count > bytes_.size()) throw DamagedBytes("the file ends early");
    const auto front = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return front;
  }
  std::string_view bytes_;
};

}  // namespace emomc
