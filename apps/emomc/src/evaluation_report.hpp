// One self-contained HTML page about an evaluation.
#pragma once

#include <filesystem>
#include <string>

namespace emomc::app {

/// Whether this build can write it (libjs-chart.js).
bool has_evaluation_report();
/// From scores.json and predictions.csv of the directory. Throws InputError where they are missing or
/// damaged.
std::string evaluation_report_html(const std::filesystem::path& directory);

}  // namespace emomc::app
