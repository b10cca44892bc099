// Reads what a run directory's manifest states about the run's data, and the data themselves.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "emomc/core/data_units.hpp"
#include "emomc/likelihood/csv_format.hpp"
#include "emomc/likelihood/table.hpp"

namespace emomc {

struct RunData {
  std::vector<std::string> columns, files;  ///< files as the run was given them
  /// [files.size()] Paths of the files from the working directory of this process. A relative path is looked
  /// up from the run's working directory first.
  std::vector<std::string> paths;
  CsvFormat format;                        ///< format in which the CSV files were read
  std::vector<CategoryColumn> categories;  ///< columns of texts with their levels
  std::vector<ColumnRename> renames;
  std::vector<std::string> integers;  ///< columns that have to hold integers
  std::string sha256;
  /// [num_columns], with which the run standardised the data; empty: it did not standardise.
  std::vector<double> mean, sd;
  std::vector<double> values;  ///< rows x columns; empty: the data are missing, changed or too large

  /// The mean and sd as units; empty if the manifest has none, or if they are damaged.
  ColumnUnits units() const;
  /// The request for `columns` of these data.
  TableRequest request(std::vector<std::string> of_columns) const;
};

/// The manifest as JSON; null if it is missing, is damaged, is not a regular file or is longer than 16 MiB.
/// Throws InputError if it cannot be read.
nlohmann::json read_manifest(const std::filesystem::path& manifest);

/// The texts of a list in a JSON object; empty if there is no such list.
std::vector<std::string> strings_at(const nlohmann::json& json, const char* key);

/// "run", "evaluation" or "model", as the manifest states; empty if it is missing or damaged.
std::string run_kind(const std::filesystem::path& directory);

/// Throws InputError if the directory holds the chains of many posteriors, which must not be mistaken for the
/// chains of one.
void refuse_many_posteriors(const std::filesystem::path& directory);

/// Throws InputError, with the manifest's name and the reason, if a data file that the manifest names is
/// missing or not regular. A manifest may be untrusted, so that glob patterns, devices and pipes in it are
/// not followed.
void check_data_files(const std::filesystem::path& directory, const RunData& data);

/// The format as JSON for a manifest: header (a bool or null), separator and decimal (a character or null).
nlohmann::ordered_json to_json(const CsvFormat& format);

/// What the manifest states about the data. The values are included if the data can still be read, have the
/// SHA-256 of the run's data and take at most `most_bytes`.
RunData read_run_data(const std::filesystem::path& directory, std::size_t most_bytes);

/// The data of a run, all columns that its likelihood uses. Throws InputError where they are missing, are not
/// those of the run by their SHA-256, or take more than 2 GB.
Table data_of_run(const std::filesystem::path& directory);

}  // namespace emomc
