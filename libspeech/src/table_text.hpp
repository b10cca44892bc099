// Functions that readers of tables about recordings share.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "emomc/likelihood/csv_format.hpp"

namespace emomc {

/// `text` without blanks at both ends, and without the single quotes that openSMILE writes.
std::string_view trimmed_field(std::string_view text);

/// The content of a file. Throws InputError if the file cannot be read.
std::string content_of(const std::filesystem::path& file);

/// The separator that divides the header of file `name` into the most fields; a comma if none does.
char find_separator(const std::string& name, const CsvText& csv);

}  // namespace emomc
