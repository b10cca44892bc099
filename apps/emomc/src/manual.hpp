// The manual page, generated from the definitions of the command line, and help about errors.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace emomc::app {

/// Returns the manual page emomc(1) in the language of man.
std::string manual_page(const CLI::App& app, const std::string& version);

/// Returns, as text of at most `width` columns, what docs/getting-started.md says about exit codes and about
/// the messages that users are likely to meet, with causes and remedies.
std::string about_errors(std::size_t width);

/// The section of docs/getting-started.md that about_errors() prints. cmake/EmbedErrors.cmake generates the
/// definition.
extern const char* const errors_section;

}  // namespace emomc::app
