// Detects separator, decimal mark and header of a CSV file.
#pragma once

#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "emomc/likelihood/csv_format.hpp"

namespace emomc {

struct CsvDialect {
  char separator = ',', decimal = '.';
  bool header = true;
  /// Messages for the user about deviations from the default format.
  std::vector<std::string> notes;
};

/// `text` without blanks and tabs at both ends.
std::string_view trimmed(std::string_view text);

/// Parses the whole of `text` (trimmed) as a number, which may be infinite or NaN; returns std::errc() on
/// success.
std::errc read_number(std::string_view text, char decimal, double& value);

/// Whether programs write `name` for a column of row names: an empty name (pandas, R), "Unnamed: 0" (pandas,
/// for a column that had no name), "...1" (readr).
bool is_index_name(std::string_view name);

/// Detects the dialect of a file. `wanted`: the requested columns; empty: all except reserved ones and the
/// index. Throws InputError, with both readings and the key that decides between them, where more than one is
/// plausible.
CsvDialect find_dialect(const std::string& name, const CsvText& csv, const CsvFormat& format,
                        const std::vector<std::string>& wanted);

}  // namespace emomc
