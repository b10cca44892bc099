// What a run directory says of itself, and the data of a run that is over.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace emomc::app {

struct RunData {
  std::vector<std::string> columns, files;
  std::string sha256;
  std::vector<double> mean, sd;  ///< [columns] by which the run standardised; empty: it did not
  std::vector<double> values;    ///< rows x columns; empty: gone, changed, or too large
};

/// "run", "evaluation" or "model", as the manifest says; empty where there is none or it is damaged.
std::string run_kind(const std::filesystem::path& directory);

/// Throws InputError where the directory holds the chains of many posteriors, which are not to be taken for
/// those of one.
void refuse_many_posteriors(const std::filesystem::path& directory);

/// What the manifest says of the data, and the data themselves where they can still be read, are the run's by
/// their SHA-256 and take at most `most_bytes`.
RunData read_run_data(const std::filesystem::path& directory, std::size_t most_bytes);

}  // namespace emomc::app
