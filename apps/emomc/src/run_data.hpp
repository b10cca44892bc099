// The data of a run that is over.
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

/// What the manifest says of the data, and the data themselves where they can still be read, are the run's by
/// their SHA-256 and take at most `most_bytes`.
RunData read_run_data(const std::filesystem::path& directory, std::size_t most_bytes);

}  // namespace emomc::app
