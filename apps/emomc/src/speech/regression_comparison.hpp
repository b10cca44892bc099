// Compares finished evaluations of regressions of the same utterances and folds.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace emomc::app {

/// Whether a directory has an evaluation of a regression.
bool is_regression_evaluation(const std::filesystem::path& directory);

/// CCC, RMSE and mean log predictive density of each dimension and directory, and the differences between all
/// pairs with 95 % t intervals over speakers by the jackknife, the same speaker left out of both. Throws
/// InputError where a directory is of other utterances, numbers, dimensions or folds.
nlohmann::ordered_json compare_regressions(const std::vector<std::filesystem::path>& directories);

/// The comparison as a table for each dimension that is not wider than `width`, of differences from the first
/// directory.
std::string regression_comparison_text(const nlohmann::ordered_json& comparison, std::size_t width);

}  // namespace emomc::app
