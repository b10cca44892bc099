// draws.nc of a run directory.
#pragma once

#include <filesystem>

#include "emomc/sampler/draw_set.hpp"

namespace emomc::app {

/// Writes `draws`, those of `directory`, with what its manifest says. The data are in the file where they can
/// still be read, are those of the run by their SHA-256, and take at most 100 MB.
void write_run_netcdf(const std::filesystem::path& directory, const std::filesystem::path& file,
                      DrawSet draws);

}  // namespace emomc::app
