// Tables of numbers from files: CSV with a header, or NumPy arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "emomc/likelihood/csv_format.hpp"

namespace emomc {

/// What to read.
struct TableRequest {
  std::vector<std::string> files;    ///< paths or glob patterns
  std::vector<std::string> columns;  ///< in this order; empty: all but the reserved ones and an index
  CsvFormat format{};                ///< of CSV files
};

/// A text column that groups rows, dictionary-encoded.
struct LabelColumn {
  std::string name;
  std::vector<std::string> levels;   ///< in order of appearance
  std::vector<std::uint32_t> codes;  ///< [num_rows]
};

/// Rows of finite numbers, from one or several files with the same columns.
struct Table {
  std::vector<std::string> columns;
  std::size_t num_rows = 0;
  std::vector<double> values;               ///< num_rows x columns.size(), row-major
  std::vector<std::string> files;           ///< after globbing, in reading order
  std::vector<std::size_t> file_first_row;  ///< [files.size()]
  std::vector<std::string> skipped_columns;
  std::vector<LabelColumn> labels;     ///< of the reserved columns that all files have
  std::size_t num_duplicate_rows = 0;  ///< rows equal to an earlier one
  std::vector<std::string> notes;  ///< how CSV files were read where that is not the rule, with a file's name
};

/// Column names that are labels, never data: speaker, utterance, frame, emotion, label, file, start, end.
const std::vector<std::string>& reserved_columns();

/// Reads and checks. A separator, a decimal mark or a missing header that `format` leaves open is found from
/// the file where one reading makes sense; where two do, the file is refused. A first column of row names or
/// numbers without a name of its own (pandas, R) is an index, left out where it is not asked for. Throws
/// InputError, one line with file, line (the header is line 1) and column, where a value is missing, not a
/// number, NaN or infinite, where rows differ in length, columns are missing or doubled, or there are no
/// rows. Sizes in a file are checked before anything is allocated by them.
Table read_table(const TableRequest& request);

}  // namespace emomc
