#include "emomc/posterior/text_table.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace emomc {
namespace {

constexpr std::size_t kWidthOfUnknown = 80;
constexpr std::size_t kNarrowest = 20;  // minimum width, for a terminal that reports a uselessly small one

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

// Formats `x` with `decimals` digits after the point; scientific if there would be too many digits on either
// side.
std::string with_decimals(double x, int decimals) {
  constexpr int kMostDigits = 9;
  const double size = std::abs(x);
  if (size < 1e9 && decimals <= kMostDigits) return fmt::format("{:.{}f}", x, std::max(decimals, 0));
  const int before = size > 0 ? static_cast<int>(std::floor(std::log10(size))) : 0;
  return fmt::format("{:.{}e}", x, std::clamp(before + decimals, 1, 16));
}

}  // namespace

std::size_t terminal_width(int descriptor) {
  if (::isatty(descriptor) == 0) return kUnlimited;
  std::size_t width = 0;
  if (const char* columns = std::getenv("COLUMNS"))
    std::from_chars(columns, columns + std::strlen(columns), width);
  winsize size{};
  if (width == 0 && ::ioctl(descriptor, TIOCGWINSZ, &size) == 0) width = size.ws_col;
  return width == 0 ? kWidthOfUnknown : std::max(width, kNarrowest);
}

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return !continues_character(byte); }));
}

std::string cut_to(const std::string& text, std::size_t width) {
  if (width_of(text) <= width) return text;
  const std::size_t dots = std::min<std::size_t>(3, width), kept = width - dots;
  std::size_t end = 0;
  for (std::size_t count = 0; end < text.size(); ++end)
    if (!continues_character(text[end]) && count++ == kept) break;
  return text.substr(0, end) + std::string(dots, '.');
}

std::string wrapped(const std::string& text, std::size_t width) {
  std::string out;
  std::size_t used = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    const std::size_t length = width_of(word);
    if (used > 0 && (width == kUnlimited || used + 1 + length <= width)) {
      out += " ";
      used += 1;
    } else if (used > 0) {
      out += "\n";
      used = 0;
    }
    out += word;
    used += length;
    begin = end + 1;
  }
  return out;
}

std::string counted(std::size_t count, const std::string& one, const std::string& many) {
  return std::to_string(count) + " " + (count == 1 ? one : many.empty() ? one + "s" : many);
}

std::string joined(std::span<const std::string> names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string bytes_text(double bytes) {
  const char* units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  int unit = 0;
  while (bytes >= 1000 && unit < 5) {
    bytes /= 1000;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 1, units[unit]);
}

std::string shortest_text(double number) {
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, number);
  return std::string(buffer, error == std::errc{} ? end : buffer);
}

std::string value_text(double x, double sd) {
  if (!std::isfinite(x)) return fmt::format("{}", x);
  if (!(sd > 0) || !std::isfinite(sd)) return fmt::format("{:.10g}", x);
  return with_decimals(x, static_cast<int>(std::lround(2 - std::log10(sd))));
}

std::string significant_text(double x, int digits) {
  if (!std::isfinite(x) || x == 0) return fmt::format("{}", x);
  return with_decimals(x, digits - 1 - static_cast<int>(std::floor(std::log10(std::abs(x)))));
}

void TextTable::add(std::vector<std::string> cells) {
  for (std::string& cell : cells)
    if (cell == "-nan") cell = "nan";
  rows_.push_back(std::move(cells));
}

std::string TextTable::text(std::size_t width) const {
  const std::size_t count = columns_.size();
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < count; ++c) {
    widths.push_back(width_of(columns_[c].head));
    for (const auto& row : rows_) widths[c] = std::max(widths[c], width_of(row[c]));
  }
  std::vector<bool> kept(count, true);
  const auto total = [&] {
    std::size_t sum = 0;
    for (std::size_t c = 0; c < count; ++c)
      if (kept[c]) sum += widths[c] + (c > 0 ? 1 : 0);
    return sum;
  };
  // The first column may be narrowed, but not below this width.
  constexpr std::size_t kNarrowestName = 16;
  const auto narrow = [&] {
    const std::size_t least = std::min(widths[0], kNarrowestName);
    if (total() > width) widths[0] -= std::min(widths[0] - least, total() - width);
  };
  std::string left_out;
  for (;;) {
    std::size_t worst = 0;
    for (std::size_t c = 1; c < count; ++c)
      if (kept[c] && columns_[c].sacrifice > columns_[worst].sacrifice) worst = c;
    if (total() <= width || columns_[worst].sacrifice == 0) break;
    kept[worst] = false;
  }
  narrow();
  for (std::size_t c = 0; c < count; ++c)
    if (!kept[c]) left_out += (left_out.empty() ? "" : ", ") + columns_[c].head;

  const auto line = [&](const auto& cell_of) {
    std::string text;
    for (std::size_t c = 0; c < count; ++c) {
      if (!kept[c]) continue;
      const std::string cell = cut_to(cell_of(c), widths[c]);
      const std::string blanks(widths[c] - width_of(cell), ' ');
      const bool is_left = c == 0 || columns_[c].is_text;
      text += (c > 0 ? " " : "") + (is_left ? cell + blanks : blanks + cell);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return cut_to(text, width) + "\n";
  };
  std::string out = line([&](std::size_t c) { return columns_[c].head; });
  for (const auto& row : rows_) out += line([&](std::size_t c) { return row[c]; });
  if (!left_out.empty())
    out += wrapped("(a wider terminal, a file or --json has " + left_out + " too)", width) + "\n";
  return out;
}

}  // namespace emomc
