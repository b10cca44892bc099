// `emomc check` of a configuration of emomc evaluate.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace emomc::app {

/// Whether a configuration file has a corpus, and so is evaluate's or train's.
bool is_evaluation_config(const std::filesystem::path& file, const std::vector<std::string>& overrides);

/// Prints what an evaluation would take. Throws InputError as it would.
void check_evaluation(const std::filesystem::path& file, const std::vector<std::string>& overrides,
                      bool json);

}  // namespace emomc::app
