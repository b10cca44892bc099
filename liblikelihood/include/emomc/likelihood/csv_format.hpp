// The format of CSV files: encoding, separator, decimal mark and header, as the user states it or as it is
// detected.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace emomc {

/// The format of CSV files as the user states it. Members that are left open are detected from the file; a
/// file with two plausible readings is refused.
struct CsvFormat {
  std::optional<bool> header;  ///< whether the first row contains the names of the columns; nullopt: detected
  char separator = 0;          ///< ',', ';' or '\t'; 0: detected
  char decimal = 0;            ///< '.' or ','; 0: detected
  bool operator==(const CsvFormat&) const = default;
};

/// The text of a CSV file as UTF-8, without a byte order mark and without Excel's first line "sep=;".
struct CsvText {
  std::string text;
  std::size_t first_line = 1;  ///< line number in the file of the first line of `text`
  char said_separator = 0;     ///< separator that "sep=" declares; 0: none
  bool was_utf16 = false;
};

/// Decodes UTF-16 with a byte order mark; bytes without one are assumed to be UTF-8 and copied. Throws
/// InputError, with the file's name `name`, for UTF-32, for UTF-16 without a byte order mark or with an
/// unpaired surrogate, and for "sep=" with another character than a comma, a semicolon or a tab.
CsvText decode_csv(const std::string& name, std::string bytes);

/// The separator's name for messages: "commas", "semicolons" or "tabs".
std::string separator_name(char separator);

}  // namespace emomc
