// Which of the possible readings of a CSV file makes sense.
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
  std::vector<std::string> notes;  ///< what was found and is not the rule, for people
};

/// `text` without blanks and tabs at both ends.
std::string_view trimmed(std::string_view text);

/// The number that the whole of `text` (trimmed) stands for; std::errc() where it is one, infinities and NaN
/// included.
std::errc read_number(std::string_view text, char decimal, double& value);

/// Whether the name of a first column is what programs give a column of row names: none (pandas, R),
/// "Unnamed: 0" (pandas, of a column that had none), "...1" (readr).
bool is_index_name(std::string_view name);

/// `wanted`: columns that were asked for; empty: all but reserved ones and the index. Throws InputError, with
/// both readings and the key that decides, where there is more than one that makes sense.
CsvDialect find_dialect(const std::string& name, const CsvText& csv, const CsvFormat& format,
                        const std::vector<std::string>& wanted);

}  // namespace emomc
