// The data of an evaluation's page, read from the evaluation's files and checked.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace emomc::app {

/// scores.json of an evaluation's directory. Throws InputError if it is missing, too long or no JSON.
nlohmann::json read_scores(const std::filesystem::path& directory);
/// Rows of a name and a text about how results were made, from a manifest; a damaged or missing one has none.
nlohmann::json run_facts(const std::filesystem::path& file);
/// The beginning of its configuration, as the pages show it.
std::string config_text(const std::filesystem::path& directory);

/// Reads scores.json and predictions.csv, which must exist and agree, and manifest.json and config.yaml,
/// which may be missing. Throws InputError with the file and what is wrong in it. The result has only the
/// expected entries; report/evaluation.js describes them.
nlohmann::json evaluation_report_data(const std::filesystem::path& directory);

}  // namespace emomc::app
