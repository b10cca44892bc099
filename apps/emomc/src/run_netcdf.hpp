// draws.nc of a run directory.
#pragma once

#include <filesystem>

#include "emomc/sampler/draw_set.hpp"
#include "emomc/sampler/output_file.hpp"

namespace emomc::app {

/// Writes `draws`, those of `directory`, with what its manifest says, by `write`. The data are in the file
/// where they can still be read, are those of the run by their SHA-256, and take at most 100 MB.
/// `with_log_likelihood`: each row's for each draw too; InputError where that is more than 1 GB or the data
/// are gone.
void write_run_netcdf(const std::filesystem::path& directory, const std::filesystem::path& file,
                      DrawSet draws, FileWriter write, bool with_log_likelihood = false);

}  // namespace emomc::app
