#include "evaluation_report.hpp"

#include "emomc/core/errors.hpp"

#ifdef EMOMC_HAVE_REPORT
#include <nlohmann/json.hpp>

#include "citation.hpp"
#include "evaluation_report_data.hpp"
#include "html_page.hpp"
#include "report_assets.hpp"

namespace emomc::app {

bool has_evaluation_report() { return true; }

std::string evaluation_report_html(const std::filesystem::path& directory) {
  nlohmann::json data = evaluation_report_data(directory);
  const Citation citation = citation_of(report_citation);
  data["cite"] = citation.sentence;
  data["bibtex"] = citation.bibtex;
  return fill_page(evaluation_page, {{"SCRIPT", std::string(report_common) + evaluation_script},
                                     {"CHART", report_chart},
                                     {"STYLE", std::string(report_style) + evaluation_style},
                                     {"DATA", script_json(data)},
                                     {"TITLE", html_text("emomc: " + directory.string())}});
}

}  // namespace emomc::app

#else

namespace emomc::app {

bool has_evaluation_report() { return false; }
std::string evaluation_report_html(const std::filesystem::path&) {
  throw InputError("report: this build has no charts; install libjs-chart.js and build again");
}

}  // namespace emomc::app

#endif
