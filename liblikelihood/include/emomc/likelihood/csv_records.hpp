// Reads CSV text record by record, after RFC 4180: fields in quotes, CRLF, and other separators than commas.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace emomc {

/// Splits a text, which must outlive this object, into records, and each record into fields.
class CsvRecords {
 public:
  /// `name` is the file's name for messages; `first_line` is the line number of the start of `text`.
  CsvRecords(std::string name, const std::string& text, char separator = ',', std::size_t first_line = 1);

  /// Number of the line where the last record of next() starts.
  std::size_t line() const { return record_line_; }

  /// Whether a field of the last record is in quotes. `""` alone is a field, not a blank line.
  bool has_quotes() const { return !unquoted_.empty(); }

  /// Splits the next record into `fields`, which are valid until the next call; returns false at the end of
  /// the text. Throws InputError, with file, line and column, where a quote is not closed or is followed by
  /// text.
  bool next(std::vector<std::string_view>& fields);

 private:
  std::string_view field(std::size_t column);
  std::string_view quoted(std::size_t column);

  std::string name_;
  const std::string& text_;
  char separator_;
  std::size_t at_ = 0, line_, record_line_;
  std::vector<std::unique_ptr<std::string>> unquoted_;
};

}  // namespace emomc
