// The data of an evaluation's page, read from the evaluation's files and checked.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

namespace emomc::app {

/// Reads scores.json and predictions.csv, which must exist and agree, and manifest.json and config.yaml,
/// which may be missing. Throws InputError with the file and what is wrong in it. The result has only the
/// expected entries; report/evaluation.js describes them.
nlohmann::json evaluation_report_data(const std::filesystem::path& directory);

}  // namespace emomc::app
