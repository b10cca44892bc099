// Shell completions of the program's commands, options, their values and the keys of --set.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace emomc::app {

/// Returns the script for `shell`, which is bash, zsh or fish.
std::string completion(const CLI::App& app, const std::string& shell);

}  // namespace emomc::app
