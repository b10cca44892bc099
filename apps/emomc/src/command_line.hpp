// What the program understands of a command line before and after CLI11 does: several values after one
// option, and the names that mistyped commands and options were probably meant to be.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace emomc::app {

/// The arguments with each further value after --set or --vars made an option of its own, so that
/// `--set a=1 b=2` is `--set a=1 --set b=2`. A further value of --set is KEY=VALUE, one of --vars a word
/// without a slash; neither is a file that is there.
std::vector<std::string> spread_values(const std::vector<std::string>& arguments);

/// Throws InputError if the first argument is neither an option nor a subcommand of `app`.
void refuse_unknown_command(const CLI::App& app, const std::vector<std::string>& arguments);

/// A message for the first option among the arguments that the chosen subcommand does not have; empty if it
/// has all of them. The message proposes the nearest option, or --set where a key has that name.
std::string unknown_option(const CLI::App& app, const std::vector<std::string>& arguments);

}  // namespace emomc::app
