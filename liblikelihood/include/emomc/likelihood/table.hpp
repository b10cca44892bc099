// Reads tables of numbers from files: CSV or NumPy arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "emomc/likelihood/csv_format.hpp"

namespace emomc {

/// A column of texts that is read as numbers: each text is the index of its level.
struct CategoryColumn {
  std::string name;
  std::vector<std::string> levels;  ///< texts that may occur; empty in a request: the data's, sorted
  bool operator==(const CategoryColumn&) const = default;
};

/// A column whose name differs from the one in its file.
struct ColumnRename {
  std::string name, in_file;
  std::string key = {};  ///< configuration key that messages name, such as "fit.yaml:2: data.rename.mass"
  bool operator==(const ColumnRename& other) const { return name == other.name && in_file == other.in_file; }
};

/// Which files, columns and labels read_table() reads.
struct TableRequest {
  std::vector<std::string> files;  ///< paths or glob patterns
  /// Columns to read, in this order; empty: all except reserved columns and an index.
  std::vector<std::string> columns;
  CsvFormat format{};                           ///< format of the CSV files
  std::vector<CategoryColumn> categories = {};  ///< text columns of CSV files, whether they are read or not
  /// Columns that become labels in addition to the reserved ones, even if they are data too. Numbers of .npy
  /// files are written as text. A name that is not in a file is ignored.
  std::vector<std::string> labels = {};
  /// Columns with new names, which replace the names in the file for columns, categories and labels, here and
  /// in a Table. Renames of columns that are not read do not matter.
  std::vector<ColumnRename> renames = {};
  /// Columns whose values must be integers (data.kinds); those that are not read do not matter.
  std::vector<std::string> integers = {};
};

/// A text column with the labels of the rows, dictionary-encoded.
struct LabelColumn {
  std::string name;
  std::vector<std::string> levels;   ///< distinct labels in order of appearance
  std::vector<std::uint32_t> codes;  ///< [num_rows] indices into levels
};

class DeviceTable;

/// Rows of finite numbers from one or several files with the same columns.
struct Table {
  std::vector<std::string> columns;
  std::size_t num_rows = 0;
  std::vector<double> values;                ///< num_rows x columns.size(), row-major, host memory
  std::vector<std::string> files;            ///< paths after expansion of patterns, in reading order
  std::vector<std::size_t> file_first_row;   ///< [files.size()] index of each file's first row
  std::vector<std::string> skipped_columns;  ///< columns that were not read, by their names in the file
  std::vector<CategoryColumn> categories;    ///< categories of the request that were read, with their levels
  std::vector<LabelColumn> labels;           ///< the reserved and requested columns that all files have
  std::size_t num_duplicate_rows = 0;        ///< number of rows that are equal to an earlier row
  /// Messages about deviations from the default CSV format, each with the file's name.
  std::vector<std::string> notes;
  /// Numbers in the memory of a GPU (device_table.hpp), in place of `values`.
  std::shared_ptr<const DeviceTable> on_device = nullptr;
};

/// Column names that are labels, never data: speaker, utterance, frame, emotion, label, file, start, end.
const std::vector<std::string>& reserved_columns();

/// Reads and checks files. A separator, decimal mark or header that `format` leaves open is detected where
/// the file has one plausible reading; where it has two, the file is refused. A first column of row names or
/// numbers that has no name of its own (as written by pandas and R) is an index, which is left out unless the
/// request names it. Throws InputError, one line with file, line (the header is line 1) and column, where a
/// value is missing, not a number, NaN, infinite or no integer where one is needed, where rows differ in
/// length, where columns are missing or duplicated, or where there are no rows. Sizes in a file are checked
/// before memory is allocated for them.
Table read_table(const TableRequest& request);

/// The names of all columns of the first file, reserved ones included, after renaming. `request.columns` are
/// names that may be among them; they help to detect the format. Throws InputError as read_table does for the
/// file's format, and where a renamed column is missing or its new name is that of another column.
std::vector<std::string> read_column_names(const TableRequest& request);

/// name_in_file returns the name in the file of a column that has `name` after renaming, name_from_file the
/// new name of a column; a column that is not renamed keeps its name.
std::string name_in_file(const std::string& name, const std::vector<ColumnRename>& renames);
std::string name_from_file(const std::string& in_file, const std::vector<ColumnRename>& renames);

}  // namespace emomc
