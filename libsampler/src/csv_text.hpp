// Lines, fields and numbers of CSV files that other programs wrote.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace emomc {

/// The lines of a file, of at most 16 MiB each. Refuses, with file and line, what is no text in UTF-8 or
/// ASCII; a byte order mark of UTF-8 at the beginning is passed over.
class CsvLines {
 public:
  /// Throws InputError where there is no such regular file.
  explicit CsvLines(const std::filesystem::path& file);

  /// The next line, without its line break; false at the end of the file.
  bool next();
  const std::string& line() const { return line_; }
  /// Whether the file ends without a line break behind this line.
  bool is_cut() const { return stream_.eof(); }
  /// Throws InputError "FILE:LINE: what" of this line.
  [[noreturn]] void refuse(const std::string& what) const;

 private:
  bool read_line();

  std::filesystem::path file_;
  std::ifstream stream_;
  std::string line_;
  std::size_t number_ = 0;
};

/// The fields of a line between commas. A field in double quotes may hold commas, and double quotes written
/// twice (RFC 4180), but no line break. Refuses a quote that does not end. Blanks around a field are not part
/// of it.
std::vector<std::string> csv_fields(const CsvLines& lines);

/// The fields as names of columns: at most 2^20, UTF-8, up to 1,024 bytes each, none of them empty, all
/// different.
std::vector<std::string> csv_names(const CsvLines& lines);

/// Appends the numbers of a line without names to `values`: num_columns of them, the last of which the file
/// does not cut off. inf and nan are numbers; what is too large for a double is infinite, what is too small
/// is 0.
void append_csv_numbers(const CsvLines& lines, std::size_t num_columns, std::vector<double>& values);

/// One number, by the same rules.
double csv_number(const CsvLines& lines, std::string_view field);

}  // namespace emomc
