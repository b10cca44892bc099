// Makes a report of a run as one self-contained HTML page.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "inspection.hpp"

namespace emomc::app {

/// Returns whether this build has the chart library (libjs-chart.js).
bool has_report();

struct ReportOptions {
  std::vector<std::string> vars;  ///< shell globs: quantities that are charted in addition to the worst ones
};

/// Returns a page of at most 5 MB, whatever the size of the run: draws in charts are thinned, and the other
/// charts show counts. `directory` is the run directory with the configuration and the data; it is empty for
/// draws of other programs. Throws InputError in a build without the chart library.
std::string report_html(const Inspection& run, const std::filesystem::path& directory,
                        const ReportOptions& options);

}  // namespace emomc::app
