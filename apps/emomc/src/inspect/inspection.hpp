// Reads finished runs of emomc and of other programs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "emomc/posterior/inspection.hpp"

namespace emomc::app {

/// Returns the runs of a command line. Each directory, netCDF file and CSV table is a run; the other CSV
/// files together are the chains of one run. Throws InputError.
std::vector<Inspection> inspect(const std::vector<std::string>& paths, Numbering numbering);
/// Returns the run in a directory. Throws InputError if the run is damaged or contains the chains of many
/// posteriors.
Inspection inspect_run(const std::filesystem::path& directory, Numbering numbering);

}  // namespace emomc::app
