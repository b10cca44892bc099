// Interprets the command line before and after CLI11 does: several values after one option, and the names
// that were probably meant by mistyped commands and options.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace emomc::app {

/// Returns the arguments with each further value after --set, --vars or --by made an option of its own, so
/// that
/// `--set a=1 b=2` becomes `--set a=1 --set b=2`. A further value of --set has the form KEY=VALUE, and one of
/// --vars or --by is a word without a slash; the name of an existing file is never a further value.
std::vector<std::string> spread_values(const std::vector<std::string>& arguments);

/// Throws InputError if the first argument is neither an option nor a subcommand of `app`.
void refuse_unknown_command(const CLI::App& app, const std::vector<std::string>& arguments);

/// Returns a message about the first option among the arguments that the chosen subcommand does not have, or
/// an empty text if there is no such option. The message proposes the nearest option, or --set where a key
/// has that name.
std::string unknown_option(const CLI::App& app, const std::vector<std::string>& arguments);

}  // namespace emomc::app
