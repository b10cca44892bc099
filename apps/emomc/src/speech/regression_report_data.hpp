// Reads and checks the data of the page of an evaluation of a regression of numbers.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

namespace emomc::app {

/// Reads the files that evaluation_report_data() reads, of an evaluation whose scores.json, given as
/// `scores`, has the key `regression`. report/regression.js describes the result. Throws InputError, which
/// names the file and the fault.
nlohmann::json regression_report_data(const std::filesystem::path& directory, const nlohmann::json& scores);

}  // namespace emomc::app
