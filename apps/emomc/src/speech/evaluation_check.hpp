// `emomc check` for a configuration of `emomc evaluate` or `emomc train`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace emomc::app {

/// Whether a configuration file has a section `corpus` and is therefore one of `emomc evaluate` or `emomc
/// train`.
bool is_evaluation_config(const std::filesystem::path& file, const std::vector<std::string>& overrides);

/// Prints the resolved configuration, the corpus and what an evaluation would need in memory, disk space and
/// likelihood evaluations; with more than one of `ranks` also what each of them has of the chains of mixtures
/// and of the folds. Throws InputError as `emomc evaluate` would.
void check_evaluation(const std::filesystem::path& file, const std::vector<std::string>& overrides, int ranks,
                      bool json);

}  // namespace emomc::app
