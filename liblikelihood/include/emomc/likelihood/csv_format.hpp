// How a CSV file is written: its encoding, its separator, its decimal mark, and whether it has a header.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace emomc {

/// What is said about CSV files beforehand; what is left open is found from the file, or refused where two
/// readings make sense.
struct CsvFormat {
  std::optional<bool> header;  ///< whether the first row holds the names of the columns
  char separator = 0;          ///< ',', ';' or '\t'; 0: found from the file
  char decimal = 0;            ///< '.' or ','; 0: found from the file
  bool operator==(const CsvFormat&) const = default;
};

/// The text of a CSV file as UTF-8, without a byte order mark and without Excel's first line "sep=;".
struct CsvText {
  std::string text;
  std::size_t first_line = 1;  ///< of the file, that `text` begins with
  char said_separator = 0;     ///< by "sep="; 0: not said
  bool was_utf16 = false;
};

/// Decodes UTF-16 by its byte order mark; bytes without one are passed on as they are. Throws InputError,
/// with `name` (the file's), for UTF-32, for UTF-16 without a byte order mark or with half a surrogate pair,
/// and for "sep=" with another character than a comma, a semicolon or a tab.
CsvText decode_csv(const std::string& name, std::string bytes);

/// "commas", "semicolons" or "tabs", for messages.
std::string separator_name(char separator);

}  // namespace emomc
