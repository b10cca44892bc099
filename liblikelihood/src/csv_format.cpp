#include "emomc/likelihood/csv_format.hpp"

#include <cstdint>
#include <string_view>

#include "emomc/core/errors.hpp"

namespace emomc {
namespace {

void append_utf8(std::string& out, std::uint32_t code) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | code >> 12);
    tail(6), tail(0);
  } else {
    out += static_cast<char>(0xf0 | code >> 18);
    tail(12), tail(6), tail(0);
  }
}

std::string utf8_of_utf16(const std::string& name, std::string_view bytes, bool big_endian) {
  const auto refuse = [&](const char* why) { throw InputError(name + ": this is UTF-16, but " + why); };
  if (bytes.size() % 2 != 0) refuse("its number of bytes is odd");
  const auto unit = [&](std::size_t i) {
    const auto first = static_cast<unsigned char>(bytes[i]),
               second = static_cast<unsigned char>(bytes[i + 1]);
    return static_cast<std::uint32_t>(big_endian ? first << 8 | second : second << 8 | first);
  };
  std::string out;
  out.reserve(bytes.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    std::uint32_t code = unit(i);
    if (code >= 0xd800 && code < 0xe000) {
      const std::uint32_t low = i + 2 < bytes.size() ? unit(i + 2) : 0;
      if (code >= 0xdc00 || low < 0xdc00 || low >= 0xe000) refuse("it has half a surrogate pair");
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
      i += 2;
    }
    append_utf8(out, code);
  }
  return out;
}

// Reads the first line "sep=;" of Excel, which declares the separator.
void take_said_separator(const std::string& name, CsvText& csv) {
  const std::string_view text = csv.text;
  if (text.size() < 5 || (text.substr(0, 4) != "sep=" && text.substr(0, 4) != "SEP=")) return;
  std::size_t end = 5;
  if (end < text.size() && text[end] == '\r') ++end;
  // The line is longer, so it names a column.
  if (end < text.size() && text[end] != '\n' && text[end - 1] != '\r') return;
  if (end < text.size() && text[end] == '\n') ++end;
  const char separator = text[4];
  if (separator != ',' && separator != ';' && separator != '\t')
    throw InputError(name + ":1: sep= with another character than a comma, a semicolon or a tab");
  csv.said_separator = separator;
  csv.text.erase(0, end);
  csv.first_line = 2;
}

}  // namespace

CsvText decode_csv(const std::string& name, std::string bytes) {
  CsvText csv;
  const std::string_view head = std::string_view(bytes).substr(0, 4);
  constexpr std::string_view kUtf32Little("\xFF\xFE\0\0", 4), kUtf32Big("\0\0\xFE\xFF", 4);
  if (head == kUtf32Little || head == kUtf32Big)
    throw InputError(name + ": this is UTF-32; allowed: UTF-8, and UTF-16 with a byte order mark");
  csv.was_utf16 = head.starts_with("\xFF\xFE") || head.starts_with("\xFE\xFF");
  if (csv.was_utf16)
    csv.text = utf8_of_utf16(name, std::string_view(bytes).substr(2), head[0] == '\xFE');
  else if (head.size() == 4 && ((head[0] == 0 && head[1] != 0 && head[2] == 0 && head[3] != 0) ||
                                (head[0] != 0 && head[1] == 0 && head[2] != 0 && head[3] == 0)))
    throw InputError(name + ": this looks like UTF-16 without a byte order mark; save it as UTF-8");
  else
    csv.text = std::move(bytes);
  if (csv.text.starts_with("\xEF\xBB\xBF")) csv.text.erase(0, 3);
  take_said_separator(name, csv);
  return csv;
}

std::string separator_name(char separator) {
  return separator == ';' ? "semicolons" : separator == '\t' ? "tabs" : "commas";
}

}  // namespace emomc
