// Writes the log messages of a command to the terminal and to run.log.
#pragma once

#include <spdlog/spdlog.h>

#include <filesystem>
#include <memory>
#include <string>

#include "progress.hpp"

namespace emomc::app {

/// Makes a logger that writes to standard error, as `verbosity` requires, and to run.log in `directory`,
/// which must exist. This function and the logger throw MachineError if the file cannot be written.
std::shared_ptr<spdlog::logger> make_logger(const std::filesystem::path& directory, Verbosity verbosity);

/// Logs one text on the terminal and another one in the file. `logger` must come from make_logger().
void log_in_both(spdlog::logger& logger, const std::string& on_terminal, const std::string& in_file);

}  // namespace emomc::app
