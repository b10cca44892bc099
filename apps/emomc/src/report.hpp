// One HTML page about a run that needs nothing but itself.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "inspection.hpp"

namespace emomc::app {

/// Whether this build has the charts' library (libjs-chart.js).
bool has_report();

struct ReportOptions {
  std::vector<std::string> vars;  ///< shell globs: quantities with charts of their own beside the worst
};

/// At most 5 MB whatever the run: draws in charts are thinned, the rest are counts. Throws InputError in a
/// build without the charts' library. `directory`: of a run of ours, for its configuration and data.
std::string report_html(const Inspection& run, const std::filesystem::path& directory,
                        const ReportOptions& options);

}  // namespace emomc::app
