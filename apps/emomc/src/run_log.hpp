// What a command says while it works: on the terminal and in run.log.
#pragma once

#include <spdlog/spdlog.h>

#include <filesystem>
#include <memory>

#include "progress.hpp"

namespace emomc::app {

/// Writes to standard error, by verbosity, and to run.log in `directory`, which exists. Opening it and
/// logging throw MachineError where the file cannot be written.
std::shared_ptr<spdlog::logger> make_logger(const std::filesystem::path& directory, Verbosity verbosity);

}  // namespace emomc::app
