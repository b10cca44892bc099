// What a run directory says of itself, and the data of a run that is over.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "emomc/likelihood/csv_format.hpp"

namespace emomc::app {

struct RunData {
  std::vector<std::string> columns, files;
  CsvFormat format;  ///< by which CSV files were read
  std::string sha256;
  std::vector<double> mean, sd;  ///< [columns] by which the run standardised; empty: it did not
  std::vector<double> values;    ///< rows x columns; empty: gone, changed, or too large
};

/// The manifest as JSON; null where there is none, it is damaged, no regular file or longer than 16 MiB.
nlohmann::json read_manifest(const std::filesystem::path& manifest);

/// "run", "evaluation" or "model", as the manifest says; empty where there is none or it is damaged.
std::string run_kind(const std::filesystem::path& directory);

/// Throws InputError where the directory holds the chains of many posteriors, which are not to be taken for
/// those of one.
void refuse_many_posteriors(const std::filesystem::path& directory);

/// Throws InputError, naming `manifest`'s file and why, where a file that a manifest names for the run's data
/// is not one to read: a manifest may come from elsewhere, so that patterns, devices and pipes are not
/// followed.
void check_data_files(const std::filesystem::path& directory, const RunData& data);

/// The format as a manifest has it: header (a bool or null), separator and decimal (a character or null).
nlohmann::ordered_json to_json(const CsvFormat& format);

/// What the manifest says of the data, and the data themselves where they can still be read, are the run's by
/// their SHA-256 and take at most `most_bytes`.
RunData read_run_data(const std::filesystem::path& directory, std::size_t most_bytes);

}  // namespace emomc::app
