// Writes the draws of a run directory as netCDF (draws.nc).
#pragma once

#include <filesystem>
#include <optional>

#include "emomc/sampler/draw_set.hpp"
#include "emomc/sampler/output_file.hpp"

namespace emomc::app {

/// What is written besides draws and data.
struct RunNetcdfOptions {
  bool log_likelihood = false;        ///< of each row under each draw
  bool posterior_predictive = false;  ///< a replicate of the observed columns at each draw
  bool prior_predictive = false;      ///< draws from the prior, and a replicate at each
  /// Draws of each chain that have replicates; empty: as many as take 160 MB.
  std::optional<std::size_t> predictive_draws = {};
};

/// Writes `draws`, which come from `directory`, and the facts from its manifest with `write`. The data are
/// included if they can still be read, are those of the run by their SHA-256 and take at most 100 MB. Throws
/// InputError where what `options` asks for would take more than 1 GB, needs data that are missing, or
/// replicates that the likelihood has not (RowSimulator). Tells on standard error where there are fewer
/// replicates than draws.
void write_run_netcdf(const std::filesystem::path& directory, const std::filesystem::path& file,
                      DrawSet draws, FileWriter write, const RunNetcdfOptions& options = {});

}  // namespace emomc::app
