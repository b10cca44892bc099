// Completions of the program's commands, options, their values and the keys of --set.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace emomc::app {

/// A script for `shell`: bash, zsh or fish.
std::string completion(const CLI::App& app, const std::string& shell);

}  // namespace emomc::app
