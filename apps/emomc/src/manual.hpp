// The manual page, from the definitions of the command line, and help about errors.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace emomc::app {

/// The manual page emomc(1), in the language of man.
std::string manual_page(const CLI::App& app, const std::string& version);

/// Exit codes, and the messages that users are likely to meet with their causes and remedies: what
/// docs/getting-started.md has about them, as text of at most `width` columns.
std::string about_errors(std::size_t width);

/// The section of docs/getting-started.md that about_errors prints; made by cmake/EmbedErrors.cmake.
extern const char* const errors_section;

}  // namespace emomc::app
