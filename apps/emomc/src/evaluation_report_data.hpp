// What the page of an evaluation shows, read from the evaluation's files and checked.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

namespace emomc::app {

/// From scores.json and predictions.csv, which must be there and agree, and manifest.json and config.yaml,
/// which may be missing. Throws InputError naming the file and what is wrong in it. Nothing is in the result
/// that is not expected there; report/evaluation.js says what is.
nlohmann::json evaluation_report_data(const std::filesystem::path& directory);

}  // namespace emomc::app
