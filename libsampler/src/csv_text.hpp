// Reads lines, fields and numbers of CSV files from other programs.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace emomc {

/// The lines of a file, of at most 16 MiB each. Throws InputError, with file and line, for longer lines,
/// UTF-16 text and zero bytes; a byte order mark of UTF-8 at the beginning is skipped.
class CsvLines {
 public:
  /// Throws InputError if the file is not a readable regular file.
  explicit CsvLines(const std::filesystem::path& file);

  /// Reads the next line, without its line break; returns false at the end of the file.
  bool next();
  const std::string& line() const { return line_; }
  /// Whether the file ends after this line without a line break.
  bool is_cut() const { return stream_.eof(); }
  /// Throws InputError "FILE:LINE: what" for this line.
  [[noreturn]] void refuse(const std::string& what) const;

 private:
  bool read_line();

  std::filesystem::path file_;
  std::ifstream stream_;
  std::string line_;
  std::size_t number_ = 0;
};

/// Splits a line into its fields, separated by commas. A field in double quotes may contain commas and
/// doubled double quotes (RFC 4180), but no line break. Blanks around a field are not part of it. Throws
/// InputError if a quote is not closed.
std::vector<std::string> csv_fields(const CsvLines& lines);

/// Returns the fields as column names: at most 2^20 of up to 1,024 bytes each, UTF-8, not empty and all
/// different. Throws InputError otherwise.
std::vector<std::string> csv_names(const CsvLines& lines);

/// Appends the num_columns numbers of a line to `values`. Throws InputError if the line has another number of
/// fields or the file is cut off in this line. inf and nan are numbers; a value that is too large for a
/// double becomes infinite, and one that is too small becomes 0.
void append_csv_numbers(const CsvLines& lines, std::size_t num_columns, std::vector<double>& values);

/// Parses one number by the rules of append_csv_numbers().
double csv_number(const CsvLines& lines, std::string_view field);

}  // namespace emomc
