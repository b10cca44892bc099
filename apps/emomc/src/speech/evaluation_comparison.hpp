// Compares finished evaluations of the same utterances and folds.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

namespace emomc::app {

/// Throws InputError if a directory is not that of an evaluation.
void require_evaluation(const std::filesystem::path& directory);
/// The test speakers of each fold of an evaluation. Throws InputError.
std::set<std::set<std::string>> folds_of_evaluation(const std::filesystem::path& directory);

/// Scores of every method (posterior, mixtures, EM, softmax or penalised fit) of each directory, and the
/// differences between all pairs of methods with 95 % t intervals over speakers by the jackknife, in which
/// both methods leave out the same speaker. A directory is one that `emomc evaluate` wrote, for one seed or
/// for several; with several, the statistics are means over seeds. Throws InputError if a directory is not
/// that of an evaluation, or has other utterances, labels, classes or folds than the first one. Evaluations
/// of regressions of numbers are compared by compare_regressions().
nlohmann::ordered_json compare_evaluations(const std::vector<std::filesystem::path>& directories);

/// The comparison as a table that is not wider than `width`, with the differences from the first method of
/// the first directory.
std::string comparison_text(const nlohmann::ordered_json& comparison, std::size_t width);

}  // namespace emomc::app
