// Makes the report of an evaluation, one self-contained HTML page.
#pragma once

#include <filesystem>
#include <string>

namespace emomc::app {

/// Whether this build can write the page (it needs libjs-chart.js).
bool has_evaluation_report();
/// The page of the evaluation in `directory`, made from the files of the evaluation. Throws InputError if
/// scores.json or predictions.csv is missing or damaged, or in a build without the charts.
std::string evaluation_report_html(const std::filesystem::path& directory);

}  // namespace emomc::app
