// Reads ARFF files (Attribute-Relation File Format, Witten, Frank, Hall 2011, "Data Mining", 2.4): the
// header, and rows as fields. Sparse rows are refused.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace emomc {

class ArffRecords {
 public:
  /// Reads the header. `name` is the file's name for messages; `text` must outlive the object. Throws
  /// InputError, with file and line, for a line that does not belong in a header.
  ArffRecords(std::string name, const std::string& text);

  const std::vector<std::string>& attributes() const { return attributes_; }
  /// For each attribute, whether its type is not a number.
  const std::vector<bool>& is_text() const { return is_text_; }
  /// The number of the line that was read last; after the constructor, the line of @data.
  std::size_t line() const { return line_; }
  /// Splits the next row into `fields`, valid until the next call; false at the end. Throws InputError for a
  /// sparse row or a quote that is not closed.
  bool next(std::vector<std::string_view>& fields);

 private:
  bool next_line(std::string_view& line);
  void read_attribute(std::string_view rest);
  [[noreturn]] void refuse(const std::string& why) const;
  /// Removes a word or a quoted text from the beginning of `rest` and returns it; it ends at one of `ends`.
  std::string_view take(std::string_view& rest, const char* ends);

  std::string name_;
  std::string_view rest_;
  std::size_t line_ = 0;
  std::vector<std::string> attributes_;
  std::vector<bool> is_text_;
  std::deque<std::string> unquoted_;  // texts of the last row that contained a backslash
};

}  // namespace emomc
