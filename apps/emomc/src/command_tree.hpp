// The commands and options of the program, for its manual page and completions.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace emomc::app {

std::vector<const CLI::App*> commands_of(const CLI::App& app);
bool takes_value(const CLI::Option& option);
/// Returns the options of a command without its positional arguments.
std::vector<const CLI::Option*> options_of(const CLI::App& command);
std::vector<const CLI::Option*> positionals_of(const CLI::App& command);
/// Returns the names with their dashes: "-o", "--output", ...
std::vector<std::string> names_of(const CLI::Option& option);
/// Returns the values of an option that accepts only a few; empty if it accepts others.
std::vector<std::string> choices_of(const CLI::Option& option);
std::string joined_by(const std::vector<std::string>& words, const std::string& between);

}  // namespace emomc::app
