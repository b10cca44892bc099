// The data of the page of a regression, read from the evaluation's files and checked.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

namespace emomc::app {

/// As evaluation_report_data(), of an evaluation whose scores.json, `scores`, has the key `regression`;
/// report/regression.js describes the result. Throws InputError with the file and what is wrong in it.
nlohmann::json regression_report_data(const std::filesystem::path& directory, const nlohmann::json& scores);

}  // namespace emomc::app
