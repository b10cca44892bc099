// Reads one file of a table, CSV or NumPy.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "emomc/likelihood/csv_format.hpp"

namespace emomc {

struct TableFile {
  std::vector<std::string> columns;  ///< all columns, as in the file
  std::vector<std::size_t> chosen;   ///< indices into columns, in the requested order
  std::vector<double> values;        ///< rows x chosen.size()
  std::size_t num_rows = 0;
  std::vector<std::vector<std::string>> labels;  ///< labels of each label column, [num_rows]
  std::vector<std::string> label_names;
  std::vector<std::vector<std::string>> texts;  ///< texts of each chosen column [num_rows]; empty for numbers
  std::vector<std::string> notes;               ///< deviations from the default CSV format
};

/// Indices of the wanted columns. Throws InputError, with the nearest name that exists, for a name that does
/// not exist.
std::vector<std::size_t> choose_columns(const std::string& file, const std::vector<std::string>& columns,
                                        const std::vector<std::string>& wanted);

/// Whether a number is an integer that a double distinguishes from neighbouring integers: up to 2^53.
bool is_integer(double value);

/// Reads a CSV file. `text_columns`: names of columns whose values are texts; their numbers in `values` are
/// 0. `labels`: names of columns that become labels in addition to the reserved ones. `integers`: names of
/// columns of integers.
TableFile read_csv(const std::filesystem::path& file, const std::vector<std::string>& wanted,
                   const CsvFormat& format, const std::vector<std::string>& text_columns = {},
                   const std::vector<std::string>& labels = {},
                   const std::vector<std::string>& integers = {});
/// Reads only TableFile::columns of a CSV file.
TableFile read_csv_header(const std::filesystem::path& file, const std::vector<std::string>& wanted,
                          const CsvFormat& format);
TableFile read_npy(const std::filesystem::path& file, const std::vector<std::string>& wanted,
                   const std::vector<std::string>& integers = {});

/// The whole content of a file. Throws InputError where the file cannot be read, is not a regular file or is
/// longer than `most_bytes`.
std::string read_whole_file(const std::filesystem::path& file,
                            std::uintmax_t most_bytes = std::numeric_limits<std::uintmax_t>::max());

}  // namespace emomc
