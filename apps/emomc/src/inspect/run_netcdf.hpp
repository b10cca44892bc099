// Writes the draws of a run directory as netCDF (draws.nc).
#pragma once

#include <filesystem>

#include "emomc/sampler/draw_set.hpp"
#include "emomc/sampler/output_file.hpp"

namespace emomc::app {

/// Writes `draws`, which come from `directory`, and the facts from its manifest with `write`. The data are
/// included if they can still be read, are those of the run by their SHA-256 and take at most 100 MB.
/// `with_log_likelihood` adds the log likelihood of each row under each draw; this throws InputError if it
/// would take more than 1 GB or the data are missing.
void write_run_netcdf(const std::filesystem::path& directory, const std::filesystem::path& file,
                      DrawSet draws, FileWriter write, bool with_log_likelihood = false);

}  // namespace emomc::app
