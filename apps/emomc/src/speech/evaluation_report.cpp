#include "evaluation_report.hpp"

#include "emomc/core/errors.hpp"

#ifdef EMOMC_HAVE_REPORT
#include <nlohmann/json.hpp>

#include "citation.hpp"
#include "evaluation_report_data.hpp"
#include "html_page.hpp"
#include "regression_report_data.hpp"
#include "report_assets.hpp"

namespace emomc::app {

bool has_evaluation_report() { return true; }

std::string evaluation_report_html(const std::filesystem::path& directory) {
  const nlohmann::json scores = read_scores(directory);
  const bool has_numbers = scores.is_object() && scores.contains("regression");
  nlohmann::json data =
      has_numbers ? regression_report_data(directory, scores) : evaluation_report_data(directory);
  const Citation citation = citation_of(report_citation);
  data["cite"] = citation.sentence;
  data["bibtex"] = citation.bibtex;
  const char* script = has_numbers ? regression_script : evaluation_script;
  return fill_page(report_frame, {{"BODY", has_numbers ? regression_page : evaluation_page},
                                  {"SCRIPT", std::string(report_common) + script},
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
