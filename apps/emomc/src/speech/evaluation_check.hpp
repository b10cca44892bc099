// `emomc check` for a configuration of `emomc evaluate` or `emomc train`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace emomc::app {

/// Whether a configuration file has a section `corpus` and is therefore a configuration of `emomc evaluate`
/// or `emomc train`.
bool is_evaluation_config(const std::filesystem::path& file, const std::vector<std::string>& overrides);

/// Prints the resolved configuration, the corpus and what an evaluation would need in memory, disk space and
/// likelihood evaluations; with more than one of `ranks` also the numbers of chains and folds of each rank.
/// Throws InputError in the cases in which `emomc evaluate` does.
void check_evaluation(const std::filesystem::path& file, const std::vector<std::string>& overrides, int ranks,
                      bool json);

}  // namespace emomc::app
