// Formats tables of text for a terminal: numbers with meaningful digits, and columns that fit the width.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace emomc {

/// A width that no table reaches, for output that is not to a terminal.
inline constexpr std::size_t kUnlimited = static_cast<std::size_t>(-1);

/// The number of columns of the terminal behind a file descriptor: $COLUMNS if it is a number above 0,
/// otherwise the width that the terminal reports, otherwise 80; kUnlimited if the descriptor is not a
/// terminal.
std::size_t terminal_width(int descriptor);

/// The number of characters of a UTF-8 text; a byte that is not valid UTF-8 counts as one.
std::size_t width_of(std::string_view text);
/// The first `width` characters; the last three are dots if something was cut off.
std::string cut_to(const std::string& text, std::size_t width);
/// The text with line breaks at blanks, so that no line is longer than `width` unless a word is longer.
std::string wrapped(const std::string& text, std::size_t width);

/// "1 row", "2 rows"; `many` is the plural; empty: `one` with an s.
std::string counted(std::size_t count, const std::string& one, const std::string& many = "");

/// The names separated by ", ".
std::string joined(std::span<const std::string> names);

/// For example "1.5 MB"; a kB has 1000 bytes.
std::string bytes_text(double bytes);
/// The shortest decimal text that gives the same number when it is read.
std::string shortest_text(double number);

/// `x` with decimals down to about a hundredth of `sd`: between a 30th and a 300th of it. Scientific where
/// there would be more than nine digits before or after the point. With an `sd` of 0 or NaN, ten digits.
std::string value_text(double x, double sd);
/// `x` with at least `digits` significant digits and no exponent, unless `x` is below 1e-9 or at least 1e9.
std::string significant_text(double x, int digits);

struct TableColumn {
  std::string head;
  /// The larger the number, the earlier the column is left out if the table is too wide. 0: never left out.
  int sacrifice = 0;
  bool is_text = false;  ///< whether cells are aligned left; numbers are aligned right
};

/// A table whose first column is text. Each column is as wide as its widest cell.
class TextTable {
 public:
  explicit TextTable(std::vector<TableColumn> columns) : columns_(std::move(columns)) {}
  /// Adds a row. `cells` has one text for each column. The sign of a NaN is left out.
  void add(std::vector<std::string> cells);
  /// The lines of the table, none wider than `width`. Columns that do not fit are left out and named in a
  /// last line.
  std::string text(std::size_t width) const;

 private:
  std::vector<TableColumn> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace emomc
