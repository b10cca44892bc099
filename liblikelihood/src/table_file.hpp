// One file of a table: what the CSV and the NumPy reader give.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "emomc/likelihood/csv_format.hpp"

namespace emomc {

struct TableFile {
  std::vector<std::string> columns;  ///< all of them, as in the file
  std::vector<std::size_t> chosen;   ///< indices into columns, in the order asked for
  std::vector<double> values;        ///< rows x chosen.size()
  std::size_t num_rows = 0;
  std::vector<std::vector<std::string>> labels;  ///< per label column asked for, [num_rows]
  std::vector<std::string> label_names;
  std::vector<std::string> notes;  ///< how the file was read where that is not the rule
};

/// Indices of the wanted columns; throws InputError naming the nearest one for a name that is not there.
std::vector<std::size_t> choose_columns(const std::string& file, const std::vector<std::string>& columns,
                                        const std::vector<std::string>& wanted);

TableFile read_csv(const std::filesystem::path& file, const std::vector<std::string>& wanted,
                   const CsvFormat& format);
TableFile read_npy(const std::filesystem::path& file, const std::vector<std::string>& wanted);

/// The whole file; throws InputError where it cannot be read, is no regular file or is longer than
/// `most_bytes`.
std::string read_whole_file(const std::filesystem::path& file,
                            std::uintmax_t most_bytes = std::numeric_limits<std::uintmax_t>::max());

}  // namespace emomc
