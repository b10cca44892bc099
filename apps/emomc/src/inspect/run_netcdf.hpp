// Writes the draws of a run directory as netCDF (draws.nc).
#pragma once

#include <filesystem>
#include <optional>

#include "emomc/sampler/draw_set.hpp"
#include "emomc/sampler/output_file.hpp"

namespace emomc::app {

/// The optional content of the file besides draws and data.
struct RunNetcdfOptions {
  bool log_likelihood = false;        ///< log likelihood of each row under each draw
  bool posterior_predictive = false;  ///< one replicate of the observed columns at each draw
  bool prior_predictive = false;      ///< draws from the prior, and one replicate at each of them
  /// Number of draws of each chain that have replicates; empty: as many as take 160 MB.
  std::optional<std::size_t> predictive_draws = {};
};

/// Writes `draws`, which come from `directory`, and the facts from its manifest with `write`. The data are
/// included if they can still be read, are those of the run by their SHA-256 and take at most 100 MB. Throws
/// InputError if what `options` requires would take more than 1 GB, needs data that are missing, or needs
/// replicates that the likelihood cannot draw (RowSimulator). Prints a note on standard error if there are
/// fewer replicates than draws.
void write_run_netcdf(const std::filesystem::path& directory, const std::filesystem::path& file,
                      DrawSet draws, FileWriter write, const RunNetcdfOptions& options = {});

}  // namespace emomc::app
