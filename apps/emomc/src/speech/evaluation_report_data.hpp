// Reads and checks the data of an evaluation's page from the evaluation's files.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace emomc::app {

/// Reads scores.json of an evaluation's directory. Throws InputError if it is missing, too long or no JSON.
nlohmann::json read_scores(const std::filesystem::path& directory);
/// Pairs of a name and a text that describe how results were made, from the manifest `file`; empty if the
/// file is missing or damaged.
nlohmann::json run_facts(const std::filesystem::path& file);
/// The beginning of config.yaml of an evaluation's directory, which the pages show.
std::string config_text(const std::filesystem::path& directory);

/// Reads scores.json and predictions.csv, which must exist and agree, and manifest.json and config.yaml,
/// which may be missing. Throws InputError, which names the file and the fault. The result has only the
/// expected entries; report/evaluation.js describes them.
nlohmann::json evaluation_report_data(const std::filesystem::path& directory);

}  // namespace emomc::app
