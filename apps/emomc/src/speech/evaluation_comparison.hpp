// Compares finished evaluations of the same utterances and folds.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

namespace emomc::app {

/// Throws InputError where a directory is none of an evaluation.
void require_evaluation(const std::filesystem::path& directory);
/// The test speakers of each fold of an evaluation. Throws InputError.
std::set<std::set<std::string>> folds_of_evaluation(const std::filesystem::path& directory);

/// Scores of every method (posterior, EM or penalised fit) of each directory that `emomc evaluate` wrote, of
/// one seed or of several, whose statistics are then means over seeds; and the differences between all pairs
/// with 95 % t intervals over speakers by the jackknife, the same speaker left out of both. The first method
/// of the first directory is the reference. Throws InputError where a directory is none of an evaluation, or
/// is of other utterances, labels, classes or folds. Evaluations of regressions are compared by
/// compare_regressions().
nlohmann::ordered_json compare_evaluations(const std::vector<std::filesystem::path>& directories);

/// The comparison as a table that is not wider than `width`, of differences from the reference.
std::string comparison_text(const nlohmann::ordered_json& comparison, std::size_t width);

}  // namespace emomc::app
