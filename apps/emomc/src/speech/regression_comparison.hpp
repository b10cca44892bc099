// Compares finished evaluations of regressions of numbers on the same utterances and folds.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace emomc::app {

/// Whether a directory has an evaluation of a regression of numbers.
bool is_regression_evaluation(const std::filesystem::path& directory);

/// CCC, RMSE and mean log predictive density of each dimension and directory, and the differences between all
/// pairs of directories with 95 % t intervals over speakers by the jackknife, in which both leave out the
/// same speaker. Throws InputError if a directory is not that of an evaluation of a regression, or has other
/// utterances, numbers, dimensions or folds than the first one.
nlohmann::ordered_json compare_regressions(const std::vector<std::filesystem::path>& directories);

/// The comparison as tables, one for each dimension, with the differences from the first directory. The
/// tables are not wider than `width`.
std::string regression_comparison_text(const nlohmann::ordered_json& comparison, std::size_t width);

}  // namespace emomc::app
