// Keeps the option -o of the subcommands from replacing what they read.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace emomc::app {

/// Returns the files that are read for `paths`, each the directory of a run, an evaluation or a model, or a
/// file of draws. For a directory these are its own files without report.html and draws.nc, which `report`
/// and `export` make again, and the data files that its manifest names.
std::vector<std::filesystem::path> files_read_from(std::span<const std::string> paths);

/// Throws InputError if `output` is one of `inputs`, under this name or another: links and different
/// spellings of a path do not matter. Only regular files count, and files that do not exist are ignored.
void refuse_input_as_output(const std::filesystem::path& output,
                            std::span<const std::filesystem::path> inputs);

}  // namespace emomc::app
